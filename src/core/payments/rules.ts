import type { Uuid } from '../../lib/ids.ts'
import { type Cents, toCents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import type { ReceivedPix, Source } from '../../provider/port.ts'
import { namedBy } from '../../provider/txid.ts'
import type { UnmatchedReason } from '../charges/rules.ts'
import type { Company } from '../companies/rules.ts'

/** The states of a received payment. Only UNMATCHED waits for a decision. */
export const PAYMENT_STATES = ['MATCHED', 'UNMATCHED', 'ACCEPTED', 'REFUNDING', 'REFUNDED'] as const
export type PaymentState = (typeof PAYMENT_STATES)[number]

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
  chargeId: Uuid | null
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

/** How much of a payment waits for a decision. */
export const undecidedOf = ({ amount, returned }: Payment): Cents => toCents(amount - returned)

export function requireUnmatched({ status }: Payment): void {
  if (status === 'UNMATCHED') return
  throw problem('payment_not_unmatched', `The payment is ${status} and waits for no decision.`)
}
