import type { Answer, List } from './answer.ts'

/** What one call may have otherwise than the client. */
export type CallOptions = {
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
