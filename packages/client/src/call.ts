import type { Answer, List } from './answer.ts'
import type { VintemError } from './errors.ts'

/** What one call may have otherwise than the client. */
export type CallOptions = {
  /** Instead of the key of the client, for who works for several companies. */
  key?: string | undefined
  /** Instead of one that the client makes. The same key and request act once within 24 hours. */
  idempotencyKey?: string | undefined
  /** Ends the call with the reason of the signal. */
  signal?: AbortSignal | undefined
  /** For each attempt, from the connection to the last byte of the answer. */
  timeout_ms?: number | undefined
  /** How often a call is tried again. */
  retries?: number | undefined
  /** More headers of the request. */
  headers?: Record<string, string> | undefined
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export type Parts = { query?: object | undefined; body?: object | undefined }

/** One attempt of a call, as a hook sees it. */
export type SentRequest = {
  method: Method
  url: URL
  /** The API key is one of them: do not log them all. */
  headers: Headers
  /** JSON, or null. */
  body: string | null
  /** How often it was tried before. */
  attempt: number
}

/** How an attempt has ended. */
export type ReceivedResponse = {
  request: SentRequest
  /** The HTTP status; null if there was no answer. */
  status: number | null
  headers: Headers | null
  requestId: string | null
  /** Fields of the body that the server does not know and has left out. */
  ignoredFields: string[]
  /** Milliseconds from the request to the last byte of the answer. */
  latency_ms: number
  /** What the call fails with, unless it is tried again. */
  error: VintemError | null
}

/** Called for each attempt. If one throws, the call fails with that and is not tried again. */
export type Hooks = {
  /** Before it is sent. Headers that are set here are sent. */
  onRequest?: ((request: SentRequest) => void | Promise<void>) | undefined
  /** After its answer was read, or there was none. */
  onResponse?: ((response: ReceivedResponse) => void | Promise<void>) | undefined
}

/** What resources send their requests with. */
export type Caller = {
  call<T>(method: Method, path: string, parts: Parts, options: CallOptions): Answer<T>
  list<T>(path: string, query: object, options: CallOptions): List<T>
}

/** A path whose ids are escaped, so that each is one segment of it. */
export function path(texts: TemplateStringsArray, ...ids: string[]): string {
  return texts.reduce((before, text, i) => before + segment(ids[i - 1]) + text)
}

function segment(id: unknown): string {
  if (typeof id === 'string' && !/^\.{0,2}$/.test(id)) return encodeURIComponent(id)
  throw new TypeError(`id: must be a text such as charge_…, not ${JSON.stringify(id) ?? typeof id}`)
}
