import {
  chargePaid,
  finePaid,
  interestPaid,
  type Posting,
  paymentMatched,
} from '../../ledger/recipes.ts'
import { toPublic, type Uuid } from '../../lib/ids.ts'
import { type Cents, toCents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import type { ReceivedPix, Source } from '../../provider/port.ts'
import { namedBy } from '../../provider/txid.ts'
import { type Charge, incomeOf, receivedOf, type UnmatchedReason } from '../charges/rules.ts'
import type { Company } from '../companies/rules.ts'

/**
 * The states of a received payment. Only UNMATCHED waits for a decision. What is DISPUTED waits
 * until that is over.
 */
export const PAYMENT_STATES = [
  'MATCHED',
  'UNMATCHED',
  'ACCEPTED',
  'REFUNDING',
  'REFUNDED',
  'DISPUTED',
] as const
export type PaymentState = (typeof PAYMENT_STATES)[number]

/** A charge that a payment settles: how much of the payment it got, and how much it lacks. */
export type Settled = { chargeId: Uuid; amount: Cents; shortfall: Cents }

/** A received Pix, as the company has it. */
export type Payment = {
  companyId: Uuid
  id: Uuid
  /** The same endToEndId from another source is another payment. */
  source: Source
  endToEndId: string
  txid: string | null
  amount: Cents
  /** How much of it the bank has returned by itself while it waited for a decision. */
  returned: Cents
  /** The charge that it names. */
  chargeId: Uuid | null
  /** The charge that the merchant has settled with it. */
  settled: Settled | null
  status: PaymentState
  reason: UnmatchedReason | null
  booked: boolean
  receivedAt: Date
  createdAt: Date
  /** The payer, sealed. Only kept if the payment matches no charge. */
  payer: Buffer | null
}

/**
 * What is recorded of a payment. `unknown`: it matched no charge because it named nothing that we
 * knew, and waits for a decision.
 */
export type Recorded = 'final' | 'unknown'

/** Whether a payment has to be matched: it is new, or the bank names what it is for only now. */
export const isToMatch = ({ txid }: ReceivedPix, recorded: Recorded | undefined): boolean =>
  recorded === undefined || (recorded === 'unknown' && namedBy(txid) !== null)

/** The source of the payments in a company's books. */
export const bookedSource = ({ mode }: Pick<Company, 'mode'>): Source =>
  mode === 'sandbox' ? 'simulated' : 'bank'

/**
 * Whether payments of a source are booked. In a sandbox those of the simulated bank are; in a live
 * company those are trials, and never become money.
 */
export const isBooked = (company: Pick<Company, 'mode'>, source: Source): boolean =>
  source === bookedSource(company)

/** The only source that can pay a charge or a static code. */
export const payableBy = (company: Pick<Company, 'mode'>, devMode: boolean): Source =>
  devMode ? 'simulated' : bookedSource(company)

/**
 * Whether anybody can pay a company's codes at the simulated bank. In production that is allowed
 * only for a sandbox: trials of a live company are paid with its API key.
 */
export const isPlayable = (
  { local }: { local: boolean },
  { mode }: Pick<Company, 'mode'>,
): boolean => local || mode === 'sandbox'

/** The payment after the merchant has decided to keep it. */
export function accept(payment: Payment): Payment | 'already-accepted' {
  if (payment.status === 'ACCEPTED') return 'already-accepted'
  requireUnmatched(payment)
  return { ...payment, status: 'ACCEPTED' }
}

/** How much of a payment the merchant decides about: what the bank and a charge have left. */
export const undecidedOf = ({ amount, returned, settled }: Payment): Cents =>
  toCents(amount - returned - (settled?.amount ?? 0))

/** Whether nobody has decided about a payment. */
export const isUndecided = ({ status }: Pick<Payment, 'status'>): boolean =>
  status === 'UNMATCHED' || status === 'DISPUTED'

/** The charge that a payment has paid, by itself or because the merchant has settled it. */
export const paidCharge = ({ status, chargeId, settled }: Payment): Uuid | null =>
  status === 'MATCHED' ? chargeId : (settled?.chargeId ?? null)

/** The payment after it has settled a charge. If something is left of it, that waits. */
export function withSettled(payment: Payment, charge: Charge): Payment {
  const { id: chargeId, shortfall } = charge
  const settled = { ...payment, settled: { chargeId, amount: receivedOf(charge), shortfall } }
  return undecidedOf(settled) === 0 ? { ...settled, status: 'ACCEPTED' } : settled
}

/** Throws if the payment cannot settle this charge, or has settled another one. */
export function requireSettling(
  company: Pick<Company, 'mode'>,
  payment: Payment,
  { devMode }: Charge,
): void {
  const { settled, source } = payment
  if (settled) {
    const id = toPublic('charge', settled.chargeId)
    throw problem('payment_not_unmatched', `The payment has settled ${id}. It settles no other.`)
  }
  requireUnmatched(payment)
  if (payableBy(company, devMode) === source) return
  throw problem(
    'payment_of_other_source',
    devMode
      ? 'chargeId: the charge is a test (devMode), and the payment is real money. Name a charge without devMode.'
      : 'chargeId: the charge is real, and the payment is a test. Name a charge with devMode.',
  )
}

export function requireUnmatched({ status }: Payment): void {
  if (status === 'UNMATCHED') return
  if (status === 'DISPUTED') {
    throw problem(
      'payment_not_unmatched',
      'The payer disputes the payment: refund it, or wait for the end of the dispute.',
    )
  }
  throw problem('payment_not_unmatched', `The payment is ${status} and waits for no decision.`)
}

/** The postings of a payment that pays a charge: its price, and what was added for its due date. */
export function postingsOfPaid(
  charge: Charge,
  endToEndId: string,
  from: 'bank' | 'unmatched',
): Posting[] {
  const { price, fine, interest } = incomeOf(charge)
  const of = (amount: Cents) => ({ endToEndId, amount, chargeId: charge.id })
  const paid = [(from === 'bank' ? chargePaid : paymentMatched)(of(price))]
  if (fine > 0) paid.push(finePaid(of(fine), from))
  if (interest > 0) paid.push(interestPaid(of(interest), from))
  return paid
}
