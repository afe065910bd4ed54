import type { Uuid } from '../../lib/ids.ts'
import type { Cents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import type { UnmatchedReason } from '../charges/rules.ts'
import type { Company } from '../companies/rules.ts'

/** Banks list a payment a little later than they book it. */
export const OVERLAP_MS = 600_000

/** What has become of money that arrived. Only the unmatched waits for somebody's decision. */
export const PAYMENT_STATES = ['MATCHED', 'UNMATCHED', 'ACCEPTED', 'REFUNDING', 'REFUNDED'] as const
export type PaymentState = (typeof PAYMENT_STATES)[number]

/** A Pix that arrived, as the company has it. */
export type Payment = {
  companyId: Uuid
  id: Uuid
  endToEndId: string
  txid: string | null
  amount: Cents
  chargeId: Uuid | null
  status: PaymentState
  reason: UnmatchedReason | null
  booked: boolean
  receivedAt: Date
  createdAt: Date
  /** Who has sent it, sealed; only known of money that pays no charge. */
  payer: Buffer | null
}

/**
 * Whether money that came through the simulated bank counts: in a sandbox all of it does, in a live
 * company it is a trial and never becomes money.
 */
export const isBooked = (company: Company, provider: string): boolean =>
  company.mode === 'sandbox' || provider !== 'simulator'

/** The merchant keeps money that pays no charge. */
export function accept(payment: Payment): Payment | 'already-accepted' {
  if (payment.status === 'ACCEPTED') return 'already-accepted'
  requireUnmatched(payment)
  return { ...payment, status: 'ACCEPTED' }
}

export function requireUnmatched({ status }: Payment): void {
  if (status === 'UNMATCHED') return
  throw problem('payment_not_unmatched', `The payment is ${status} and waits for no decision.`)
}
