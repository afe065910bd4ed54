import type { Tx } from '../../db/database.ts'
import { lockBooks, post } from '../../ledger/post.ts'
import {
  disputeAccepted,
  type Posting,
  refundHeld,
  refundPaid,
  refundReleased,
} from '../../ledger/recipes.ts'
import type { Shift } from '../../ledger/recipients.ts'
import { newId, toPublic, type Uuid } from '../../lib/ids.ts'
import { type Cents, toCents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import type { Uses } from '../app.ts'
import { lockCharge, record } from '../charges/record.ts'
import { type Charge, refundableOf } from '../charges/rules.ts'
import type { Company } from '../companies/rules.ts'
import { holdAgain, recordEnd } from '../disputes/holds.ts'
import { postOfCharge, shiftOf } from '../disputes/parts.ts'
import {
  accept,
  activeOf,
  afterRefund,
  type Dispute,
  isOpen,
  requireOpen,
  takenFromHold,
} from '../disputes/rules.ts'
import * as disputes from '../disputes/store.ts'
import { lockPaid, type Paid } from '../payments/lock.ts'
import { type Payment, requireUnmatched, undecidedOf } from '../payments/rules.ts'
import * as payments from '../payments/store.ts'
import { TASK } from '../tasks.ts'
import { releaseOfRest } from './pending.ts'
import type { Refund, RefundSource } from './rules.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/**
 * Records a refund of a charge and holds its money. A task orders it at the bank afterwards. If the
 * payer disputes the charge, what is held for that is a part of the refund.
 */
export async function refundCharge(
  tx: Tx,
  app: Uses<'clock' | 'providers'>,
  company: Company,
  chargeId: Uuid,
  { value, comment = null }: { value?: number; comment?: string | null },
): Promise<Refund> {
  const now = app.clock.now()
  const charge = await lockCharge(tx, company.id, chargeId)
  const { amount, source } = rules.plan(charge, value, now)
  const { booked } = charge
  // If no bank can carry it out, this throws before anything is held.
  const { source: paymentSource } = app.providers.of(company, !booked)
  const endToEndId = charge.endToEndId!
  const of = { companyId: company.id, source: paymentSource, endToEndId }
  const left = refundableOf(charge)
  const { dispute, disputed } = await disputedPart(tx, { ...of, chargeId }, amount, left)
  const held = { ...charge, refunded: toCents(charge.refunded + amount) }
  await record(tx, [{ charge: held, event: null, at: now }])
  const intent = { endToEndId, paymentSource, chargeId, amount, comment, source, disputed, booked }
  return begin(tx, company, intent, now, { dispute, charge: held })
}

/** Records a refund of a payment that matched no charge. If it is disputed, that ends by it. */
export async function refundPayment(
  tx: Tx,
  app: Uses<'clock' | 'providers'>,
  company: Company,
  endToEndId: string,
  { comment = null }: { comment?: string | null },
): Promise<Refund> {
  const now = app.clock.now()
  const payment = await payments.lockUnmatched(tx, company.id, endToEndId)
  if (!payment) throw problem('payment_not_found')
  if (payment.status !== 'DISPUTED') requireUnmatched(payment)
  rules.requireInTime(payment.receivedAt, now)
  const { booked, source: paymentSource } = payment
  const amount = undecidedOf(payment)
  app.providers.of(company, !booked)
  const rest = { ...payment, chargeId: null }
  const { dispute, disputed } = await disputedPart(tx, rest, amount, amount)
  await payments.updateStatus(tx, { ...payment, status: 'REFUNDING' })
  const of = { endToEndId, paymentSource, chargeId: null, booked }
  const intent = { ...of, amount, comment, source: 'unmatched' as const, disputed }
  return begin(tx, company, intent, now, { dispute, charge: null })
}

/**
 * Returns what a payer disputes, because the company agrees. That is a refund of what is held. If
 * nothing is held, it went back before, or is on its way. Repeated, it changes nothing. The dispute
 * is given as it was seen: its payment never changes, and is locked before it is read again.
 */
export async function acceptDispute(
  tx: Tx,
  app: Uses<'clock' | 'providers'>,
  company: Company,
  { id, paymentSource, endToEndId }: Pick<Dispute, 'id' | 'paymentSource' | 'endToEndId'>,
): Promise<{ dispute: Dispute; changed: boolean }> {
  const paid = await lockPaid(tx, company.id, paymentSource, endToEndId)
  const dispute = await disputes.find(tx, company.id, id, 'for update')
  if (dispute!.status === 'ACCEPTED') return { dispute: dispute!, changed: false }
  requireOpen(dispute!)
  await returnHeld(tx, app, company, paid!, dispute!)
  return { dispute: (await disputes.find(tx, company.id, id))!, changed: true }
}

async function returnHeld(
  tx: Tx,
  app: Uses<'clock' | 'providers'>,
  company: Company,
  { payment, charge }: Paid,
  dispute: Dispute,
): Promise<void> {
  const now = app.clock.now()
  const { held: amount, chargeId, endToEndId } = dispute
  if (amount === 0) {
    return recordEnd(tx, dispute, accept(dispute, now), charge?.externalId ?? null, now)
  }
  if (chargeId) await refundCharge(tx, app, company, chargeId, { value: amount })
  else if (payment.status === 'DISPUTED') await refundPayment(tx, app, company, endToEndId, {})
  else await refundKept(tx, app, company, payment, dispute)
}

/** Records a refund of a payment that was kept without a charge, and is disputed. */
async function refundKept(
  tx: Tx,
  app: Uses<'clock' | 'providers'>,
  company: Company,
  { endToEndId, source: paymentSource, receivedAt, booked }: Payment,
  dispute: Dispute,
): Promise<void> {
  const now = app.clock.now()
  rules.requireInTime(receivedAt, now)
  app.providers.of(company, !booked)
  const { held: amount } = dispute
  const of = { endToEndId, paymentSource, chargeId: null, booked, comment: null }
  const intent = { ...of, amount, source: 'available' as const, disputed: amount }
  await begin(tx, company, intent, now, { dispute, charge: null })
}

type Intent = Pick<
  Refund,
  | 'endToEndId'
  | 'paymentSource'
  | 'chargeId'
  | 'amount'
  | 'comment'
  | 'source'
  | 'disputed'
  | 'booked'
>

/** The dispute that a refund takes money from, if it takes any, and the charge after it. */
type Of = { dispute: Dispute | null; charge: Charge | null }

/**
 * How much of a refund is held for a dispute of the same part of its payment: of its charge, or of
 * what is left beside that. `left` is all that can go back.
 */
async function disputedPart(
  tx: Tx,
  {
    companyId,
    source,
    endToEndId,
    chargeId,
  }: Pick<Payment, 'companyId' | 'source' | 'endToEndId' | 'chargeId'>,
  amount: number,
  left: number,
): Promise<{ dispute: Dispute | null; disputed: Cents }> {
  const all = await disputes.lockOfPayment(tx, companyId, source, endToEndId)
  const ofPart = all.filter((dispute) => dispute.chargeId === chargeId)
  const dispute = activeOf(ofPart, [])
  if (!dispute) return { dispute, disputed: toCents(0) }
  return { dispute, disputed: takenFromHold(amount, left, dispute.held) }
}

async function begin(
  tx: Tx,
  company: Company,
  intent: Intent,
  now: Date,
  { dispute, charge }: Of,
): Promise<Refund> {
  const refund: Refund = {
    companyId: company.id,
    id: newId(),
    ...intent,
    bankReason: null,
    status: 'PROCESSING',
    failure: null,
    orderedAt: null,
    returnId: null,
    finishedAt: null,
    attempts: 0,
    nextAttemptAt: now,
    createdAt: now,
  }
  await store.insert(tx, refund)
  if (dispute && refund.disputed > 0) {
    const after = afterRefund(dispute, refund.disputed, refund.id, now)
    await recordEnd(tx, dispute, after, charge?.externalId ?? null, now)
  }
  if (refund.booked) await hold(tx, refund, charge, now)
  tx.wake(TASK.refunds)
  return refund
}

async function hold(tx: Tx, refund: Refund, charge: Charge | null, now: Date): Promise<void> {
  const { companyId, amount, source, disputed } = refund
  const books = await lockBooks(tx, companyId)
  const order = orderOf(refund)
  const taken = await shiftOf(tx, charge, order.ref)
  const own = books.balance[source]
  const rest = toCents(amount - disputed)
  if (rest > own - taken.moved && rest > 0) throw insufficient(rest, { source, own, taken })
  const postings = [
    ...taken.postings,
    ...(disputed > 0 ? [disputeAccepted({ ...order, amount: disputed })] : []),
    ...(rest > 0 ? [refundHeld({ ...order, amount: rest }, source)] : []),
  ]
  await post(tx, companyId, postings, now, books, taken.entries)
}

/** Says whose money lacks: the company's, or that of recipients beside it. */
function insufficient(
  amount: number,
  { source, own, taken }: { source: RefundSource; own: number; taken: Shift },
) {
  const fromRecipients =
    taken.entries.length === 0 ? '' : ` and the ${0 - taken.moved} cents of its recipients`
  return problem(
    'insufficient_balance',
    `value: ${amount} cents are more than the ${own} cents in the ${source} balance${fromRecipients}.`,
  )
}

const orderOf = ({ id, amount, chargeId }: Refund) => ({
  ref: toPublic('rfnd', id),
  amount,
  chargeId,
})

/** Records that the bank has returned the money. */
export async function completeRefund(
  tx: Tx,
  { counters }: Uses<'counters'>,
  { companyId, id }: Refund,
  returnId: string,
  now: Date,
): Promise<void> {
  const current = await store.find(tx, companyId, id, 'for update')
  if (current?.status !== 'PROCESSING') return
  const refund = rules.complete(current, returnId, now)
  await store.finish(tx, refund)
  const rest = refund.chargeId ? await announceReturn(tx, refund, refund.chargeId, now) : []
  if (refund.source === 'unmatched') await endPayment(tx, refund, now)
  await post(tx, companyId, refund.booked ? [refundPaid(orderOf(refund)), ...rest] : [], now)
  const isPlay = refund.paymentSource === 'simulated'
  tx.afterCommit(() => counters.money('refund', isPlay, refund.amount))
}

/** Tells of a refund of a charge. Returns the posting of what that leaves to be released. */
async function announceReturn(
  tx: Tx,
  refund: Refund,
  chargeId: Uuid,
  now: Date,
): Promise<Posting[]> {
  const { companyId } = refund
  const charge = await lockCharge(tx, companyId, chargeId)
  const returned = await store.sumReturned(tx, companyId, chargeId)
  const after = rules.afterReturn(charge, returned)
  await record(tx, [{ charge: after, event: 'charge.refunded', refund, at: now }])
  if (after.paymentStatus === 'REFUNDED') await settleEmpty(tx, refund, charge.externalId, now)
  return releaseOfRest(tx, charge, after)
}

/** If a dispute was opened while all of the payment was on its way back, it ends with that. */
async function settleEmpty(
  tx: Tx,
  { companyId, paymentSource, endToEndId, id, chargeId }: Refund,
  externalId: string | null,
  now: Date,
): Promise<void> {
  const all = await disputes.lockOfPayment(tx, companyId, paymentSource, endToEndId)
  const dispute = all.find(isOpen)
  if (!dispute || dispute.held > 0 || dispute.chargeId !== chargeId) return
  await recordEnd(tx, dispute, { ...accept(dispute, now), refundId: id }, externalId, now)
}

/**
 * Records that the bank has rejected the refund, and releases the hold. That counts only if no
 * other worker has claimed the refund since, because it may be ordering it at this moment. What
 * was disputed before is held for that again.
 */
export async function failRefund(
  tx: Tx,
  app: Uses<'vault'>,
  { companyId, id, attempts }: Refund,
  reason: string,
  now: Date,
): Promise<void> {
  const current = await store.find(tx, companyId, id, 'for update')
  if (current?.status !== 'PROCESSING' || current.attempts !== attempts) return
  const refund = rules.fail(current, reason, now)
  const { paymentSource, endToEndId } = refund
  await store.finish(tx, refund)
  // Locks the charge and the payment, in this order and before the books.
  await lockPaid(tx, companyId, paymentSource, endToEndId)
  const to = await releaseTo(tx, refund, now)
  if (!refund.booked) return
  await post(tx, companyId, [refundReleased(orderOf(refund), to)], now)
  const paid = await lockPaid(tx, companyId, paymentSource, endToEndId)
  if (!paid) return
  await holdAgain(tx, app, paid, refund, now)
  const { charge } = refund.chargeId === null ? { charge: null } : paid
  await postOfCharge(tx, companyId, { charge, ref: orderOf(refund).ref }, [], now)
}

async function releaseTo(tx: Tx, refund: Refund, now: Date): Promise<RefundSource> {
  if (refund.chargeId) return releaseOfCharge(tx, refund, refund.chargeId, now)
  return refund.source === 'unmatched' ? releaseOfPayment(tx, refund) : refund.source
}

async function releaseOfCharge(
  tx: Tx,
  refund: Refund,
  chargeId: Uuid,
  now: Date,
): Promise<RefundSource> {
  const { companyId } = refund
  const charge = await lockCharge(tx, companyId, chargeId)
  const sum = await store.sumUnfailed(tx, companyId, chargeId)
  const released = { ...charge, refunded: rules.refundedOf(charge, sum) }
  await record(tx, [{ charge: released, event: null, at: now }])
  return rules.releasedTo(refund, charge)
}

/** If the bank has returned the payment by itself, nothing of it waits for a decision. */
async function releaseOfPayment(tx: Tx, refund: Refund): Promise<RefundSource> {
  const { companyId, paymentSource, endToEndId } = refund
  const ofPayment = await store.listOfPayments(tx, companyId, paymentSource, [endToEndId])
  const payment = await payments.lock(tx, companyId, paymentSource, endToEndId)
  const isGone = rules.isGone(refund, payment!, ofPayment)
  await payments.updateStatus(tx, { ...payment!, status: isGone ? 'REFUNDED' : 'UNMATCHED' })
  return isGone ? 'available' : 'unmatched'
}

async function endPayment(tx: Tx, refund: Refund, now: Date): Promise<void> {
  const { companyId, endToEndId, paymentSource } = refund
  const payment = await payments.lock(tx, companyId, paymentSource, endToEndId)
  await payments.updateStatus(tx, { ...payment!, status: 'REFUNDED' })
  await settleEmpty(tx, refund, null, now)
}
