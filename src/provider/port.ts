import type { Uuid } from '../lib/ids.ts'
import type { Cents } from '../lib/money.ts'
import type { Frequency } from '../pix/calendar.ts'
import type { DueAmount, DueTerms } from '../pix/due-amount.ts'
import type { LocalDate } from '../pix/local-time.ts'

/**
 * The outcome of an order or a question at a bank. A timeout is `unknown`, never `rejected`,
 * because the bank may have carried the order out; it must be asked.
 */
export type Outcome<T> =
  /** `unread` has the ids of entries that are not understood. They are not in the value. */
  | { kind: 'accepted'; value: T; unread?: string[] }
  | { kind: 'rejected'; reason: string }
  /** `retryAfter_s` is how long to wait before the next request, if the bank says so. */
  | { kind: 'unknown'; reason: string; retryAfter_s?: number }

/**
 * The company as a bank knows it. `clockAhead_ms` is for the simulated bank, which uses the test
 * clock of the company. `bankId` is the id of its connection to a real bank.
 */
export type Payee = {
  id: Uuid
  name: string
  city: string
  pixKey: string
  clockAhead_ms?: number
  bankId?: Uuid | null
}

/**
 * The source of a payment: play money of the simulated bank, or money of a real bank. It is part of
 * a payment's key, so that play money never counts as real money.
 */
export type Source = 'simulated' | 'bank'

/**
 * A received Pix as the bank confirms it. `txid` is the one of our charge or static code; null when
 * the payer used only the key.
 */
export type ReceivedPix = {
  endToEndId: string
  txid: string | null
  amount: Cents
  receivedAt: Date
  payer?: PixPayer
  /** How the bank came to the amount of a charge with a due date, if it says so. */
  parts?: PaidParts
  /** What the bank has returned of it. Left out if that is nothing. */
  returns?: PixReturn[]
}

/**
 * Why a bank has returned money: the payer claims fraud, a failure of a bank, or a payment of a
 * subscription that the payer objects to. OTHER: the receiver did it at the bank, or the bank gives
 * no reason.
 */
export const RETURN_REASONS = [
  'FRAUD',
  'OPERATIONAL_FAILURE',
  'SUBSCRIPTION_CLAIM',
  'OTHER',
] as const
export type ReturnReason = (typeof RETURN_REASONS)[number]

/** Money of a payment that was returned to its payer. */
export type PixReturn = {
  /** The scheme's id of the return. */
  returnId: string
  /** Our id of the refund; null if it is no order of ours. */
  orderId: Uuid | null
  amount: Cents
  at: Date
  reason: ReturnReason
}

export type BankDisputeStatus = 'OPEN' | 'DEFENDED' | 'WON' | 'LOST' | 'CANCELED'

/**
 * A payer's claim for the money of a payment (MED), as the bank shows it. WON: the receiver keeps
 * the money. LOST: the bank returns it, or has done so.
 */
export type BankDispute = {
  /** The bank's id of it. */
  id: string
  endToEndId: string
  amount: Cents
  reason: ReturnReason
  status: BankDisputeStatus
  openedAt: Date
  /** Until when the bank takes a defense, if it says so. */
  deadline: Date | null
  /** When the bank decided, if it says so. */
  decidedAt: Date | null
}

/** What a receiver says against a dispute, by the bank's id of it. */
export type Defense = { id: string; text: string }

/** The payer of a Pix, as far as the bank names them. Some banks mask the tax id. */
export type PixPayer = { name?: string; taxId?: string }

/** The parts of an amount that depends on the day: see `DueAmount`. */
export type PaidParts = Omit<DueAmount, 'on' | 'total'>

/** A charge that the bank has. Banks keep those with a due date apart. */
export type ChargeRef = { id: Uuid; due?: object | null }

/** A charge to issue. The payer's bank shows the description. */
export type ChargeOrder = {
  id: Uuid
  amount: Cents
  expiresAt: Date
  description?: string | null
  payer?: { name: string; taxId: string } | null
  due?: { terms: DueTerms } | null
}

/**
 * Money to return to its payer, whose bank shows the comment. Because of our id it is carried
 * out once, also if it is sent again.
 */
export type RefundOrder = {
  id: Uuid
  endToEndId: string
  amount: Cents
  comment?: string | null
}
/** `returnId` is the scheme's id of the return. */
export type Returned = { returnId: string }

/** Money to send to a Pix key. Because of our id it is sent once, also if it is ordered again. */
export type SendOrder = {
  id: Uuid
  amount: Cents
  pixKey: string
  /** The bank's own id of the order, if it was stored. */
  reference?: string | null
  /** When the bank may first have got the order; null if it never has. */
  orderedAt?: Date | null
}
export type Sent = { endToEndId: string }
/** Stores the bank's own id of an order. It is durable when resolved. */
export type StoreReference = (reference: string) => Promise<void>

/** A transfer in the bank's own records, to compare with ours. */
export type BankTransfer = {
  direction: 'received' | 'sent' | 'returned'
  endToEndId: string
  /** Our id of the order; null for what was received, or not ordered by us. */
  orderId: Uuid | null
  /** What a received payment is for; null when it names nothing, or was sent or returned. */
  txid: string | null
  /** The payment that a return gives back; null for what was received or sent. */
  paymentId: string | null
  amount: Cents
  at: Date
}

/** From `from` until before `to`. */
export type Period = { from: Date; to: Date }

export type { Frequency }
export type AgreementStatus = 'CREATED' | 'APPROVED' | 'REJECTED' | 'EXPIRED' | 'CANCELED'

/**
 * An agreement that a payer is asked for. Because of our id there is one agreement, also if it
 * is ordered again.
 */
export type AgreementOrder = {
  id: Uuid
  /** The value of each charge. */
  value: Cents
  frequency: Frequency
  description: string
  payer: { name: string; taxId: string }
  startsOn: LocalDate
  /** Whether a failed collection may be retried: 3 times within 7 days. */
  retries: boolean
  /** If the payer has not decided by then, it has expired. */
  expiresAt: Date
}

/** `decidedAt` is when it got its status; null while it waits for the payer. */
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
 * The interface of a bank that collects. All ids are ours, so that every order can be repeated and
 * asked about.
 */
export type Provider = {
  name: string
  source: Source
  issueCharge(payee: Payee, charge: ChargeOrder): Promise<Outcome<{ brCode: string }>>
  /** A charge that is paid stays. Rejected if the bank refuses to remove it. Can be repeated. */
  removeCharge(payee: Payee, charge: ChargeRef): Promise<Outcome<'removed' | 'paid'>>
  /** The payments of a charge, also those without a callback. */
  findPaid(payee: Payee, charge: ChargeRef): Promise<Outcome<ReceivedPix[]>>
  issueStaticCode(
    payee: Payee,
    code: { id: Uuid; amount: Cents },
  ): Promise<Outcome<{ brCode: string }>>
  /** The payments with these ids that the bank has received. It leaves out all others. */
  findReceived(payee: Payee, endToEndIds: string[]): Promise<Outcome<ReceivedPix[]>>
  listReceived(payee: Payee, period: Period): Promise<Outcome<ReceivedPix[]>>
  /** The payments of a period of which something was returned, at any time. */
  listReturned(payee: Payee, period: Period): Promise<Outcome<ReceivedPix[]>>
  /** Accepted means done. If the bank is still working on it, the outcome is unknown. */
  refund(payee: Payee, order: RefundOrder): Promise<Outcome<Returned>>
  /** The outcome of an earlier order; null when the bank never got it. */
  findRefund(payee: Payee, order: RefundOrder): Promise<Outcome<Returned | null>>
  listTransfers(payee: Payee, period: Period): Promise<Outcome<BankTransfer[]>>
  /** The disputes that were opened in a period. None if the bank does not tell of them. */
  listDisputes(payee: Payee, period: Period): Promise<Outcome<BankDispute[]>>
  /**
   * Can be repeated. 'not taken': the bank takes no defenses this way. Rejected if it does not take
   * this one any more.
   */
  sendDefense(payee: Payee, defense: Defense): Promise<Outcome<'sent' | 'not taken'>>
  createAgreement(payee: Payee, order: AgreementOrder): Promise<Outcome<Agreement>>
  /** Null when the bank never got the order. */
  findAgreement(
    payee: Payee,
    agreement: { id: Uuid; externalId?: string },
  ): Promise<Outcome<Agreement | null>>
  /** Ends it and its scheduled collections. Rejected when it has ended in another way. */
  cancelAgreement(payee: Payee, agreement: { id: Uuid; externalId: string }): Promise<Outcome<null>>
  /**
   * Schedules once for its id. Rejected when the agreement is not APPROVED, or when the due day is
   * not 2 to 10 days away.
   */
  scheduleCollection(payee: Payee, order: CollectionOrder): Promise<Outcome<Collection>>
  findCollection(payee: Payee, id: Uuid): Promise<Outcome<Collection | null>>
  /** Schedules another attempt of a FAILED one. The same day again is the same attempt. */
  retryCollection(payee: Payee, id: Uuid, on: LocalDate): Promise<Outcome<Collection>>
  /** Can be repeated. Rejected when it is PAID, and by some banks when it is FAILED. */
  cancelCollection(payee: Payee, id: Uuid): Promise<Outcome<Collection>>
}

/** The interface of a bank that sends money, which is no part of API Pix. */
export type Payouts = {
  name: string
  /**
   * Accepted means done. If the bank is still working on it, the outcome is unknown. If the bank
   * can be asked about the order only by an id of its own, that is stored as soon as it is known.
   */
  send(payee: Payee, order: SendOrder, store: StoreReference): Promise<Outcome<Sent>>
  /** The outcome of an earlier order; null when the bank never got it. */
  findSent(payee: Payee, order: SendOrder): Promise<Outcome<Sent | null>>
}
