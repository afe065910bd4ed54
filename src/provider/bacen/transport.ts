import { createSecureContext, type SecureContext, type TLSSocket } from 'node:tls'
import { Agent, buildConnector, type Dispatcher } from 'undici'
import type { Clock } from '../../lib/clock.ts'
import { trustedAuthorities } from '../../lib/older-node.ts'
import { asPart } from '../../lib/tracing.ts'
import { endOfTick } from '../../lib/turns.ts'
import { VERSION } from '../../lib/version.ts'
import { NOT_ACCEPTED, type Reply, replyOf, type Unknown } from './answers.ts'
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
  url: URL
  headers: Record<string, string>
  body: string | null
}

/** Sends requests to one bank with one certificate. It never throws: a failure is a reply too. */
export type Transport = {
  /** Gives up at `until_ms` of `performance.now`, or when `exchange_ms` is over. */
  send(request: Request, until_ms?: number): Promise<Reply>
  /** How far the bank's clock was ahead of ours at its last answer, at least; null if unknown. */
  clockGap_ms(): number | null
  close(): Promise<void>
}

/**
 * How long an idle connection is kept. A bank with a shorter time announces it, or closes the
 * connection. If it closes it just when a request is sent, the request fails as lost.
 */
const IDLE_ms = 60_000
const MAX_CONNECTIONS = 64

/** Is called after each request with the HTTP status of its answer, or null if there was none. */
export type CountRequest = (profile: string, status: number | null, seconds: number) => void

export function openTransport(
  connection: Connection,
  limits: Limits,
  clock: Clock,
  count: CountRequest = () => {},
): Transport {
  const { name: profile } = connection.profile
  const factsOf = ({ method, url }: Request) => ({
    'http.request.method': method,
    'server.address': url.hostname,
    'vintem.bank': profile,
  })
  let agent: Agent | null = null
  let endsAt: Date | null = null
  let gap_ms: number | null = null
  const answered = new Set<string>()
  return {
    clockGap_ms: () => gap_ms,
    async send(request, until_ms = Number.POSITIVE_INFINITY) {
      const left_ms = Math.min(limits.exchange_ms, until_ms - performance.now())
      if (left_ms <= 0) return LATE
      try {
        agent ??= agentOf(connection, limits)
        endsAt ??= readCertificate(connection.certificate).endsAt
      } catch {
        return { kind: 'unknown', reason: 'the certificate cannot be used' }
      }
      const [sentAt, sent_ms, own] = [clock.now(), performance.now(), agent]
      let status: number | null = null
      const once = () =>
        exchange(own, request, left_ms, limits.answer_bytes, (code, date) => {
          status = code
          answered.add(request.url.origin)
          gap_ms = gapOf(date, sentAt, clock.now())
        })
      const reply = await asPart(
        'ask bank',
        () => factsOf(request),
        once,
        () =>
          status === null ? { 'error.type': 'no_answer' } : { 'http.response.status_code': status },
      )
      count(profile, status, (performance.now() - sent_ms) / 1000)
      // Wait until the connection is free again. Otherwise the next request opens another one.
      await endOfTick()
      // A bank that does not accept the certificate any more just closes the connection.
      const isOver = reply.kind === 'unknown' && reply.isConnection && endsAt <= clock.now()
      if (isOver) return { ...reply, reason: OVER }
      const isFirst = reply.kind === 'unknown' && !answered.has(request.url.origin)
      return isFirst && reply.reason === LOST ? { ...reply, reason: ENDED } : reply
    },
    async close() {
      await agent?.close()
    },
  }
}

/**
 * A connection has one request at a time, also with HTTP/2: undici sends requests of an HTTP/2
 * connection that the bank closes a second time, and an order must not be.
 */
function agentOf(connection: Connection, limits: Limits): Agent {
  return new Agent({
    connect: connectorOf(contextOf(connection), limits.connect_ms),
    connections: MAX_CONNECTIONS,
    pipelining: 1,
    keepAliveTimeout: IDLE_ms,
    keepAliveMaxTimeout: IDLE_ms,
    // Each exchange has one limit for all of it instead.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

/** Connects with HTTP/2 if the bank offers it, and resumes the last TLS session of each host. */
function connectorOf(secureContext: SecureContext, timeout: number): buildConnector.connector {
  // undici has a cache of its own, but of weak references, which do not last for minutes.
  const sessions = new Map<string, Buffer>()
  return (target, callback) => {
    const keep = (session: Buffer) => sessions.set(target.hostname, session)
    const session = sessions.get(target.hostname)
    const connect = buildConnector({
      secureContext,
      timeout,
      allowH2: true,
      maxCachedSessions: 0,
      ...(session ? { session } : {}),
    })
    connect(target, (...result) => {
      const socket = result[1] as TLSSocket | null
      // With TLS 1.2 the session is there when the socket is connected, with 1.3 it comes later.
      if (socket?.getProtocol() === 'TLSv1.2') keep(socket.getSession()!)
      else socket?.on('session', keep)
      callback(...result)
    })
  }
}

/** Made once, because reading keys and authorities costs far more than a connection. */
function contextOf({ certificate, ca }: Connection): SecureContext {
  const { passphrase } = certificate
  return createSecureContext({
    ...(certificate.kind === 'pfx'
      ? { pfx: Buffer.from(certificate.pfx, 'base64') }
      : { cert: certificate.certificate, key: certificate.key }),
    ...(passphrase === null ? {} : { passphrase }),
    ...(ca === null ? {} : { ca: [...trustedAuthorities(), ca] }),
    minVersion: 'TLSv1.2',
  })
}

/** Sends one request. Once its time is over it is not sent any more, if it was not sent before. */
function exchange(
  agent: Agent,
  { method, url, headers, body }: Request,
  most_ms: number,
  maxBytes: number,
  noteAnswer: (status: number, date: string) => void,
): Promise<Reply> {
  const { promise, resolve } = Promise.withResolvers<Reply>()
  const chunks: Buffer[] = []
  let controller: Dispatcher.DispatchController | null = null
  let [status, received, isOver] = [0, 0, false]
  let retryAfter: string | undefined

  function end(reply: Reply, isComplete = false): void {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    if (!isComplete) controller?.abort(new Error(STOPPED))
    resolve(reply)
  }
  const timer = setTimeout(() => end(LATE), most_ms)
  agent.dispatch(
    {
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: { 'user-agent': USER_AGENT, ...headers },
      body,
    },
    {
      onRequestStart(own) {
        controller = own
        if (isOver) own.abort(new Error(STOPPED))
      },
      onResponseStart(_, code, { date, 'retry-after': value }) {
        status = code
        retryAfter = [value].flat()[0]
        noteAnswer(code, String(date))
      },
      onResponseData(_, chunk) {
        received += chunk.length
        if (received > maxBytes) end(TOO_LONG)
        else chunks.push(chunk)
      },
      onResponseEnd() {
        const reply = replyOf(status, UTF8.decode(Buffer.concat(chunks)))
        const isBusy = reply.kind === 'unknown' && (status === 429 || status === 503)
        const isUndone = status === 429
        end(isBusy ? { ...reply, isUndone, ...waitOf(retryAfter) } : reply, true)
      },
      onResponseError: (_, error) => end({ ...failureOf(error), isUnsent: controller === null }),
    },
  )
  return promise
}

/** Reads Retry-After: seconds, or a moment by the clock of this machine. */
function waitOf(value: string | undefined): { retryAfter_s?: number } {
  if (value === undefined) return {}
  const moment_ms = /^\d+$/.test(value) ? Date.now() + Number(value) * 1000 : Date.parse(value)
  const wait_s = Math.ceil((moment_ms - Date.now()) / 1000)
  return Number.isFinite(wait_s) ? { retryAfter_s: Math.max(0, wait_s) } : {}
}

const UTF8 = new TextDecoder()
const USER_AGENT = `vintem/${VERSION}`
const STOPPED = 'the request was stopped'

/** A date has whole seconds and was written at any moment of the exchange. Both are allowed for. */
function gapOf(date: string, sentAt: Date, answeredAt: Date): number | null {
  const earliest_ms = Date.parse(date)
  if (Number.isNaN(earliest_ms)) return null
  const ahead_ms = Math.max(0, earliest_ms - answeredAt.getTime())
  return ahead_ms + Math.min(0, earliest_ms + 1000 - sentAt.getTime())
}

const OVER = 'the certificate with which the bank knows the company has ended'
const LATE: Reply = { kind: 'unknown', reason: 'the bank has not answered in time' }
const TOO_LONG: Reply = { kind: 'unknown', reason: 'the answer of the bank is too long' }

/**
 * With TLS 1.3 a connection is open before the bank has seen the certificate. A bank that does not
 * accept it then ends the connection, often without a reason.
 */
const ENDED = `${NOT_ACCEPTED}, or ends every connection before it answers`
const LOST = 'the connection to the bank was lost'
const FAULTS: [codes: RegExp, words: string, isConnection: boolean][] = [
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'the bank cannot be reached in time', true],
  [/^ECONNREFUSED$/, 'the bank refuses the connection', true],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'the name of the bank is not found', true],
  [/^(EHOST|ENET)(UNREACH|DOWN)$/, 'the bank cannot be reached', true],
  [/^(ERR_SSL_|EPROTO$)/, `${NOT_ACCEPTED}, or TLS is not possible`, true],
  [/CERT|ISSUER|LEAF|HOSTNAME|ALTNAME/, 'the certificate of the bank cannot be trusted', true],
  [/^(ECONN(RESET|ABORTED)|EPIPE|UND_ERR_(SOCKET|INFO))$|^ERR_HTTP2_/, LOST, true],
  [/^UND_ERR_INVALID_ARG$/, 'the address or a header is not valid', false],
]

/** The message of an error may contain addresses, so it is not shown. */
function failureOf(error: unknown): Unknown {
  const { code, name } = error as NodeJS.ErrnoException
  const known = FAULTS.find(([codes]) => codes.test(String(code ?? name)) || codes.test(name))
  const [, reason, isConnection] = known ?? [null, 'the connection to the bank failed', true]
  return { kind: 'unknown', reason, isConnection }
}
