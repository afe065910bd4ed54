import type { Tx } from '../../db/database.ts'
import { post, readBalance } from '../../ledger/post.ts'
import { disputeHeld, disputeReleased, type Posting } from '../../ledger/recipes.ts'
import { toPublic, type Uuid } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import type { Uses } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { disputeEvent, emit } from '../events.ts'
import { composeDispute, type DisputeNews } from '../letters/disputes.ts'
import { queueMails } from '../mails/store.ts'
import type { Paid } from '../payments/lock.ts'
import { updateStatus } from '../payments/store.ts'
import type { Dispute } from './rules.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

export type DisputeApp = Uses<'clock' | 'vault'>

export const refOf = ({ id }: Pick<Dispute, 'id'>): string => toPublic('dispute', id)

/** Where the money of a locked payment is. */
export async function standingOf(tx: Tx, paid: Paid, claimed: number): Promise<rules.Standing> {
  const { companyId, source, endToEndId, status } = paid.payment
  const isKept = paid.charge === null && status === 'ACCEPTED'
  const returned = isKept ? await store.sumOfKept(tx, companyId, source, endToEndId) : 0
  return rules.standingOf(paid, claimed, returned)
}

export async function setStatus(
  tx: Tx,
  paid: Paid,
  status: Paid['payment']['status'],
): Promise<void> {
  paid.payment = { ...paid.payment, status }
  await updateStatus(tx, paid.payment)
}

/** The posting of what a dispute gives back at its end, if that is anything. */
export function releaseOf(dispute: Dispute, charge: Paid['charge']): Posting[] {
  const { released: amount, chargeId } = dispute
  const order = { ref: refOf(dispute), amount, chargeId }
  return amount > 0 ? [disputeReleased(order, rules.accountNow(dispute, charge))] : []
}

/** The event of what has happened to a dispute, and the mail to the company. */
export async function announce(
  tx: Tx,
  app: DisputeApp,
  company: Company,
  { charge }: Pick<Paid, 'charge'>,
  dispute: Dispute,
  said: DisputeNews,
): Promise<void> {
  const now = app.clock.now()
  const { chargeId, amount, reason, endToEndId, deadline } = dispute
  const hours = said.news === 'deadline' ? said.hours : undefined
  const externalId = charge?.externalId ?? null
  await emit(tx, [disputeEvent(`dispute.${said.news}`, dispute, externalId, now, hours)])
  // Not locked: of several disputes, the charge of the next one would be locked after it.
  const { available } = await readBalance(tx, company.id)
  const about = { dispute: refOf(dispute), amount, reason, endToEndId, deadline }
  const ofCharge = chargeId === null ? null : toPublic('charge', chargeId)
  const letter = composeDispute(company, { ...about, charge: ofCharge, available }, said)
  const mail = { companyId: company.id, kind: 'dispute' as const, letter, expiresAt: null }
  await queueMails(tx, app.vault, [{ ...mail, createdAt: now }])
}

/** Writes a dispute that a refund or a return has changed, and the event if it ended by that. */
export async function recordEnd(
  tx: Tx,
  before: Dispute,
  dispute: Dispute,
  externalId: string | null,
  now: Date,
): Promise<void> {
  await store.update(tx, dispute)
  const type = dispute.status === 'ACCEPTED' ? 'dispute.accepted' : 'dispute.lost'
  const isEnd = before.status !== dispute.status && !rules.isOpen(dispute)
  if (isEnd) await emit(tx, [disputeEvent(type, dispute, externalId, now)])
}

/**
 * Holds again what a failed refund has given back. The refund has released its money to where it
 * would be now. Tells the company if the dispute is open again.
 */
export async function holdAgain(
  tx: Tx,
  app: Uses<'vault'>,
  paid: Paid,
  refund: { id: Uuid; disputed: number },
  now: Date,
): Promise<void> {
  const { companyId, source, endToEndId } = paid.payment
  const ofPayment = await store.lockOfPayment(tx, companyId, source, endToEndId)
  const before = rules.settledBy(ofPayment, refund)
  if (!before) return
  // What was disputed of the charge is not of what the payment has left beside it, nor otherwise.
  const claimed = before.chargeId === null ? 0 : paid.payment.amount
  const standing = await standingOf(tx, paid, claimed)
  if (rules.chargeIn(standing.account, paid) !== before.chargeId) return
  const { dispute, missing } = rules.afterFailure(before, standing, now)
  if (missing === 0) return
  await store.update(tx, dispute)
  if (standing.account === 'unmatched') await setStatus(tx, paid, 'DISPUTED')
  const { chargeId } = dispute
  const held = { ref: toPublic('rfnd', refund.id), amount: toCents(missing), chargeId }
  await post(tx, companyId, [disputeHeld(held, standing.account)], now)
  if (before.status === dispute.status) return
  const company = await findCompany(tx, companyId)
  const own = { vault: app.vault, clock: { now: () => now } }
  await announce(tx, own, company!, paid, dispute, { news: 'opened' })
}
