import { serializationConflict, type Tx } from '../../db/database.ts'
import { lockBooks, post } from '../../ledger/post.ts'
import { bankReturn, chargeReleased, type Posting } from '../../ledger/recipes.ts'
import { type Part, shiftParts } from '../../ledger/recipients.ts'
import { assert } from '../../lib/assert.ts'
import { newId, toPublic, type Uuid } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import { returnBody } from '../../provider/callback.ts'
import type { PixReturn, ReceivedPix, ReturnReason, Source } from '../../provider/port.ts'
import type { Uses } from '../app.ts'
import { lockCharge, record } from '../charges/record.ts'
import { type Charge, receivedOf } from '../charges/rules.ts'
import { partsOfChange } from '../charges/split.ts'
import { type Company, requireSandbox } from '../companies/rules.ts'
import { emit, returnEvent } from '../events.ts'
import { composeBankReturn } from '../letters/companies.ts'
import { queueMails } from '../mails/store.ts'
import { type AppWithCallbacks, storeCallback } from '../payments/callbacks.ts'
import { type Payment, paidCharge } from '../payments/rules.ts'
import * as payments from '../payments/store.ts'
import type { Refund } from './rules.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/**
 * Records what the bank has returned of payments by itself. Each return is recorded once, by its
 * payment and the scheme's id, so this can be repeated. The payments are recorded before. Those
 * that are not ours are left alone. Returns how many returns were new.
 */
export async function recordReturns(
  app: Uses<'clock' | 'db' | 'vault'>,
  company: Company,
  source: Source,
  received: ReceivedPix[],
): Promise<number> {
  const returned = received.filter(({ returns }) => returns !== undefined)
  if (returned.length === 0) return 0
  const ids = returned.map(({ endToEndId }) => endToEndId)
  const recorded = await store.listOfPayments(app.db, company.id, source, ids)
  let count = 0
  for (const pix of returned) {
    const own = recorded.filter(({ endToEndId }) => endToEndId === pix.endToEndId)
    if (rules.newReturns(pix.returns!, own).length === 0) continue
    count += await app.db.transaction((tx) => recordReturnsOf(tx, app, company, source, pix))
  }
  return count
}

/** Records what the bank has returned of one payment. */
async function recordReturnsOf(
  tx: Tx,
  app: Uses<'clock' | 'vault'>,
  company: Company,
  source: Source,
  { endToEndId, returns = [] }: Pick<ReceivedPix, 'endToEndId' | 'returns'>,
): Promise<number> {
  const now = app.clock.now()
  const of = await lockPayment(tx, company.id, source, endToEndId)
  if (!of) return 0
  const recorded = await store.listOfPayments(tx, company.id, source, [endToEndId])
  const fresh = rules.newReturns(returns, recorded)
  for (const one of fresh) await recordOne(tx, app, company, of, one, now)
  return fresh.length
}

/** A payment, and the charge that it has paid. */
type Paid = { payment: Payment; charge: Charge | null }

/** Locks a payment, after its charge. Null if it is not ours. */
async function lockPayment(
  tx: Tx,
  companyId: Uuid,
  source: Source,
  endToEndId: string,
): Promise<Paid | null> {
  const [seen] = await payments.findByIds(tx, companyId, source, [endToEndId])
  if (!seen) return null
  const chargeId = paidCharge(seen)
  const charge = chargeId ? await lockCharge(tx, companyId, chargeId) : null
  const payment = await payments.lock(tx, companyId, source, endToEndId)
  // If it has paid a charge in the meantime, that must be locked before it.
  if (paidCharge(payment!) !== chargeId) throw serializationConflict()
  return { payment: payment!, charge }
}

/** Records one return, and changes `of` to the payment and the charge after it. */
async function recordOne(
  tx: Tx,
  app: Uses<'vault'>,
  company: Company,
  of: Paid,
  pixReturn: PixReturn,
  now: Date,
): Promise<void> {
  const { payment } = of
  const pending = of.charge?.paymentStatus === 'PAID' ? await pendingOf(tx, of.charge) : 0
  const source = rules.sourceOfReturn(pixReturn.amount, payment, of.charge, pending)
  // What waits for a decision is no money of the charge that the payment settles.
  const charge = source === 'unmatched' ? null : of.charge
  const refund = toRefund(payment, charge, pixReturn, source)
  await store.insert(tx, refund)
  if (charge) of.charge = await changeCharge(tx, charge, refund, now)
  if (source === 'unmatched') {
    of.payment = rules.withReturn(payment, refund.amount)
    await payments.updateStatus(tx, of.payment)
  }
  // If nothing of the charge is released later, what it still has in pending is released now.
  const isOver = charge?.paymentStatus === 'PAID' && of.charge?.paymentStatus === 'REFUNDED'
  const left = isOver && source !== 'pending' ? pending : 0
  const parts = charge && of.charge ? partsOfChange(charge, of.charge) : []
  const available = payment.booked ? await book(tx, refund, { left, parts }, now) : 0
  await emit(tx, [returnEvent(refund, charge?.externalId ?? null, now)])
  await queueMails(tx, app.vault, [mailOf(company, refund, available, now)])
}

/** How much of a paid charge is in pending. */
async function pendingOf(tx: Tx, charge: Charge): Promise<number> {
  const { companyId, id } = charge
  return receivedOf(charge) - ((await store.heldFromPending(tx, companyId, [id])).get(id) ?? 0)
}

const toRefund = (
  { companyId, endToEndId, source: paymentSource, booked }: Payment,
  charge: Charge | null,
  { returnId, amount, at, reason }: PixReturn,
  source: rules.RefundSource,
): Refund => ({
  companyId,
  id: newId(),
  endToEndId,
  paymentSource,
  chargeId: charge?.id ?? null,
  amount,
  comment: null,
  bankReason: reason,
  source,
  booked,
  status: 'COMPLETED',
  failure: null,
  orderedAt: null,
  returnId,
  attempts: 0,
  nextAttemptAt: at,
  createdAt: at,
  finishedAt: at,
})

async function changeCharge(tx: Tx, charge: Charge, refund: Refund, now: Date): Promise<Charge> {
  const { companyId, id } = charge
  const refunded = rules.refundedOf(charge, await store.sumUnfailed(tx, companyId, id))
  const returned = await store.sumReturned(tx, companyId, id)
  const changed = rules.afterReturn({ ...charge, refunded }, returned)
  await record(tx, [{ charge: changed, event: 'charge.refunded', refund, at: now }])
  return changed
}

/**
 * Books a return, what its recipients pay of it, and what is left of its charge in pending. Returns
 * what is available then.
 */
async function book(
  tx: Tx,
  refund: Refund,
  { left, parts }: { left: number; parts: Part[] },
  now: Date,
): Promise<number> {
  const { companyId, endToEndId, amount, chargeId, source } = refund
  const books = await lockBooks(tx, companyId)
  const order = { ref: toPublic('rfnd', refund.id), amount, chargeId }
  const taken = await shiftParts(tx, companyId, order, parts)
  const postings: Posting[] = [
    ...taken.postings,
    bankReturn(order, source),
    ...(left > 0 ? [chargeReleased({ endToEndId, amount: toCents(left), chargeId })] : []),
  ]
  const after = await post(tx, companyId, postings, now, books, taken.entries)
  return after!.balance.available
}

function mailOf(company: Company, refund: Refund, available: number, now: Date) {
  const { chargeId, amount, endToEndId } = refund
  const letter = composeBankReturn(company, {
    amount,
    endToEndId,
    available,
    reason: refund.bankReason!,
    returnedAt: refund.finishedAt!,
    returnId: refund.returnId!,
    charge: chargeId === null ? null : toPublic('charge', chargeId),
  })
  return {
    companyId: company.id,
    kind: 'bank-return' as const,
    letter,
    expiresAt: null,
    createdAt: now,
  }
}

export const noPayment = () =>
  problem('payment_not_found', 'The company has received no payment with this id.')

/** A payment of which the simulated bank has returned something by itself. */
type ReturnedPix = { endToEndId: string; made: PixReturn }

/**
 * Lets the simulated bank return a payment of a sandbox company by itself, as banks do after a
 * claim of fraud. The same order again is the same return. Its callback is stored first: if this
 * process dies before the return is recorded, a task asks the bank for it.
 */
export async function returnAtSimulator(
  app: AppWithCallbacks,
  company: Company,
  endToEndId: string,
  { value, reason = 'FRAUD' }: { value?: number; reason?: ReturnReason },
  orderId: string,
): Promise<ReturnedPix> {
  requireSandbox(company)
  const { simulator } = app.providers
  const [payment] = await payments.findByIds(app.db, company.id, simulator.source, [endToEndId])
  if (!payment) throw noPayment()
  await storeCallback(app, company.id, simulator.name, returnBody(endToEndId))
  const amount = value === undefined ? null : toCents(value)
  const order = { endToEndId, amount, reason, orderId }
  const outcome = await simulator.returnByItself(company, order)
  if (outcome.kind === 'accepted') return { endToEndId, made: outcome.value }
  throw problem('refund_not_possible', `The bank returns nothing: ${outcome.reason}.`)
}

/** Records what the simulated bank has returned, and returns its record. */
export async function recordOwnReturn(
  tx: Tx,
  app: Uses<'clock' | 'providers' | 'vault'>,
  company: Company,
  { endToEndId, made }: ReturnedPix,
): Promise<Refund> {
  const { source } = app.providers.simulator
  await recordReturnsOf(tx, app, company, source, { endToEndId, returns: [made] })
  const recorded = await store.listOfPayments(tx, company.id, source, [endToEndId])
  const own = recorded.find(({ returnId }) => returnId === made.returnId)
  assert(own, 'a return of a known payment is recorded')
  return own
}
