/**
 * The error catalogue. Every answer that is not a success carries one of these codes; the reference
 * page is generated from here, and a code that is not here cannot be thrown.
 */
export const CATALOGUE = {
  invalid_json: [400, 'The body is not valid JSON.'],
  invalid_value: [400, 'A field is missing or breaks its rule. Up to 20 violations are listed.'],
  invalid_api_version: [400, 'X-Api-Version names no published version.'],
  unknown_placeholder: [400, 'A text has a placeholder in braces that letters do not know.'],
  charge_not_dev_mode: [400, 'Only charges created with devMode=true can be paid by simulation.'],
  otp_invalid: [400, 'The one-time code is wrong.'],
  missing_api_key: [401, 'The request has no X-API-KEY header.'],
  invalid_api_key: [401, 'The API key is unknown or revoked.'],
  insufficient_scope: [403, 'The API key lacks the scope that this operation needs.'],
  company_suspended: [
    403,
    'The operator has suspended the company: it can read, and change nothing.',
  ],
  client_certificate_required: [403, 'The client certificate of a bank is missing.'],
  route_not_found: [404, 'No operation has this method and path.'],
  charge_not_found: [404, 'The company has no charge with this id.'],
  plan_not_found: [404, 'The company has no plan with this id.'],
  link_not_found: [404, 'The company has no link with this id.'],
  customer_not_found: [404, 'The company has no customer with this id.'],
  product_not_found: [404, 'The company has no product with this id.'],
  webhook_not_found: [404, 'The company has no webhook with this id.'],
  event_not_found: [404, 'The company has no event with this id.'],
  recurrence_not_found: [404, 'The company has no subscription with this id.'],
  payment_not_found: [404, 'The company has no unmatched payment with this id.'],
  dispute_not_found: [404, 'The company has no dispute with this id.'],
  withdrawal_not_found: [404, 'The company has no withdrawal with this id.'],
  recipient_not_found: [404, 'The company has no recipient with this id.'],
  clock_not_found: [404, 'Only a sandbox company has a test clock.'],
  sandbox_only: [404, 'Only a sandbox company has this operation: it moves play money.'],
  charge_not_payable: [409, 'The charge is final: paid, expired or canceled.'],
  plan_not_cancelable: [409, 'Nothing of the plan can be canceled: all is paid or expired.'],
  link_closed: [409, 'The link sells nothing now: it is off, has ended or is sold out.'],
  link_changed: [409, 'The link costs something else than was shown.'],
  withdrawal_pending: [409, 'A withdrawal is waiting for its one-time code.'],
  idempotency_in_progress: [409, 'The first request with this Idempotency-Key is still running.'],
  withdrawal_not_confirmable: [409, 'The withdrawal no longer waits for its one-time code.'],
  withdrawal_not_approvable: [409, 'The withdrawal waits for no approval of this person.'],
  refund_not_possible: [409, 'The charge cannot be refunded by this value.'],
  dispute_not_open: [409, 'The dispute has ended, was defended, or its deadline is over.'],
  payment_not_unmatched: [409, 'The payment was already accepted or refunded.'],
  charge_not_settleable: [409, 'Only a charge that is OPEN or EXPIRED can be settled.'],
  charge_in_collection: [
    409,
    'The payer’s bank is collecting the charge of a subscription, so it cannot be settled.',
  ],
  payment_of_other_source: [409, 'Test payments settle test charges, and real ones real charges.'],
  recurrence_not_cancelable: [409, 'The subscription has already ended.'],
  clock_advancing: [409, 'The clock is still on its way to where it was moved before.'],
  recurrence_not_decidable: [409, 'The payer can no longer decide so on the subscription.'],
  books_differ: [
    409,
    'The audit found a difference between the books and the bank. Ask the operator.',
  ],
  bank_changed: [409, 'The bank connection was changed meanwhile. Look at it, and try again.'],
  recipient_key_changed: [
    409,
    'The Pix key of the recipient was changed less than a day ago. Payouts to it wait until then.',
  ],
  otp_expired: [410, 'The one-time code has expired.'],
  payload_too_large: [413, 'The body is larger than 64 KiB.'],
  unsupported_media_type: [415, 'The body is not sent as application/json.'],
  idempotency_key_reused: [422, 'The Idempotency-Key was first used for another request.'],
  insufficient_balance: [422, 'The available balance is smaller than the value.'],
  sales_limit_exceeded: [422, 'The monthly limit for static codes would be exceeded.'],
  sandbox_limit_exceeded: [
    422,
    'The simulated bank pays no more: a sandbox company holds at most R$ 100 billion. Withdraw some of it.',
  ],
  webhook_limit_exceeded: [422, 'The company has as many webhooks as it may have.'],
  product_not_recurring: [422, 'The product is not of type RECURRING.'],
  provider_rejected: [422, 'The bank refuses the order. The description has its reason.'],
  rate_limited: [429, 'Too many requests. Retry-After says when to go on.'],
  headers_too_large: [431, 'The request headers are larger than 16 KiB.'],
  internal_error: [500, 'A fault of ours. The request id finds it in the log.'],
  provider_unavailable: [503, 'The bank cannot be reached, or none is connected.'],
  service_unavailable: [
    503,
    'The database cannot be reached, or too many requests wait. Retry with the same Idempotency-Key.',
  ],
} as const satisfies Record<string, readonly [status: number, summary: string]>

export type ProblemCode = keyof typeof CATALOGUE

export type ErrorItem = { code: ProblemCode; description: string; withdrawId?: string }

/** At most this many violations are listed; the message counts all of them. */
export const MAX_LISTED = 20

/** The first violation, because most clients show the message only, and how many more there are. */
function summarize(first: string, more: number): string {
  if (more === 0) return first
  const rest = more === 1 ? '1 more field is' : `${more} more fields are`
  return `${first.replace(/\.$/, '')}, and ${rest} invalid`
}

/** What cannot be served now can usually be served soon. */
const RETRY_SOON = { 'Retry-After': '1' }

/**
 * An expected failure: thrown anywhere, rendered once at the edge. It has no stack, because its
 * code says what happened, and recording a stack is a large part of the cost of a refusal.
 */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly status: number
  readonly items: ErrorItem[]
  readonly headers: Record<string, string>

  constructor(items: [ErrorItem, ...ErrorItem[]], headers?: Record<string, string>) {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(summarize(items[0].description, items.length - 1))
    Error.stackTraceLimit = stackTraceLimit
    this.code = items[0].code
    this.status = CATALOGUE[this.code][0]
    this.items = items.slice(0, MAX_LISTED)
    this.headers = headers ?? (this.code === 'service_unavailable' ? RETRY_SOON : {})
  }
}

export function problem(
  code: ProblemCode,
  description: string = CATALOGUE[code][1],
  headers?: Record<string, string>,
): Problem {
  return new Problem([{ code, description }], headers)
}

/** One violation a line, each starting with the path of its field. */
export const invalid = (first: string, ...others: string[]): Problem =>
  allInvalid([first, ...others])

/** The same for a list that may be long. */
export function allInvalid([first, ...others]: [string, ...string[]]): Problem {
  const item = (description: string): ErrorItem => ({ code: 'invalid_value', description })
  return new Problem([item(first), ...others.map(item)])
}
