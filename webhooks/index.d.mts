/** Money is integer cents. */
export type Cents = number

export type ChargeEvent = {
  event:
    | 'Charge.Pending'
    | 'Charge.Processing'
    | 'Charge.Paid'
    | 'Charge.Received'
    | 'Charge.Expired'
    | 'Charge.Canceled'
    | 'Charge.Refunded'
  charge: {
    id: string
    /** The payment status at the moment of the event. */
    status: 'PENDING' | 'PROCESSING' | 'PAID' | 'RECEIVED' | 'EXPIRED' | 'REFUNDED'
    total: Cents
  }
}

export type PaymentEvent = {
  event: 'Payment.Unmatched'
  payment: {
    endToEndId: string
    amount: Cents
    reason: 'LATE' | 'CANCELED' | 'DUPLICATE' | 'WRONG_AMOUNT' | 'UNKNOWN'
    /** The charge it was meant for, where that is known. */
    chargeId?: string
  }
}

/** The bank returned money by itself, such as after a claim of fraud. */
export type PaymentReturnedEvent = {
  event: 'Payment.Returned'
  payment: {
    endToEndId: string
    returnId: string
    amount: Cents
    reason: 'FRAUD' | 'OPERATIONAL_FAILURE' | 'SUBSCRIPTION_CLAIM' | 'OTHER'
    /** The charge that it had paid, where there is one. */
    chargeId?: string
  }
}

export type WithdrawalEvent = {
  event: 'Withdrawal.Completed' | 'Withdrawal.Failed'
  withdrawal: { id: string; status: 'COMPLETED' | 'FAILED'; value: Cents }
}

export type SubscriptionEvent = {
  event: 'Subscription.Authorized' | 'Subscription.Rejected' | 'Subscription.Canceled'
  subscription: {
    id: string
    /** Its `recurrenceAuthStatus`. */
    status: 'APPROVED' | 'REJECTED' | 'CANCELED'
    /** Integer cents of each charge, as text. */
    value: string
    /** Why it was canceled, where neither the payer nor the merchant did it. */
    reason?: 'UNKNOWN_TO_BANK'
  }
}

/** Sent beside the `Charge.…` event of the same change. */
export type SubscriptionChargeEvent = {
  event: 'Subscription.Charge.Paid' | 'Subscription.Charge.Failed'
  subscription: { id: string }
  charge: { id: string; status: 'PAID' | 'EXPIRED'; total: Cents }
}

/** What `POST /webhook/{id}/test` sends. */
export type TestEvent = { event: 'Webhook.Test'; webhook: { id: string } }

/** `event.event` says which it is. */
export type WebhookEvent =
  | ChargeEvent
  | PaymentEvent
  | PaymentReturnedEvent
  | WithdrawalEvent
  | SubscriptionEvent
  | SubscriptionChargeEvent
  | TestEvent

/**
 * `Headers`, Node's `request.headers`, or a plain object; names in any case. `x-webhook-mode` says
 * whether it is play money (`sandbox`, `dev`) or money (`live`); it is not signed.
 */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined }

export type VerifyOptions = {
  /** How far from now a delivery may have been signed, into either direction: 300. */
  toleranceSeconds?: number
  /** The present, for tests. */
  now?: Date
  /**
   * Which signature counts. `standard-webhooks`, the default, signs id, time and body.
   * `x-webhook-signature` signs the body alone: a copy of the request is good for ever, so choose it
   * only where the other headers do not get through, and remember what you have handled.
   */
  scheme?: 'standard-webhooks' | 'x-webhook-signature'
}

export type RefusalReason =
  | 'missing-header'
  | 'malformed-timestamp'
  | 'too-old'
  | 'too-new'
  | 'wrong-signature'

/** A request that is not to be believed. Answer it with 400. */
export declare class WebhookVerificationError extends Error {
  readonly reason: RefusalReason
  constructor(reason: RefusalReason, message: string)
}

/**
 * Gives the event of a delivery that is genuine and recent.
 *
 * @param secret as shown when the webhook was made or its secret rotated; both while you change over
 * @param rawBody as it arrived, before any parsing: other bytes of the same JSON do not verify
 * @throws WebhookVerificationError when it is not genuine or not recent
 * @throws TypeError when the secret or the body is not of a form that could ever verify
 */
export declare function verify(
  secret: string | readonly string[],
  headers: WebhookHeaders,
  rawBody: string | Uint8Array,
  options?: VerifyOptions,
): WebhookEvent
