import type { Clock } from '../../lib/clock.ts'
import type { Outcome, Payee } from '../port.ts'
import { type Reply, unsure } from './answers.ts'
import type { Connection } from './connection.ts'
import { type Limits, type Line, openLine, type Request } from './line.ts'
import { fill } from './placeholders.ts'
import { addressOf, type Resource } from './profile.ts'
import { writeMoment } from './text.ts'
import { createTokens, type Tokens } from './token.ts'

export type Call = {
  method: Request['method']
  /** The part of API Pix; null for what a bank has beside it. */
  resource: Resource | null
  /** What follows the part's own name; the whole path where there is no part. */
  path: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: unknown
}

/** A company's bank, while one order is carried out or one question asked. */
export type Bank = {
  connection: Connection
  clock: Clock
  ask(call: Call): Promise<Reply>
  /** As this bank writes moments. */
  moment(at: Date): string
  tokens: Tokens
}

/** Does something at a company's bank. Who has no bank is told so, and nothing is known. */
export type AtBank = <T>(
  payee: Payee,
  act: (bank: Bank) => Promise<Outcome<T>>,
  /** Lists have as long as they need; each request has its own limit in any case. */
  span?: 'order' | 'list',
) => Promise<Outcome<T>>

export type Client = {
  at: AtBank
  /** The company's bank, or null when none is connected. */
  open(payee: Payee, span?: 'order' | 'list'): Promise<Bank | null>
  close(): Promise<void>
}

export type ClientParts = {
  connectionOf(payee: Payee): Promise<Connection | null>
  clock: Clock
  limits: Limits
}

export const NO_BANK = 'no bank is connected'

type Opened = { connection: Connection; line: Line; tokens: Tokens }

/** Keeps one line and one token for each connection, as long as it is the company's. */
export function createClient({ connectionOf, clock, limits }: ClientParts): Client {
  const lines = new Map<string, Opened>()

  function drop(companyId: string): void {
    const old = lines.get(companyId)
    lines.delete(companyId)
    // What is under way is let finish; nobody waits for it.
    old?.line.close().catch(() => {})
  }
  function lineOf(payee: Payee, connection: Connection): Opened {
    const known = lines.get(payee.id)
    if (known?.connection.id === connection.id) return known
    drop(payee.id)
    const line = openLine(connection, limits, clock)
    const opened = { connection, line, tokens: createTokens(connection, line, clock) }
    lines.set(payee.id, opened)
    return opened
  }
  async function open(payee: Payee, span: 'order' | 'list' = 'order'): Promise<Bank | null> {
    const connection = await connectionOf(payee)
    if (!connection) drop(payee.id)
    if (!connection) return null
    const opened = lineOf(payee, connection)
    const until_ms = span === 'order' ? performance.now() + limits.order_ms : undefined
    return bankOf(opened, clock, until_ms)
  }
  return {
    open,
    async at(payee, act, span) {
      const bank = await open(payee, span)
      return bank ? act(bank) : unsure(NO_BANK)
    },
    async close() {
      await Promise.all([...lines.values()].map(({ line }) => line.close()))
      lines.clear()
    },
  }
}

function bankOf({ connection, line, tokens }: Opened, clock: Clock, until_ms?: number): Bank {
  return {
    connection,
    clock,
    tokens,
    moment: (at) => writeMoment(at, connection.profile.dates),
    async ask(call) {
      const place = placeOf(connection, call)
      if (place === null) return notOffered(call)
      const once = () => askOnce(line, tokens, requestOf(connection, call, place), until_ms)
      const reply = await once()
      // A question may be repeated when the connection was lost, an order may not.
      const isRepeated = call.method === 'GET' && reply.kind === 'unknown' && reply.isConnection
      return isRepeated ? once() : reply
    },
  }
}

const notOffered = ({ resource }: Call): Reply => ({
  kind: 'refused',
  reason: `the bank does not offer /${resource}`,
  status: null,
})

/** A token that the bank has forgotten is renewed once; what it refused it has not done. */
async function askOnce(
  line: Line,
  tokens: Tokens,
  request: Request,
  until_ms: number | undefined,
): Promise<Reply> {
  const token = await tokens.current()
  if (token.kind !== 'token') return token
  const reply = await line.send(authorized(request, token.text), until_ms)
  if (reply.kind !== 'unknown' || !reply.isUnauthorized) return reply
  const renewed = await tokens.renewed(token.text)
  if (renewed.kind !== 'token') return renewed
  return line.send(authorized(request, renewed.text), until_ms)
}

const authorized = (request: Request, token: string): Request => ({
  ...request,
  headers: { ...request.headers, authorization: `Bearer ${token}` },
})

function placeOf({ profile }: Connection, { resource, path }: Call): string | null {
  if (resource === null) return profile.baseUrl + path
  const place = addressOf(profile, resource)
  return place === null ? null : `${place}/${resource}${path}`
}

function requestOf(connection: Connection, call: Call, place: string): Request {
  const { profile } = connection
  const address = new URL(place)
  const query = { ...call.query, ...fill(profile.query, connection) }
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value)
  return {
    method: call.method,
    url: address.href,
    headers: {
      accept: 'application/json',
      ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...fill(profile.headers, connection),
      ...fill(call.headers ?? {}, connection),
    },
    body: call.body === undefined ? null : JSON.stringify(call.body),
  }
}
