import type { WithResponse } from './answer.ts'
import type { CallOptions, Method } from './call.ts'
import {
  ConnectionError,
  errorOf,
  RateLimitError,
  RequestTimeoutError,
  ServerError,
  TimeoutError,
  VintemError,
} from './errors.ts'
import { randomName } from './web-crypto.js'

export type Settings = {
  url: string
  key: string
  version: string
  timeout_ms: number
  retries: number
  fetch: typeof fetch
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
  const url = addressOf(settings, request)
  const headers = await headersOf(settings, request, options)
  const body = request.body === undefined ? null : JSON.stringify(request.body)
  const init: RequestInit = { method: request.method, headers, body, redirect: 'manual' }
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await sendOnce<T>(settings, url, init, timeout_ms, signal)
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      if (error instanceof VintemError) error.idempotencyKey = headers.get('idempotency-key')
      const pause_ms = attempt < retries ? pauseAfter(error, attempt) : null
      if (pause_ms === null) throw error
      await pause(pause_ms, signal)
    }
  }
}

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
  headers.set('x-api-key', key)
  headers.set('x-api-version', version)
  if (body !== undefined) headers.set('content-type', 'application/json')
  if (method !== 'GET') {
    headers.set('idempotency-key', options.idempotencyKey ?? (await randomName()))
  }
  return headers
}

/** One attempt, ended by the caller's signal or when its time is over. */
async function sendOnce<T>(
  { fetch, version }: Settings,
  url: URL,
  init: RequestInit,
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
  const what = `${init.method} ${url.origin}${url.pathname}`
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
  // A redirect is not followed, because it would take the key to another server.
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    const message = `${what}: the server redirects to another address; set url to that one`
    throw new VintemError({ message, code: 'unreadable_answer', status, requestId, headers })
  }
  const body = parse(text)
  if (!response.ok) throw errorOf(status, headers, body)
  if (headers.get('content-type')?.startsWith('text/csv')) {
    return { data: text as T, status, headers, requestId }
  }
  const data = dataOf(body, version)
  if (data === undefined) {
    const message = `${what}: the answer is none of Vintém; is this its address?`
    throw new ConnectionError({ message, code: 'unreadable_answer', status, requestId, headers })
  }
  return { data: data as T, status, headers, requestId }
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
