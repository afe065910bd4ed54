import { assert } from '../../lib/assert.ts'
import type { Uuid } from '../../lib/ids.ts'
import { type Cents, toCents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import type { PixReturn, ReturnReason, Source } from '../../provider/port.ts'
import {
  accountOf,
  type Charge,
  type MoneyAccount,
  receivedOf,
  refundableOf,
} from '../charges/rules.ts'
import { isUndecided, type Payment, undecidedOf } from '../payments/rules.ts'

export const REFUND_STATES = ['PROCESSING', 'COMPLETED', 'FAILED'] as const
export type RefundState = (typeof REFUND_STATES)[number]

/** The account that the money of a refund is held from. */
export type RefundSource = MoneyAccount

/** Money that goes back to its payer, of a charge or of a payment that matched none. */
export type Refund = {
  companyId: Uuid
  id: Uuid
  endToEndId: string
  /** The source of the payment. The money goes back through the same bank. */
  paymentSource: Source
  chargeId: Uuid | null
  amount: Cents
  comment: string | null
  /** Why the bank has returned the money by itself; null if the company has ordered it. */
  bankReason: ReturnReason | null
  source: RefundSource
  /** How much of it was held for a dispute. The rest is from the source. */
  disputed: Cents
  booked: boolean
  status: RefundState
  failure: string | null
  orderedAt: Date | null
  returnId: string | null
  attempts: number
  nextAttemptAt: Date
  createdAt: Date
  finishedAt: Date | null
}

/** The scheme allows a return for 90 days. */
export const REFUND_DAYS = 90
const DAY_MS = 24 * 3600 * 1000

const impossible = (description: string) => problem('refund_not_possible', description)

/** Decides how much of a charge goes back, and from which account it is held. */
export function plan(
  charge: Charge,
  value: number | undefined,
  now: Date,
): { amount: Cents; source: RefundSource } {
  if (charge.status !== 'COMPLETED') {
    throw impossible(`The charge is ${charge.status}: only a paid charge can be refunded.`)
  }
  requireInTime(charge.paymentDate!, now)
  const left = refundableOf(charge)
  if (left === 0) throw impossible('The charge is already refunded in full.')
  const amount = toCents(value ?? left)
  if (amount > left) {
    throw impossible(`value: ${amount} cents are more than the ${left} that can still go back.`)
  }
  return { amount, source: accountOf(charge) }
}

export function requireInTime(receivedAt: Date, now: Date): void {
  if (now.getTime() - receivedAt.getTime() <= REFUND_DAYS * DAY_MS) return
  throw impossible(`The payment is older than the ${REFUND_DAYS} days in which it can go back.`)
}

export const complete = (refund: Refund, returnId: string, now: Date): Refund =>
  end(refund, { status: 'COMPLETED', returnId, finishedAt: now })

export const fail = (refund: Refund, failure: string, now: Date): Refund =>
  end(refund, { status: 'FAILED', failure, finishedAt: now })

function end(refund: Refund, result: Partial<Refund>): Refund {
  assert(refund.status === 'PROCESSING', 'a refund ends once')
  return { ...refund, ...result }
}

/** The charge after a return. If all of its money has gone back, it is REFUNDED. */
export const afterReturn = (charge: Charge, returned: number): Charge =>
  returned >= receivedOf(charge) ? { ...charge, paymentStatus: 'REFUNDED' } : charge

/**
 * Where the hold of a failed refund goes back to. If it was taken from pending money and the charge
 * was released in the meantime, it goes to available.
 */
export const releasedTo = ({ source }: Refund, charge: Charge): RefundSource =>
  source === 'pending' ? accountOf(charge) : source

/**
 * How much of a charge counts as refunded. While a refund is being ordered, the bank may return the
 * same money by itself: then it counts once.
 */
export const refundedOf = (charge: Charge, sum: number): Cents =>
  toCents(Math.min(receivedOf(charge), sum))

/**
 * Whether the bank has returned by itself what a refund of an unmatched payment should return. If
 * the payment settles a charge, what the bank returns counts as money of the charge first.
 */
export function isGone({ amount }: Refund, { settled }: Payment, ofPayment: Refund[]): boolean {
  const taken = ofPayment
    .filter(({ bankReason, source }) => bankReason !== null && source !== 'unmatched')
    .reduce((sum, refund) => sum + refund.amount, 0)
  return taken - (settled?.amount ?? 0) >= amount
}

/** The returns that are no order of ours and not recorded yet. */
export const newReturns = (returns: PixReturn[], recorded: Refund[]): PixReturn[] =>
  returns.filter(
    ({ returnId, orderId }) =>
      !recorded.some((refund) => refund.returnId === returnId || refund.id === orderId),
  )

/** What is not held for a dispute: of a paid charge in pending, of a payment that is unmatched. */
type Free = { pending: number; unmatched: number }

/** What of a payment waits for a decision and is not held for a dispute. */
export const freeOf = (payment: Payment, held: number): number =>
  isUndecided(payment) ? Math.max(0, undecidedOf(payment) - held) : 0

/**
 * The account that money is taken from which the bank has returned by itself: the one that it is
 * in. If it is not there any more, or is held for a refund, it is taken from available.
 */
export function sourceOfReturn(amount: number, charge: Charge | null, free: Free): RefundSource {
  if (amount <= free.unmatched) return 'unmatched'
  if (charge === null || amount > free.pending) return 'available'
  return accountOf(charge)
}

/**
 * A payment of which the bank has returned a part. If nothing is left, it waits no more. If nobody
 * disputes it any more, it waits as before.
 */
export function withReturn(payment: Payment, amount: Cents, isDisputed: boolean): Payment {
  const after = { ...payment, returned: toCents(payment.returned + amount) }
  if (undecidedOf(after) === 0) return { ...after, status: 'REFUNDED' }
  return { ...after, status: isDisputed ? 'DISPUTED' : 'UNMATCHED' }
}
