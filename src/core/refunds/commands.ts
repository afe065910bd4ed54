import type { Tx } from '../../db/database.ts'
import { lockBooks, post } from '../../ledger/post.ts'
import { refundHeld, refundPaid, refundReleased } from '../../ledger/recipes.ts'
import { type Part, type Shift, shiftParts } from '../../ledger/recipients.ts'
import { newId, toPublic, type Uuid } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import type { Uses } from '../app.ts'
import { lockCharge, record } from '../charges/record.ts'
import { partsOfChange } from '../charges/split.ts'
import type { Company } from '../companies/rules.ts'
import { requireUnmatched, undecidedOf } from '../payments/rules.ts'
import * as payments from '../payments/store.ts'
import { TASK } from '../tasks.ts'
import type { Refund, RefundSource } from './rules.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** Records a refund of a charge and holds its money. A task orders it at the bank afterwards. */
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
  const held = { ...charge, refunded: toCents(charge.refunded + amount) }
  await record(tx, [{ charge: held, event: null, at: now }])
  const endToEndId = charge.endToEndId!
  const intent = { endToEndId, paymentSource, chargeId, amount, comment, source, booked }
  return begin(tx, company, intent, now, partsOfChange(charge, held))
}

/** Records a refund of a payment that matched no charge. */
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
  requireUnmatched(payment)
  rules.requireInTime(payment.receivedAt, now)
  const { booked, source: paymentSource } = payment
  const amount = undecidedOf(payment)
  app.providers.of(company, !booked)
  await payments.updateStatus(tx, { ...payment, status: 'REFUNDING' })
  const of = { endToEndId, paymentSource, chargeId: null, booked }
  return begin(tx, company, { ...of, amount, comment, source: 'unmatched' }, now)
}

type Intent = Pick<
  Refund,
  'endToEndId' | 'paymentSource' | 'chargeId' | 'amount' | 'comment' | 'source' | 'booked'
>

/** `parts` is what the recipients of the charge pay of it. */
async function begin(
  tx: Tx,
  company: Company,
  intent: Intent,
  now: Date,
  parts: Part[] = [],
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
  if (refund.booked) await hold(tx, refund, parts, now)
  tx.wake(TASK.refunds)
  return refund
}

async function hold(tx: Tx, refund: Refund, parts: Part[], now: Date): Promise<void> {
  const { companyId, amount, source } = refund
  const books = await lockBooks(tx, companyId)
  const order = orderOf(refund)
  const taken = await shiftParts(tx, companyId, order, parts)
  const own = books.balance[source]
  if (amount > own - taken.moved) throw insufficient(amount, { source, own, taken })
  const postings = [...taken.postings, refundHeld(order, source)]
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
  { companyId, id }: Refund,
  returnId: string,
  now: Date,
): Promise<void> {
  const current = await store.find(tx, companyId, id, 'for update')
  if (current?.status !== 'PROCESSING') return
  const refund = rules.complete(current, returnId, now)
  await store.finish(tx, refund)
  if (refund.chargeId) await announceReturn(tx, refund, refund.chargeId, now)
  else await endPayment(tx, refund)
  await post(tx, companyId, refund.booked ? [refundPaid(orderOf(refund))] : [], now)
}

async function announceReturn(tx: Tx, refund: Refund, chargeId: Uuid, now: Date): Promise<void> {
  const { companyId } = refund
  const charge = await lockCharge(tx, companyId, chargeId)
  const returned = await store.sumReturned(tx, companyId, chargeId)
  const after = rules.afterReturn(charge, returned)
  await record(tx, [{ charge: after, event: 'charge.refunded', refund, at: now }])
}

/**
 * Records that the bank has rejected the refund, and releases the hold. That counts only if no
 * other worker has claimed the refund since, because it may be ordering it at this moment.
 */
export async function failRefund(
  tx: Tx,
  { companyId, id, attempts }: Refund,
  reason: string,
  now: Date,
): Promise<void> {
  const current = await store.find(tx, companyId, id, 'for update')
  if (current?.status !== 'PROCESSING' || current.attempts !== attempts) return
  const refund = rules.fail(current, reason, now)
  await store.finish(tx, refund)
  const { to, parts } = refund.chargeId
    ? await releaseOfCharge(tx, refund, refund.chargeId, now)
    : { to: await releaseOfPayment(tx, refund), parts: [] }
  if (!refund.booked) return
  const books = await lockBooks(tx, companyId)
  const order = orderOf(refund)
  const given = await shiftParts(tx, companyId, order, parts)
  const postings = [refundReleased(order, to), ...given.postings]
  await post(tx, companyId, postings, now, books, given.entries)
}

async function releaseOfCharge(
  tx: Tx,
  refund: Refund,
  chargeId: Uuid,
  now: Date,
): Promise<{ to: RefundSource; parts: Part[] }> {
  const { companyId } = refund
  const charge = await lockCharge(tx, companyId, chargeId)
  const sum = await store.sumUnfailed(tx, companyId, chargeId)
  const released = { ...charge, refunded: rules.refundedOf(charge, sum) }
  await record(tx, [{ charge: released, event: null, at: now }])
  return { to: rules.releasedTo(refund, charge), parts: partsOfChange(charge, released) }
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

async function endPayment(tx: Tx, { companyId, endToEndId, paymentSource }: Refund): Promise<void> {
  const payment = await payments.lock(tx, companyId, paymentSource, endToEndId)
  await payments.updateStatus(tx, { ...payment!, status: 'REFUNDED' })
}
