import { hostFault } from './addresses.ts'
import { feed, isWhole, newAnswer } from './answer.ts'
import { type Connections, createConnections, type Origin } from './connections.ts'
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
/** Of a body. */
const MAX_READ = 16 * 1024

/** Posts to servers that are not ours and may be slow, broken or hostile. */
export function createSender(options: SenderOptions): Sender {
  const { guarded, lookup = guarded ? asNameServers() : asMachine } = options
  const limits = { ...LIMITS, ...options.limits }
  const { deadline_ms } = limits
  const connections = createConnections({ ...limits, lookup: hookOf(lookup, guarded) })
  const targets = createMemo<Target>(4096)
  return {
    async post(url, headers, body, signal) {
      signal?.throwIfAborted()
      const text = String(url)
      const target = targets.of(text, () => targetOf(text, options))
      const { fault } = target
      if (fault) return { outcome: 'failed', status: null, error: fault, body: '', latency_ms: 0 }
      return exchange(connections, target, requestOf(target, headers, body), deadline_ms, signal)
    },
    close: connections.close,
  }
}

/** Where a request goes to, and how it begins. */
type Target = Origin & { begin: string; fault: string | null }

const NOWHERE = { origin: '', hostname: '', port: 0, secure: false, begin: '' }

function targetOf(text: string, options: SenderOptions): Target {
  const url = URL.parse(text)
  if (!url) return { ...NOWHERE, fault: 'address not valid' }
  const { origin, hostname, host, protocol, pathname, search } = url
  const secure = protocol === 'https:'
  const port = Number(url.port || (secure ? 443 : 80))
  const begin = `POST ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`
  return { origin, hostname, port, secure, begin, fault: targetFault(url, options) }
}

function targetFault({ protocol, hostname }: URL, options: SenderOptions): string | null {
  const { guarded, allowHttp = !guarded } = options
  const isSpoken = protocol === 'https:' || (protocol === 'http:' && allowHttp)
  // A socket never looks up an address that is written as one, so it is judged here.
  return !isSpoken || (guarded && hostFault(hostname)) ? 'address not allowed' : null
}

/** Some are ours to say: two requests could be made of one by them. */
const NAME =
  /^(?!(?:host|connection|content-length|transfer-encoding|expect|upgrade)$)[!#$%&'*+\-.^_`|~\w]+$/i
const VALUE = /^[\t\x20-\x7e]*$/

/** A whole request. Throws where it would not be the one that was meant. */
function requestOf({ begin }: Target, headers: Record<string, string>, body: string): string {
  let text = begin
  for (const name in headers) {
    const value = headers[name]!
    if (!VALUE.test(value) || !NAME.test(name)) {
      throw Object.assign(new Error(`header ${JSON.stringify(name)} cannot be sent`), {
        code: 'ERR_INVALID_HEADER',
      })
    }
    text += `${name}: ${value}\r\n`
  }
  return `${text}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

function exchange(
  connections: Connections,
  target: Target,
  request: string,
  deadline_ms: number,
  signal: AbortSignal | undefined,
): Promise<Exchange> {
  const began = performance.now()
  const { promise, resolve, reject } = Promise.withResolvers<Exchange>()
  const answer = newAnswer()
  let isOver = false

  function end(isComplete: boolean): boolean {
    if (isOver) return false
    isOver = true
    clearTimeout(timer)
    if (signal) stopsOf(signal).delete(stop)
    if (isComplete) connections.keep(connection, answer.lasts_s * 1000)
    else connections.drop(connection)
    return true
  }
  function finish(error: string | null, isComplete = false): void {
    if (!end(isComplete)) return
    const { status } = answer
    const latency_ms = Math.round(performance.now() - began)
    resolve({ ...judge(status, error), status, body: textOf(answer.body), latency_ms })
  }
  const stop = () => {
    if (end(false)) reject(signal?.reason)
  }
  const user = {
    onText(text: string) {
      try {
        feed(answer, text)
      } catch (error) {
        return finish(wordsFor(error as Error))
      }
      if (answer.step === 'done') finish(null, true)
      else if (answer.read > MAX_READ) finish(null)
    },
    onEnd(error: Error | null) {
      if (error) finish(wordsFor(error))
      else finish(isWhole(answer) ? null : 'connection closed')
    },
  }
  const connection = connections.send(target, request, user)
  const timer = setTimeout(() => finish(`no answer within ${deadline_ms / 1000} s`), deadline_ms)
  if (signal) stopsOf(signal).add(stop)
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
function textOf(body: string): string {
  if (body === '') return ''
  // As a stream: a character that was cut at the end is left out instead of replaced.
  const text = new TextDecoder().decode(Buffer.from(body, 'latin1'), { stream: true })
  return text.replaceAll('\0', '')
}

const WORDS: [codes: RegExp, words: string][] = [
  [/^ECONNREFUSED$/, 'connection refused'],
  [/^(ECONNRESET|EPIPE|ECONNABORTED)$/, 'connection reset'],
  [/^ETIMEDOUT$/, 'no connection in time'],
  [/^(EHOST|ENET)(UNREACH|DOWN)$|^EADDRNOTAVAIL$/, 'host not reachable'],
  [/^(EPROTO$|ERR_SSL_)/, 'TLS not possible'],
  [/CERT|ISSUER|LEAF|CRL|HOSTNAME|INVALID_(CA|PURPOSE)|PATH_LENGTH/, 'certificate not valid'],
]

/** Error messages name addresses, so that none is repeated but our own. */
function wordsFor(error: NodeJS.ErrnoException): string {
  const code = error.code ?? ''
  if (code === 'ERR_REFUSED') return error.message
  return WORDS.find(([codes]) => codes.test(code))?.[1] ?? 'connection failed'
}
