import type { Dispatcher } from 'undici'
import { hostFault } from './addresses.ts'
import { type Connections, createConnections } from './connections.ts'
import { asMachine, asNameServers, hookOf, type Lookup } from './lookup.ts'
import { createMemo } from './memo.ts'

/** How a request that we sent to somebody's server has ended. */
export type Exchange = {
  outcome: 'delivered' | 'gone' | 'failed'
  status: number | null
  /** A few stable words without addresses and secrets, or null when the status says it all. */
  error: string | null
  /** The beginning of the answer. */
  body: string
  latency_ms: number
}

export type Sender = {
  /**
   * Rejects only when the signal aborts it, or when the request cannot be sent as it was given;
   * whatever the other side does is an `Exchange`.
   */
  post(
    url: URL | string,
    headers: Record<string, string>,
    body: string,
    signal?: AbortSignal,
  ): Promise<Exchange>
  /** Waits for what is under way. */
  close(): Promise<void>
}

export type SenderOptions = {
  /** Refuses all but https to public addresses. */
  guarded: boolean
  allowHttp?: boolean
  lookup?: Lookup
  limits?: Partial<typeof LIMITS>
}

const LIMITS = {
  /** For the whole exchange: a dripped answer never lets a socket fall silent. */
  deadline_ms: 30_000,
  connect_ms: 5_000,
  /** Shorter than most servers keep a connection: a request that crosses its end is lost. */
  idle_ms: 2_000,
}
const MOST_READ = 16 * 1024
const KEPT = 1024

/** Posts to servers that are not ours and may be slow, broken or hostile. */
export function createSender(options: SenderOptions): Sender {
  const { guarded, lookup = guarded ? asNameServers() : asMachine } = options
  const limits = { ...LIMITS, ...options.limits }
  const { deadline_ms } = limits
  const hook = hookOf(lookup, guarded)
  const connections = createConnections({ ...limits, lookup: hook, mostHead: MOST_READ })
  const targets = createMemo<Target>(4096)
  return {
    async post(url, headers, body, signal) {
      signal?.throwIfAborted()
      const text = String(url)
      const { origin, path, fault } = targets.of(text, () => targetOf(text, options))
      if (fault) return { outcome: 'failed', status: null, error: fault, body: '', latency_ms: 0 }
      const request = { origin, path, method: 'POST', headers, body } as const
      return exchange(connections, request, deadline_ms, signal)
    },
    close: connections.close,
  }
}

type Target = { origin: string; path: string; fault: string | null }

function targetOf(text: string, options: SenderOptions): Target {
  const url = URL.parse(text)
  if (!url) return { origin: '', path: '', fault: 'address not valid' }
  const { origin, pathname, search } = url
  return { origin, path: pathname + search, fault: targetFault(url, options) }
}

function targetFault({ protocol, hostname }: URL, options: SenderOptions): string | null {
  const { guarded, allowHttp = !guarded } = options
  const isSpoken = protocol === 'https:' || (protocol === 'http:' && allowHttp)
  // A socket never looks up an address that is written as one, so it is judged here.
  return !isSpoken || (guarded && hostFault(hostname)) ? 'address not allowed' : null
}

type Request = Dispatcher.DispatchOptions & { origin: string }

function exchange(
  connections: Connections,
  request: Request,
  deadline_ms: number,
  signal: AbortSignal | undefined,
): Promise<Exchange> {
  const began = performance.now()
  const { promise, resolve, reject } = Promise.withResolvers<Exchange>()
  const client = connections.take(request.origin)
  const kept: Buffer[] = []
  let status: number | null = null
  let read = 0
  let isOver = false

  function end(settle: () => void, isComplete = false): void {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    if (signal) stopsOf(signal).delete(stop)
    if (isComplete) connections.keep(request.origin, client)
    else connections.drop(request.origin, client)
    settle()
  }
  const finish = (error: string | null, isComplete = false) =>
    end(() => {
      const latency_ms = Math.round(performance.now() - began)
      resolve({ ...judge(status, error), status, body: textOf(kept), latency_ms })
    }, isComplete)
  const stop = () => end(() => reject(signal?.reason))
  const timer = setTimeout(() => finish(`no answer within ${deadline_ms / 1000} s`), deadline_ms)
  if (signal) stopsOf(signal).add(stop)

  client.dispatch(request, {
    // By this one undici knows the present form of handlers.
    onRequestStart() {},
    onResponseStart(_, code) {
      if (code >= 200) status = code
    },
    onResponseData(_, chunk) {
      if (read < KEPT) kept.push(chunk.subarray(0, KEPT - read))
      read += chunk.length
      if (read > MOST_READ) finish(null)
    },
    onResponseEnd: () => finish(null, true),
    onResponseError(_, error) {
      // A request that cannot be written is a mistake of ours.
      if (codeOf(error) === 'UND_ERR_INVALID_ARG') end(() => reject(error))
      else finish(wordsFor(error))
    },
  })
  return promise
}

/**
 * What a signal stops. A thousand exchanges share one signal, and for each listener a signal looks
 * through all that it has.
 */
const stops = new WeakMap<AbortSignal, Set<() => void>>()

function stopsOf(signal: AbortSignal): Set<() => void> {
  const known = stops.get(signal)
  if (known) return known
  const all = new Set<() => void>()
  stops.set(signal, all)
  signal.addEventListener('abort', () => {
    for (const stop of [...all]) stop()
  })
  return all
}

function judge(status: number | null, error: string | null): Pick<Exchange, 'outcome' | 'error'> {
  if (error || status === null) return { outcome: 'failed', error }
  if (status < 300) return { outcome: 'delivered', error }
  if (status < 400) return { outcome: 'failed', error: 'redirects are not followed' }
  return { outcome: status === 410 ? 'gone' : 'failed', error }
}

/** Readable text for a database that takes any character but NUL. */
function textOf(chunks: Buffer[]): string {
  if (chunks.length === 0) return ''
  // As a stream: a character that was cut at the end is left out instead of replaced.
  return new TextDecoder().decode(Buffer.concat(chunks), { stream: true }).replaceAll('\0', '')
}

/** The parser's errors have a name only. */
const codeOf = (error: NodeJS.ErrnoException): string => error.code ?? error.name

const WORDS: [codes: RegExp, words: string][] = [
  [/^ECONNREFUSED$/, 'connection refused'],
  [/^(ECONNRESET|EPIPE|ECONNABORTED)$/, 'connection reset'],
  [/^UND_ERR_SOCKET$/, 'connection closed'],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'no connection in time'],
  [/^(EHOST|ENET)(UNREACH|DOWN)$|^EADDRNOTAVAIL$/, 'host not reachable'],
  [/^HTTPParser|^HPE_|HEADERS_OVERFLOW|RES_CONTENT_LENGTH/, 'answer not understood'],
  [/^(EPROTO$|ERR_SSL_)/, 'TLS not possible'],
  [/CERT|ISSUER|LEAF|CRL|HOSTNAME|INVALID_(CA|PURPOSE)|PATH_LENGTH/, 'certificate not valid'],
]

/** Error messages name addresses, so that none is repeated but our own. */
function wordsFor(error: Error): string {
  const code = codeOf(error)
  if (code === 'ERR_REFUSED') return error.message
  return WORDS.find(([codes]) => codes.test(code))?.[1] ?? 'connection failed'
}
