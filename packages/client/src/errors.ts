import type { WithResponse } from './answer.ts'
import type { ErrorCode } from './generated/resources.ts'

/** One violation, as the API lists it. */
export type ErrorItem = {
  code: Code
  /** Which rule is broken and what to do; starts with the path of the field. */
  description: string
  /** With `withdrawal_pending`: the withdrawal that waits for its one-time code. */
  withdrawId?: string
}

/** A code of the API, of a newer server too, or one of the client itself. */
export type Code =
  | ErrorCode
  | 'connection_failed'
  | 'timeout'
  | 'unreadable_answer'
  | 'ignored_fields'
  | (string & {})

export type ErrorDetails = {
  message: string
  code: Code
  status?: number | null
  errors?: ErrorItem[]
  requestId?: string | null
  headers?: Headers | null
  cause?: unknown
}

/** Every error of the client. `code` is for programs, `message` for people. */
export class VintemError extends Error {
  /** The HTTP status; null if there was no answer. */
  readonly status: number | null
  readonly code: Code
  /** All violations. The first has the `code` and the message of this error. */
  readonly errors: ErrorItem[]
  /** Finds the request in the log of the server. */
  readonly requestId: string | null
  /** The headers of the answer. */
  readonly headers: Headers | null
  /**
   * The Idempotency-Key of the call; null if it only reads. Send it with the same call again, so
   * that the server acts once.
   */
  idempotencyKey: string | null = null

  constructor({ message, code, status, errors, requestId, headers, cause }: ErrorDetails) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = new.target.name
    this.status = status ?? null
    this.code = code
    this.errors = errors ?? [{ code, description: message }]
    this.requestId = requestId ?? null
    this.headers = headers ?? null
  }
}

/** There was no answer, or one that could not be read. Nobody knows whether it was processed. */
export class ConnectionError extends VintemError {}
/** There was no whole answer within `timeout_ms`. */
export class TimeoutError extends ConnectionError {}

/** 400: a field is missing or breaks its rule; `errors` has every violation. */
export class BadRequestError extends VintemError {}
/** 401: the key is missing, unknown or revoked. */
export class AuthenticationError extends VintemError {}
/** 403: the key lacks a scope, or the company is suspended. */
export class PermissionError extends VintemError {}
/** 404: there is no such record. */
export class NotFoundError extends VintemError {}
/** 408: the request did not arrive in time. */
export class RequestTimeoutError extends VintemError {}
/** 409: the state of the record does not allow it. */
export class ConflictError extends VintemError {}
/** 410: the one-time code has expired. */
export class GoneError extends VintemError {}
/** 413: the body is too large. */
export class PayloadTooLargeError extends VintemError {}
/** 415: the body is not JSON. */
export class UnsupportedMediaTypeError extends VintemError {}
/** 422: understood and refused, such as for lack of balance. */
export class UnprocessableError extends VintemError {}
/** 429: too many requests. */
export class RateLimitError extends VintemError {}
/** 431: the headers are too large. */
export class HeadersTooLargeError extends VintemError {}
/** 5xx: a fault of the server. */
export class ServerError extends VintemError {}
/** 503: the bank or the database cannot be reached. */
export class UnavailableError extends ServerError {}

/**
 * The call was carried out, and the server has left out fields of the body that it does not know:
 * they are mistyped, or newer than the server. Thrown only in strict mode.
 */
export class IgnoredFieldsError extends VintemError {
  /** Their paths, such as `customer.nmae`. A list that is cut off ends with `...`. */
  readonly fields: string[]
  /** What the server has answered. */
  readonly data: unknown

  constructor(
    what: string,
    { data, status, headers, requestId, ignoredFields }: WithResponse<unknown>,
  ) {
    const fields = ignoredFields.join(', ')
    const message = `${what} was carried out without ${fields}: the server knows no such field`
    super({ message, code: 'ignored_fields', status, requestId, headers })
    this.fields = ignoredFields
    this.data = data
  }
}

/** Any other status from 500 on is a ServerError, and the rest a VintemError. */
const CLASSES: Record<number, typeof VintemError> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  408: RequestTimeoutError,
  409: ConflictError,
  410: GoneError,
  413: PayloadTooLargeError,
  415: UnsupportedMediaTypeError,
  422: UnprocessableError,
  429: RateLimitError,
  431: HeadersTooLargeError,
  503: UnavailableError,
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** The error of an answer, in the form of either version. */
export function errorOf(status: number, headers: Headers, body: unknown): VintemError {
  const Class = CLASSES[status] ?? (status >= 500 ? ServerError : VintemError)
  const requestId = headers.get('x-request-id')
  const { message, errors } = readBody(body) ?? {
    message: `The server answered ${status} without a reason`,
    errors: [],
  }
  const code = errors[0]?.code ?? 'unreadable_answer'
  const items = errors.length > 0 ? { errors } : {}
  return new Class({ message, code, status, ...items, requestId, headers })
}

function readBody(body: unknown): { message: string; errors: ErrorItem[] } | null {
  if (typeof body !== 'object' || body === null) return null
  const { message, errors, error, withdrawId } = body as Record<string, unknown>
  if (!isText(message)) return null
  if (Array.isArray(errors)) {
    const items = errors.filter((item) => isText(item?.code) && isText(item?.description))
    return { message, errors: items }
  }
  // Version 2025-01-01 has one code, and in the conflict of withdrawals none.
  if (isText(withdrawId)) {
    return { message, errors: [{ code: 'withdrawal_pending', description: message, withdrawId }] }
  }
  return { message, errors: isText(error) ? [{ code: error, description: message }] : [] }
}
