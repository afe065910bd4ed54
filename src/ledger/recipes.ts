import type { Uuid } from '../lib/ids.ts'
import type { Cents } from '../lib/money.ts'

/**
 * What we owe a company. A credit raises an account, a debit lowers it. A debit leaves no account
 * below zero, unless the bank has returned money by itself, or a payer disputes it: see `bankReturn`,
 * `disputeHeld` and `splitGiven`.
 */
export const ACCOUNTS = [
  'available',
  'pending',
  'held',
  'unmatched',
  'disputed',
  'recipients',
] as const
export type Account = (typeof ACCOUNTS)[number]

/** What the bank holds for a company: the other side of money that arrives or leaves. */
type Bank = 'bank'

export const KINDS = [
  'OPENING',
  'CHARGE_PAID',
  'FINE_PAID',
  'INTEREST_PAID',
  'CHARGE_SETTLED',
  'PAYMENT_UNMATCHED',
  'PAYMENT_ACCEPTED',
  'REFUND_HELD',
  'REFUND_PAID',
  'REFUND_RELEASED',
  'BANK_RETURN',
  'WITHDRAWAL_HELD',
  'WITHDRAWAL_PAID',
  'WITHDRAWAL_RELEASED',
  'DISPUTE_HELD',
  'DISPUTE_RELEASED',
  'DISPUTE_ACCEPTED',
  'DISPUTE_LOST',
  'SPLIT_SETTLED',
  'SPLIT_TAKEN',
  'SPLIT_GIVEN',
] as const
export type Kind = (typeof KINDS)[number]

/** One movement of money. A company has one posting for each kind and reference. */
export type Posting = {
  kind: Kind
  ref: string
  debit: Account | Bank
  credit: Account | Bank
  amount: Cents
  chargeId: Uuid | null
}

type Paid = { endToEndId: string; amount: Cents; chargeId: Uuid | null }

/** `ref` is the public id of a refund, a withdrawal or a dispute. */
type Order = { ref: string; amount: Cents; chargeId?: Uuid | null }

const posting = (
  kind: Kind,
  [debit, credit]: [Posting['debit'], Posting['credit']],
  { ref, amount, chargeId = null }: Order,
): Posting => ({ kind, ref, debit, credit, amount, chargeId })

const byPayment = ({ endToEndId, amount, chargeId }: Paid): Order => ({
  ref: endToEndId,
  amount,
  chargeId,
})

/** The play money of a new sandbox company. */
export const opening = (amount: Cents): Posting =>
  posting('OPENING', ['bank', 'available'], { ref: 'opening', amount })

/** A charge was paid. Its money is withdrawable only after the company's delay. */
export const chargePaid = (payment: Paid): Posting =>
  posting('CHARGE_PAID', ['bank', 'pending'], byPayment(payment))

/** Fine and interest are income of their own, beside the price of what was sold. */
export const finePaid = (payment: Paid, from: 'bank' | 'unmatched'): Posting =>
  posting('FINE_PAID', [from, 'pending'], byPayment(payment))

export const interestPaid = (payment: Paid, from: 'bank' | 'unmatched'): Posting =>
  posting('INTEREST_PAID', [from, 'pending'], byPayment(payment))

/** The delay is over: the money is released, except what refunds took from pending before. */
export const chargeReleased = (payment: Paid): Posting =>
  posting('CHARGE_SETTLED', ['pending', 'available'], byPayment(payment))

/** A payment matches no charge. It waits for the merchant's decision. */
export const paymentUnmatched = (payment: Paid): Posting =>
  posting('PAYMENT_UNMATCHED', ['bank', 'unmatched'], byPayment(payment))

/** The merchant keeps a payment that matched no charge. */
export const paymentAccepted = (payment: Paid): Posting =>
  posting('PAYMENT_ACCEPTED', ['unmatched', 'available'], byPayment(payment))

/** The bank or the merchant says later which charge unmatched money is for: it pays that charge. */
export const paymentMatched = (payment: Paid): Posting =>
  posting('CHARGE_PAID', ['unmatched', 'pending'], byPayment(payment))

/** The money of a refund is held first, so that it cannot be spent twice. */
export const refundHeld = (order: Order, source: Account): Posting =>
  posting('REFUND_HELD', [source, 'held'], order)

export const refundPaid = (order: Order): Posting => posting('REFUND_PAID', ['held', 'bank'], order)

/** The bank did not return the money. It goes back to the account that it would be in now. */
export const refundReleased = (order: Order, to: Account): Posting =>
  posting('REFUND_RELEASED', ['held', to], order)

/**
 * The bank has returned money without an order of ours. The money has left already, so this may
 * leave `available` below zero. The next money that becomes available fills it again.
 */
export const bankReturn = (order: Order, source: Account): Posting =>
  posting('BANK_RETURN', [source, 'bank'], order)

/** A company withdraws what is available, and a recipient is paid what it is owed. */
export const withdrawalHeld = (order: Order, source: Account = 'available'): Posting =>
  posting('WITHDRAWAL_HELD', [source, 'held'], order)

export const withdrawalPaid = (order: Order): Posting =>
  posting('WITHDRAWAL_PAID', ['held', 'bank'], order)

export const withdrawalReleased = (order: Order, to: Account = 'available'): Posting =>
  posting('WITHDRAWAL_RELEASED', ['held', to], order)

/** The delay is over: the recipients of a charge get their parts, and the company gets the rest. */
export const splitSettled = (payment: Paid): Posting =>
  posting('SPLIT_SETTLED', ['pending', 'recipients'], byPayment(payment))

/** Recipients pay their parts of what goes back to the payer. */
export const splitTaken = (order: Order): Posting =>
  posting('SPLIT_TAKEN', ['recipients', 'available'], order)

/**
 * It did not go back after all. Their parts were never the company's, so they get them also if its
 * balance is below zero for another reason.
 */
export const splitGiven = (order: Order): Posting =>
  posting('SPLIT_GIVEN', ['available', 'recipients'], order)

/**
 * The kinds that move an account which the version before did not know. That version leaves such
 * an account out of its postings, so what it held is found by these.
 */
export const MOVED_BY = {
  disputed: ['DISPUTE_HELD', 'DISPUTE_RELEASED', 'DISPUTE_ACCEPTED', 'DISPUTE_LOST'],
  recipients: [
    'SPLIT_SETTLED',
    'SPLIT_TAKEN',
    'SPLIT_GIVEN',
    'WITHDRAWAL_HELD',
    'WITHDRAWAL_RELEASED',
  ],
} as const satisfies { [account in Account]?: readonly Kind[] }

/** Kinds that may leave `available` below zero when they lower it. */
export const BELOW_ZERO: readonly Kind[] = ['BANK_RETURN', 'DISPUTE_HELD', 'SPLIT_GIVEN']

/**
 * A payer claims the money back. It is held also if it was withdrawn, so this may leave `available`
 * below zero.
 */
export const disputeHeld = (order: Order, source: Account): Posting =>
  posting('DISPUTE_HELD', [source, 'disputed'], order)

/** The dispute is over and the money stays. It goes back to the account that it would be in now. */
export const disputeReleased = (order: Order, to: Account): Posting =>
  posting('DISPUTE_RELEASED', ['disputed', to], order)

/** The company refunds what was held for a dispute. */
export const disputeAccepted = (order: Order): Posting =>
  posting('DISPUTE_ACCEPTED', ['disputed', 'held'], order)

/** The bank has returned what was held for a dispute. */
export const disputeLost = (order: Order): Posting =>
  posting('DISPUTE_LOST', ['disputed', 'bank'], order)
