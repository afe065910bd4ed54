import type { WithResponse } from './answer.ts'
import type { CallOptions, Hooks, Method, SentRequest } from './call.ts'
import {
  ConnectionError,
  errorOf,
  IgnoredFieldsError,
  RateLimitError,
  RequestTimeoutError,
  ServerError,
  TimeoutError,
  VintemError,
} from './errors.ts'
import { randomName } from './web-crypto.js'

export type Settings = Hooks & {
  url: string
  key: string
  version: string
  timeout_ms: number
  retries: number
  fetch: typeof fetch
  strict: boolean | undefined
}

export type Request = { method: Method; path: string; query: object; body: object | undefined }

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 8_000
/** If a server asks for more patience than this, the caller decides. */
const LONGEST_RETRY_AFTER_MS = 60_000
/** Timers with more than this end at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
const USER_AGENT = 'vintem-client/0.1.0'

/** Sends a request until it is answered, all attempts with one Idempotency-Key. */
export async function send<T>(
  settings: Settings,
  request: Request,
  options: CallOptions,
): Promise<WithResponse<T>> {
  const { signal, retries = settings.retries, timeout_ms = settings.timeout_ms } = options
  const { method } = request
  const url = addressOf(settings, request)
  const headers = await headersOf(settings, request, options)
  const body = request.body === undefined ? null : JSON.stringify(request.body)
  for (let attempt = 0; ; attempt += 1) {
    try {
      const sent = { method, url, headers, body, attempt }
      const answer = await attend(settings, sent, () =>
        sendOnce<T>(settings, sent, timeout_ms, signal),
      )
      return accept(settings, sent, answer)
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      if (error instanceof VintemError) error.idempotencyKey = headers.get('idempotency-key')
      const pause_ms = attempt < retries ? pauseAfter(error, attempt) : null
      if (pause_ms === null) throw error
      await pause(pause_ms, signal)
    }
  }
}

/** One attempt between its hooks. */
async function attend<T>(
  { onRequest, onResponse }: Settings,
  request: SentRequest,
  sendIt: () => Promise<WithResponse<T>>,
): Promise<WithResponse<T>> {
  await onRequest?.(request)
  if (onResponse === undefined) return sendIt()
  const start_ms = performance.now()
  const end = async (how: WithResponse<T> | VintemError) => {
    const error = how instanceof VintemError ? how : null
    const { status, headers, requestId } = how
    const latency_ms = performance.now() - start_ms
    const ignoredFields = ignoredIn(headers)
    await onResponse({ request, status, headers, requestId, ignoredFields, latency_ms, error })
  }
  let answer: WithResponse<T>
  try {
    answer = await sendIt()
  } catch (error) {
    if (error instanceof VintemError) await end(error)
    throw error
  }
  await end(answer)
  return answer
}

/** The answer, unless the server has left out fields and that counts as a fault. */
function accept<T>(
  { strict }: Settings,
  { method, url }: SentRequest,
  answer: WithResponse<T>,
): WithResponse<T> {
  if (answer.ignoredFields.length === 0 || !(strict ?? isStrictByDefault())) return answer
  throw new IgnoredFieldsError(`${method} ${url.pathname}`, answer)
}

/** It is asked only if it matters: some runtimes ask their user before a program may know. */
function isStrictByDefault(): boolean {
  try {
    const { env } = (globalThis as { process?: { env?: Record<string, string> } }).process ?? {}
    return env !== undefined && env.NODE_ENV !== 'production'
  } catch {
    return false
  }
}

const ignoredIn = (headers: Headers | null): string[] =>
  headers?.get('x-ignored-fields')?.split(', ') ?? []

function addressOf({ url }: Settings, { path, query }: Request): URL {
  const address = new URL(url + path)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) address.searchParams.set(name, String(value))
  }
  return address
}

async function headersOf(
  { key, version }: Settings,
  { method, body }: Request,
  options: CallOptions,
): Promise<Headers> {
  const headers = new Headers(options.headers)
  headers.set('accept', 'application/json')
  headers.set('user-agent', USER_AGENT)
  headers.set('x-api-key', options.key === undefined ? key : checkKey(options.key))
  headers.set('x-api-version', version)
  if (body !== undefined) headers.set('content-type', 'application/json')
  if (method !== 'GET') {
    headers.set('idempotency-key', options.idempotencyKey ?? (await randomName()))
  }
  return headers
}

/** The key is never part of a message. */
export function checkKey(key: string): string {
  if (typeof key === 'string' && /^[\x21-\x7e]+$/.test(key)) return key
  throw new TypeError('key: must be an API key, vk_…, without spaces or line ends')
}

/** One attempt, ended by the caller's signal or when its time is over. */
async function sendOnce<T>(
  { fetch, version }: Settings,
  { method, url, headers, body }: SentRequest,
  timeout_ms: number,
  signal: AbortSignal | undefined,
): Promise<WithResponse<T>> {
  const ending = new AbortController()
  const end = () => ending.abort(signal?.reason)
  let isLate = false
  const timer = setTimeout(
    () => {
      isLate = true
      ending.abort()
    },
    Math.min(timeout_ms, LONGEST_TIMER_MS),
  )
  signal?.addEventListener('abort', end)
  const what = `${method} ${url.origin}${url.pathname}`
  const init: RequestInit = { method, headers, body, redirect: 'manual' }
  try {
    if (signal?.aborted) throw signal.reason
    const response = await fetch(url, { ...init, signal: ending.signal })
    return read(response, await response.text(), version, what)
  } catch (error) {
    if (error instanceof VintemError) throw error
    if (isLate) {
      const message = `${what}: no answer within ${timeout_ms} ms`
      throw new TimeoutError({ message, code: 'timeout', cause: error })
    }
    const message = `${what}: no answer (${reasonOf(error)})`
    throw new ConnectionError({ message, code: 'connection_failed', cause: error })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}

function read<T>(response: Response, text: string, version: string, what: string): WithResponse<T> {
  const { status, headers } = response
  const requestId = headers.get('x-request-id')
  const ignoredFields = ignoredIn(headers)
  // A redirect is not followed, because it would take the key to another server.
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    const message = `${what}: the server redirects to another address; set url to that one`
    throw new VintemError({ message, code: 'unreadable_answer', status, requestId, headers })
  }
  const body = parse(text)
  if (!response.ok) throw errorOf(status, headers, body)
  if (headers.get('content-type')?.startsWith('text/csv')) {
    return { data: text as T, status, headers, requestId, ignoredFields }
  }
  const data = dataOf(body, version)
  if (data === undefined) {
    const message = `${what}: the answer is none of Vintém; is this its address?`
    throw new ConnectionError({ message, code: 'unreadable_answer', status, requestId, headers })
  }
  return { data: data as T, status, headers, requestId, ignoredFields }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Version 2025-01-01 answers with the bare resource, later ones put it into an envelope. */
const dataOf = (body: unknown, version: string): unknown =>
  version === '2025-01-01' ? body : (body as { data?: unknown } | null | undefined)?.data

/** Node says only in the cause why there was no connection. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as { cause?: { message?: string; code?: string } } & Error
  // The message of OpenSSL is a line of its own code.
  if (cause?.code?.startsWith('ERR_SSL_'))
    return `no encrypted connection, ${cause.code}; is the address http and not https?`
  return cause?.message || cause?.code || message || String(error)
}

/** How long to wait before the next attempt, or null if it would be pointless. */
function pauseAfter(error: unknown, attempt: number): number | null {
  if (!(error instanceof VintemError) || !isTemporary(error)) return null
  const asked_ms = retryAfter(error.headers)
  if (asked_ms !== null && asked_ms > LONGEST_RETRY_AFTER_MS) return null
  const longest_ms = Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS)
  // Clients that failed together do not come back together.
  const own_ms = longest_ms * (0.5 + Math.random() / 2)
  return Math.max(own_ms, asked_ms ?? 0)
}

const isTemporary = (error: VintemError): boolean =>
  error instanceof ConnectionError ||
  error instanceof ServerError ||
  error instanceof RateLimitError ||
  error instanceof RequestTimeoutError ||
  error.code === 'idempotency_in_progress'

/** The header in milliseconds: seconds, or a date. */
function retryAfter(headers: Headers | null): number | null {
  const text = headers?.get('retry-after')
  if (!text) return null
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isNaN(ms) ? null : Math.max(ms, 0)
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, ms)
    signal?.addEventListener('abort', end, { once: true })
    if (signal?.aborted) end()
  })
}
