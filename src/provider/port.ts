import type { Uuid } from '../lib/ids.ts'
import type { LocalDate } from '../lib/local-time.ts'
import type { Cents } from '../lib/money.ts'
import type { Frequency } from '../pix/calendar.ts'

/**
 * What a bank says of an order. A timeout is `unknown`, never `rejected`: the bank may have carried
 * it out, and only asking can tell.
 */
export type Outcome<T> =
  | { kind: 'accepted'; value: T }
  | { kind: 'rejected'; reason: string }
  | { kind: 'unknown'; reason: string }

/**
 * The company as a bank knows it. The simulated bank lives in its account's time: a test clock may
 * be ahead of everybody else's. A real bank has no use for that.
 */
export type Payee = {
  id: Uuid
  name: string
  city: string
  pixKey: string
  clockAhead_ms?: number
}

/**
 * Where a payment came from: play money through the simulated bank, or money through a real one. It
 * is part of what identifies a payment, so that neither can stand in the place of the other.
 */
export type Source = 'simulated' | 'bank'

/**
 * A Pix as the scheme confirms it. `txid` is the one we gave the charge or the static code; a Pix
 * that was sent to the key alone has none.
 */
export type ReceivedPix = {
  endToEndId: string
  txid: string | null
  amount: Cents
  receivedAt: Date
  payer?: PixPayer
}

/** Who has sent a Pix, as far as the bank tells. Some banks mask the tax id themselves. */
export type PixPayer = { name?: string; taxId?: string }

/** Money to send back to who paid it. Our id makes it one order, however often it is given. */
export type RefundOrder = { id: Uuid; endToEndId: string; amount: Cents }
/** `returnId` is the scheme's id of the money that went back. */
export type Returned = { returnId: string }

/** Money to send to a Pix key. Our id makes it one order, however often it is given. */
export type SendOrder = { id: Uuid; amount: Cents; pixKey: string }
export type Sent = { endToEndId: string }

/** What a bank has moved on its own account of it, to compare ours with. */
export type BankTransfer = {
  direction: 'received' | 'sent' | 'returned'
  endToEndId: string
  /** Our id of the order, for what was sent or returned. */
  orderId: Uuid | null
  /** What was received is for; null when it names nothing, or was sent or returned. */
  txid: string | null
  amount: Cents
  at: Date
}

/** From `from` on and before `to`. */
export type Period = { from: Date; to: Date }

export type { Frequency }
export type AgreementStatus = 'CREATED' | 'APPROVED' | 'REJECTED' | 'EXPIRED' | 'CANCELED'

/**
 * What a payer is asked to agree to. Our id makes it one agreement, however often it is ordered.
 */
export type AgreementOrder = {
  id: Uuid
  /** Every charge of it is of this value. */
  value: Cents
  frequency: Frequency
  description: string
  payer: { name: string; taxId: string }
  startsOn: LocalDate
  /** Whether a failed collection may be tried again: 3 times within 7 days. */
  retries: boolean
  /** Undecided by then it has expired. */
  expiresAt: Date
}

/** `decidedAt` is when it came to its status; null while it waits for the payer. */
export type Agreement = {
  externalId: string
  brCode: string
  status: AgreementStatus
  decidedAt: Date | null
}

/** A charge that the payer's bank collects on the due day. Its txid is `chargeTxid` of our id. */
export type CollectionOrder = {
  id: Uuid
  agreement: { id: Uuid; externalId: string }
  amount: Cents
  dueOn: LocalDate
}

export type Attempt = {
  on: LocalDate
  status: 'SCHEDULED' | 'PAID' | 'FAILED'
  endToEndId: string | null
}

/** FAILED: the last attempt has failed and none is scheduled. */
export type Collection = {
  status: 'SCHEDULED' | 'PAID' | 'FAILED' | 'CANCELED'
  attempts: Attempt[]
}

/**
 * The port to a bank that collects. Ids are ours, so that every order can be repeated and asked
 * about.
 */
export type Provider = {
  name: string
  source: Source
  issueCharge(
    payee: Payee,
    charge: { id: Uuid; amount: Cents; expiresAt: Date },
  ): Promise<Outcome<{ brCode: string }>>
  /** Rejected by a bank that knows it to be paid. Removed again is removed still. */
  removeCharge(payee: Payee, id: Uuid): Promise<Outcome<null>>
  /** What has arrived for a charge, whether or not anybody has told of it. */
  findPaid(payee: Payee, id: Uuid): Promise<Outcome<ReceivedPix[]>>
  issueStaticCode(
    payee: Payee,
    code: { id: Uuid; amount: Cents },
  ): Promise<Outcome<{ brCode: string }>>
  /** Those of the payments that the bank knows: what it does not confirm never counts. */
  findReceived(payee: Payee, endToEndIds: string[]): Promise<Outcome<ReceivedPix[]>>
  listReceived(payee: Payee, period: Period): Promise<Outcome<ReceivedPix[]>>
  /** Accepted means done. A bank that is still at it answers `unknown`. */
  refund(payee: Payee, order: RefundOrder): Promise<Outcome<Returned>>
  /** What became of an order that was given before; null when the bank never got it. */
  findRefund(payee: Payee, order: RefundOrder): Promise<Outcome<Returned | null>>
  listTransfers(payee: Payee, period: Period): Promise<Outcome<BankTransfer[]>>
  createAgreement(payee: Payee, order: AgreementOrder): Promise<Outcome<Agreement>>
  /** Null when the bank never got the order. */
  findAgreement(
    payee: Payee,
    agreement: { id: Uuid; externalId?: string },
  ): Promise<Outcome<Agreement | null>>
  /** Ends it, and with it what is scheduled of it. Rejected when it has ended in another way. */
  cancelAgreement(payee: Payee, agreement: { id: Uuid; externalId: string }): Promise<Outcome<null>>
  /**
   * Once for its id. Rejected when the agreement is not APPROVED, or when the due day is not 2 to
   * 10 days away.
   */
  scheduleCollection(payee: Payee, order: CollectionOrder): Promise<Outcome<Collection>>
  findCollection(payee: Payee, id: Uuid): Promise<Outcome<Collection | null>>
  /** One more attempt at a FAILED one. The same day again is the same attempt. */
  retryCollection(payee: Payee, id: Uuid, on: LocalDate): Promise<Outcome<Collection>>
  /** Canceled again is canceled still. Rejected when it is PAID, by some banks when it FAILED. */
  cancelCollection(payee: Payee, id: Uuid): Promise<Outcome<Collection>>
}

/** The port to a bank that sends money, which API Pix cannot: a withdrawal has a way of its own. */
export type Payouts = {
  name: string
  /** Accepted means done. A bank that is still at it answers `unknown`. */
  send(payee: Payee, order: SendOrder): Promise<Outcome<Sent>>
  /** What became of an order that was given before; null when the bank never got it. */
  findSent(payee: Payee, order: SendOrder): Promise<Outcome<Sent | null>>
}
