import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { Agent } from 'undici'
import type { Clock } from '../../lib/clock.ts'
import { type Reply, replyOf } from './answers.ts'
import { readCertificate } from './certificate.ts'
import type { Connection } from './connection.ts'

export type Limits = {
  connect_ms: number
  /** For one request and its whole answer. */
  exchange_ms: number
  /** For all requests of one order. Shorter than the lease of an order. */
  order_ms: number
  answer_bytes: number
}

export const LIMITS: Limits = {
  connect_ms: 5_000,
  exchange_ms: 15_000,
  order_ms: 40_000,
  answer_bytes: 2 * 1024 * 1024,
}

export type Request = {
  method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'
  url: string
  headers: Record<string, string>
  body: string | null
}

/** Sends requests to one bank with one certificate. It never throws: a failure is a reply too. */
export type Transport = {
  /** Gives up at `until_ms` of `performance.now`, or when `exchange_ms` is over. */
  send(request: Request, until_ms?: number): Promise<Reply>
  close(): Promise<void>
}

/** Short, because a request on a connection that the bank has closed is lost. */
const IDLE_ms = 3_000
const MAX_CONNECTIONS = 64

export function openTransport(connection: Connection, limits: Limits, clock: Clock): Transport {
  let agent: Agent | null = null
  let endsAt: Date | null = null
  return {
    async send(request, until_ms = Number.POSITIVE_INFINITY) {
      const left_ms = Math.min(limits.exchange_ms, until_ms - performance.now())
      if (left_ms <= 0) return LATE
      try {
        agent ??= agentOf(connection, limits)
        endsAt ??= readCertificate(connection.certificate).endsAt
      } catch {
        return { kind: 'unknown', reason: 'the certificate cannot be used' }
      }
      const reply = await exchange(agent, request, left_ms)
      // A bank that does not accept the certificate any more just closes the connection.
      const isOver = reply.kind === 'unknown' && reply.isConnection && endsAt <= clock.now()
      return isOver ? { ...reply, reason: OVER } : reply
    },
    async close() {
      await agent?.close()
    },
  }
}

function agentOf(connection: Connection, limits: Limits): Agent {
  return new Agent({
    connect: { secureContext: contextOf(connection), timeout: limits.connect_ms },
    connections: MAX_CONNECTIONS,
    keepAliveTimeout: IDLE_ms,
    keepAliveMaxTimeout: IDLE_ms,
    headersTimeout: limits.exchange_ms,
    bodyTimeout: limits.exchange_ms,
    maxResponseSize: limits.answer_bytes,
  })
}

/** Made once, because reading keys and authorities costs far more than a connection. */
function contextOf({ certificate, ca }: Connection): SecureContext {
  const { passphrase } = certificate
  return createSecureContext({
    ...(certificate.kind === 'pfx'
      ? { pfx: Buffer.from(certificate.pfx, 'base64') }
      : { cert: certificate.certificate, key: certificate.key }),
    ...(passphrase === null ? {} : { passphrase }),
    ...(ca === null ? {} : { ca: [...getCACertificates('default'), ca] }),
    minVersion: 'TLSv1.2',
  })
}

async function exchange(
  agent: Agent,
  { method, url, headers, body }: Request,
  most_ms: number,
): Promise<Reply> {
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), most_ms)
  try {
    const { origin, pathname, search } = new URL(url)
    const answer = await agent.request({
      origin,
      path: pathname + search,
      method,
      headers,
      body,
      signal: stop.signal,
    })
    return replyOf(answer.statusCode, await answer.body.text())
  } catch (error) {
    return stop.signal.aborted ? LATE : failureOf(error)
  } finally {
    clearTimeout(timer)
  }
}

const OVER = 'the certificate with which the bank knows the company has ended'
const LATE: Reply = { kind: 'unknown', reason: 'the bank has not answered in time' }

const FAULTS: [codes: RegExp, words: string, isConnection: boolean][] = [
  [/^UND_ERR_(HEADERS|BODY)_TIMEOUT$/, 'the bank has not answered in time', false],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'the bank cannot be reached in time', true],
  [/^ECONNREFUSED$/, 'the bank refuses the connection', true],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'the name of the bank is not found', true],
  [/^(EHOST|ENET)(UNREACH|DOWN)$/, 'the bank cannot be reached', true],
  [/^UND_ERR_RES_EXCEEDED_MAX_SIZE$/, 'the answer of the bank is too long', false],
  [/^(ERR_SSL_|EPROTO$)/, 'the bank does not accept the certificate, or TLS is not possible', true],
  [/CERT|ISSUER|LEAF|HOSTNAME|ALTNAME/, 'the certificate of the bank cannot be trusted', true],
  [/^(ECONNRESET|EPIPE|ECONNABORTED|UND_ERR_SOCKET)$/, 'the connection to the bank was lost', true],
  [/^(ERR_INVALID_URL|UND_ERR_INVALID_ARG)$/, 'the address or a header is not valid', false],
]

/** The message of an error may contain addresses, so it is not shown. */
function failureOf(error: unknown): Reply {
  const { code, name } = error as NodeJS.ErrnoException
  const known = FAULTS.find(([codes]) => codes.test(String(code ?? name)) || codes.test(name))
  const [, reason, isConnection] = known ?? [null, 'the connection to the bank failed', true]
  return { kind: 'unknown', reason, isConnection }
}
