import type { Dispatcher } from 'undici'
import { hostFault } from './addresses.ts'
import { type ClientPool, createClientPool } from './client-pool.ts'
import { asMachine, asNameServers, hookOf, type Lookup } from './lookup.ts'
import { createMemo } from './memo.ts'

/** The result of a request that we sent to a server of somebody else. */
export type PostResult = {
  outcome: 'delivered' | 'gone' | 'failed'
  status: number | null
  /** A short fixed text without addresses and secrets, or null if the status says enough. */
  error: string | null
  /** The beginning of the response body. */
  body: string
  latency_ms: number
}

export type Sender = {
  /**
   * Rejects only if the signal aborts it, or if the request cannot be sent as given. Whatever the
   * other server does is a `PostResult`.
   */
  post(
    url: URL | string,
    headers: Record<string, string>,
    body: string,
    signal?: AbortSignal,
  ): Promise<PostResult>
  /** Waits for the requests in progress. */
  close(): Promise<void>
}

export type SenderOptions = {
  /** Refuse everything but https to public addresses. */
  guarded: boolean
  allowHttp?: boolean
  lookup?: Lookup
  limits?: Partial<typeof LIMITS>
}

const LIMITS = {
  /** For the whole exchange, because a server that sends a byte a second is never silent. */
  deadline_ms: 30_000,
  connect_ms: 5_000,
  /** Less than most servers wait: if both sides use and close a connection at once, we fail. */
  idle_ms: 2_000,
}
const MAX_HEAD = 16 * 1024
const MAX_BODY = 16 * 1024
/** All bytes of a response, also those that the parser skips. */
const MAX_RECEIVED = 128 * 1024
/** How much of the body a result has. */
const MAX_KEPT = 1024

/** Posts to servers that are not ours and may be slow, broken or hostile. */
export function createSender(options: SenderOptions): Sender {
  const { guarded, lookup = guarded ? asNameServers() : asMachine } = options
  const limits = { ...LIMITS, ...options.limits }
  const pool = createClientPool({
    ...limits,
    lookup: hookOf(lookup, guarded),
    maxHead: MAX_HEAD,
    maxReceived: MAX_RECEIVED,
  })
  const targets = createMemo<Target>(4096)
  return {
    async post(url, headers, body, signal) {
      signal?.throwIfAborted()
      checkHeaders(headers)
      const text = String(url)
      const { origin, path, fault } = targets.of(text, () => targetOf(text, options))
      if (fault) return { outcome: 'failed', status: null, error: fault, body: '', latency_ms: 0 }
      const request = { origin, path, method: 'POST', headers, body } as const
      return await send(pool, request, limits.deadline_ms, signal)
    },
    close: pool.close,
  }
}

type Target = { origin: string; path: string; fault: string | null }

function targetOf(text: string, options: SenderOptions): Target {
  const url = URL.parse(text)
  if (!url) return { origin: '', path: '', fault: 'address not valid' }
  return { origin: url.origin, path: url.pathname + url.search, fault: faultOf(url, options) }
}

function faultOf({ protocol, hostname }: URL, options: SenderOptions): string | null {
  const { guarded, allowHttp = !guarded } = options
  const isAllowed = protocol === 'https:' || (protocol === 'http:' && allowHttp)
  // A socket does not look up a host that is an IP address, so it is checked here.
  return !isAllowed || (guarded && hostFault(hostname)) ? 'address not allowed' : null
}

/** Headers that only the HTTP client may set. */
const RESERVED = /^(host|connection|content-length|transfer-encoding|expect|upgrade|keep-alive)$/i
const NAME = /^[!#$%&'*+\-.^_`|~\w]+$/
const VALUE = /^[\t\x20-\x7e]*$/

/** Throws if a header could change the request, for example make two requests of one. */
function checkHeaders(headers: Record<string, string>): void {
  for (const name in headers) {
    if (VALUE.test(headers[name]!) && NAME.test(name) && !RESERVED.test(name)) continue
    const error = new Error(`header ${JSON.stringify(name)} cannot be sent`)
    throw Object.assign(error, { code: 'ERR_INVALID_HEADER' })
  }
}

type Request = Dispatcher.DispatchOptions & { origin: string }

function send(
  pool: ClientPool,
  request: Request,
  deadline_ms: number,
  signal: AbortSignal | undefined,
): Promise<PostResult> {
  const start_ms = performance.now()
  const { promise, resolve, reject } = Promise.withResolvers<PostResult>()
  const client = pool.take(request.origin)
  const kept: Buffer[] = []
  let status: number | null = null
  let received = 0
  let isOver = false

  function end(settle: () => void, isComplete = false): void {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    if (signal) abortsOf(signal).delete(abort)
    if (isComplete) pool.release(request.origin, client)
    else pool.discard(request.origin, client)
    settle()
  }
  const finish = (error: string | null, isComplete = false) =>
    end(() => {
      const latency_ms = Math.round(performance.now() - start_ms)
      resolve({ ...outcomeOf(status, error), status, body: textOf(kept), latency_ms })
    }, isComplete)
  const abort = () => end(() => reject(signal?.reason))
  const timer = setTimeout(() => finish(`no answer within ${deadline_ms / 1000} s`), deadline_ms)
  if (signal) abortsOf(signal).add(abort)

  client.dispatch(request, {
    // undici sees by this method that the handler has its present form.
    onRequestStart() {},
    onResponseStart(_, code) {
      if (code >= 200) status = code
      // Nobody asked for another protocol.
      else if (code === 101) finish('answer not understood')
    },
    onResponseData(_, chunk) {
      if (received < MAX_KEPT) kept.push(chunk.subarray(0, MAX_KEPT - received))
      received += chunk.length
      if (received > MAX_BODY) finish(null)
    },
    onResponseEnd: () => finish(null, true),
    onResponseError(_, error) {
      if (isOurFault(error)) end(() => reject(error))
      else finish(textForError(error))
    },
  })
  return promise
}

/**
 * What to do if a signal aborts. Thousands of exchanges share one signal, and adding a listener to
 * a signal takes longer the more listeners it has.
 */
const aborts = new WeakMap<AbortSignal, Set<() => void>>()

function abortsOf(signal: AbortSignal): Set<() => void> {
  const known = aborts.get(signal)
  if (known) return known
  const all = new Set<() => void>()
  aborts.set(signal, all)
  signal.addEventListener('abort', () => {
    for (const abort of [...all]) abort()
  })
  return all
}

function outcomeOf(
  status: number | null,
  error: string | null,
): Pick<PostResult, 'outcome' | 'error'> {
  if (error || status === null) return { outcome: 'failed', error }
  if (status < 300) return { outcome: 'delivered', error }
  if (status < 400) return { outcome: 'failed', error: 'redirects are not followed' }
  return { outcome: status === 410 ? 'gone' : 'failed', error }
}

/** Text for PostgreSQL, which accepts every character but NUL. */
function textOf(chunks: Buffer[]): string {
  if (chunks.length === 0) return ''
  // With `stream`, a character that is cut at the end is left out and not replaced.
  return new TextDecoder().decode(Buffer.concat(chunks), { stream: true }).replaceAll('\0', '')
}

/** Errors of the parser may have a name only. */
const codeOf = (error: NodeJS.ErrnoException): string => error.code ?? error.name

/** The request cannot be written as given. */
const isOurFault = (error: Error): boolean =>
  /^UND_ERR_(INVALID_ARG|NOT_SUPPORTED|REQ_CONTENT_LENGTH_MISMATCH)$/.test(codeOf(error))

const ERROR_TEXTS: [codes: RegExp, text: string][] = [
  [/^ECONNREFUSED$/, 'connection refused'],
  [/^(ECONNRESET|EPIPE|ECONNABORTED)$/, 'connection reset'],
  [/^UND_ERR_SOCKET$/, 'connection closed'],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'no connection in time'],
  [/^(EHOST|ENET)(UNREACH|DOWN)$|^EADDRNOTAVAIL$/, 'host not reachable'],
  [/^HTTPParser|^HPE_|HEADERS_OVERFLOW|RES_CONTENT_LENGTH/, 'answer not understood'],
  [/^(EPROTO$|ERR_SSL_)/, 'TLS not possible'],
  [/CERT|ISSUER|LEAF|CRL|HOSTNAME|INVALID_(CA|PURPOSE)|PATH_LENGTH/, 'certificate not valid'],
]

/** Messages of errors name addresses, so only our own are repeated. */
function textForError(error: Error): string {
  const code = codeOf(error)
  if (code === 'ERR_REFUSED') return error.message
  if (/^bad (response|upgrade)$/.test(error.message)) return 'answer not understood'
  return ERROR_TEXTS.find(([codes]) => codes.test(code))?.[1] ?? 'connection failed'
}
