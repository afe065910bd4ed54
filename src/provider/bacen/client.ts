import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../../lib/clock.ts'
import type { Outcome, Payee } from '../port.ts'
import { type Reply, unsure } from './answers.ts'
import type { Connection } from './connection.ts'
import { fill } from './placeholders.ts'
import { addressOf, CHARGES, type Resource } from './profile.ts'
import { writeMoment } from './text.ts'
import { createTokens, type Tokens } from './token.ts'
import {
  type CountRequest,
  type Limits,
  openTransport,
  type Request,
  type Transport,
} from './transport.ts'

export type Call = {
  method: Request['method']
  /** The resource of API Pix; null for an endpoint of the bank beside it. */
  resource: Resource | null
  /** What follows the name of the resource; the whole path when there is no resource. */
  path: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: unknown
}

/** A company's bank, for one order or one question. */
export type Bank = {
  connection: Connection
  clock: Clock
  ask(call: Call): Promise<Reply>
  /** Formats a moment for this bank. */
  moment(at: Date): string
  clockGap_ms: Transport['clockGap_ms']
  tokens: Tokens
  /** The same, unless the bank wants another token for agreements. */
  agreementTokens: Tokens
}

/** Does something at a company's bank. If no bank is connected, the outcome is unknown. */
export type AtBank = <T>(
  payee: Payee,
  act: (bank: Bank) => Promise<Outcome<T>>,
  /** A list may take as long as it needs. Each request has a limit in any case. */
  span?: 'order' | 'list',
) => Promise<Outcome<T>>

export type Client = {
  at: AtBank
  /** The company's bank, or null when none is connected. */
  open(payee: Payee, span?: 'order' | 'list'): Promise<Bank | null>
  close(): Promise<void>
}

type ClientParts = {
  connectionOf(payee: Payee): Promise<Connection | null>
  clock: Clock
  limits: Limits
  count?: CountRequest | undefined
}

export const NO_BANK = 'no bank is connected'

type Opened = Pick<Bank, 'connection' | 'tokens' | 'agreementTokens'> & { transport: Transport }

/** Keeps one transport and one token for each connection, until the company has another. */
export function createClient({ connectionOf, clock, limits, count }: ClientParts): Client {
  const byCompany = new Map<string, Opened>()

  function drop(companyId: string): void {
    const old = byCompany.get(companyId)
    byCompany.delete(companyId)
    // Requests in progress may finish, but nobody waits for them.
    old?.transport.close().catch(() => {})
  }
  function openedFor(payee: Payee, connection: Connection): Opened {
    const known = byCompany.get(payee.id)
    if (known?.connection.id === connection.id) return known
    drop(payee.id)
    const transport = openTransport(connection, limits, clock, count)
    const tokens = createTokens(connection, transport, clock)
    const agreementTokens = connection.profile.agreements
      ? createTokens(connection, transport, clock, 'agreements')
      : tokens
    const opened = { connection, transport, tokens, agreementTokens }
    byCompany.set(payee.id, opened)
    return opened
  }
  /** The connection is read only if it is not the one that the company has. */
  async function find(payee: Payee): Promise<Opened | null> {
    const known = byCompany.get(payee.id)
    if (known && known.connection.id === payee.bankId) return known
    const connection = await connectionOf(payee)
    if (connection) return openedFor(payee, connection)
    drop(payee.id)
    return null
  }
  async function open(payee: Payee, span: 'order' | 'list' = 'order'): Promise<Bank | null> {
    const opened = await find(payee)
    if (!opened) return null
    const waits_ms = performance.now() + limits.order_ms
    return bankOf(opened, clock, waits_ms, span === 'order' ? waits_ms : undefined)
  }
  return {
    open,
    async at(payee, act, span) {
      const bank = await open(payee, span)
      return bank ? act(bank) : unsure(NO_BANK)
    },
    async close() {
      await Promise.all([...byCompany.values()].map(({ transport }) => transport.close()))
      byCompany.clear()
    },
  }
}

const isOfAgreements = ({ resource }: Call): boolean =>
  resource !== null && !CHARGES.includes(resource)

/** Waits for the bank until `waits_ms`, and sends nothing any more after `until_ms`. */
function bankOf(
  { connection, transport, tokens, agreementTokens }: Opened,
  clock: Clock,
  waits_ms: number,
  until_ms?: number,
): Bank {
  return {
    connection,
    clock,
    tokens,
    agreementTokens,
    clockGap_ms: transport.clockGap_ms,
    moment: (at) => writeMoment(at, connection.profile),
    async ask(call) {
      const url = urlOf(connection, call)
      if (url === null) return notOffered(call)
      const own = isOfAgreements(call) ? agreementTokens : tokens
      const once = () => askOnce(transport, own, requestOf(connection, call, url), until_ms)
      let reply = await once()
      if (isRepeated(call, reply)) reply = await once()
      for (let least_ms = MIN_WAIT_ms; ; least_ms *= 2) {
        const wait_ms = Math.max(waitOf(call, reply), least_ms)
        if (performance.now() + wait_ms > waits_ms) return reply
        await pause(wait_ms)
        reply = await once()
      }
    },
  }
}

/** If nothing was sent, anything may be repeated. If the connection was lost, only a question. */
const isRepeated = ({ method }: Call, reply: Reply): boolean =>
  reply.kind === 'unknown' &&
  reply.isConnection === true &&
  (method === 'GET' || reply.isUnsent === true)

/** Doubles with each wait, however soon the bank wants to be asked again. */
const MIN_WAIT_ms = 250

/**
 * How long to wait before a bank that has too much to do gets the same request again. If it may
 * have carried out an order that moves money, or that makes something new each time, never.
 */
function waitOf({ method, resource }: Call, reply: Reply): number {
  if (reply.kind !== 'unknown' || reply.retryAfter_s === undefined) return Number.POSITIVE_INFINITY
  const movesMoney = resource === 'pix' || resource === null
  const isSafe = method === 'GET' || (method !== 'POST' && !movesMoney)
  return isSafe || reply.isUndone ? reply.retryAfter_s * 1000 : Number.POSITIVE_INFINITY
}

const notOffered = ({ resource }: Call): Reply => ({
  kind: 'refused',
  reason: `the bank does not offer /${resource}`,
  status: null,
})

/** If the bank does not accept the token, repeats with a new one, because nothing was done. */
async function askOnce(
  transport: Transport,
  tokens: Tokens,
  request: Request,
  until_ms: number | undefined,
): Promise<Reply> {
  const token = await tokens.current()
  if (token.kind !== 'token') return token
  const reply = await transport.send(authorized(request, token.text), until_ms)
  if (reply.kind !== 'unknown' || !reply.isUnauthorized) return reply
  const renewed = await tokens.renewed(token.text)
  if (renewed.kind !== 'token') return renewed
  return transport.send(authorized(request, renewed.text), until_ms)
}

const authorized = (request: Request, token: string): Request => ({
  ...request,
  headers: { ...request.headers, authorization: `Bearer ${token}` },
})

function urlOf({ profile }: Connection, { resource, path }: Call): string | null {
  if (resource === null) return profile.baseUrl + path
  const address = addressOf(profile, resource)
  return address === null ? null : `${address}/${resource}${path}`
}

function requestOf(connection: Connection, call: Call, url: string): Request {
  const { profile } = connection
  const address = new URL(url)
  const query = { ...call.query, ...fill(profile.query, connection) }
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value)
  return {
    method: call.method,
    url: address,
    headers: {
      accept: 'application/json',
      ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...fill(profile.headers, connection),
      ...(isOfAgreements(call) ? fill(profile.agreements?.headers ?? {}, connection) : {}),
      ...fill(call.headers ?? {}, connection),
    },
    body: call.body === undefined ? null : JSON.stringify(call.body),
  }
}
