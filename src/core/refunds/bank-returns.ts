import type { Tx } from '../../db/database.ts'
import { bankReturn, disputeLost, type Posting } from '../../ledger/recipes.ts'
import { assert } from '../../lib/assert.ts'
import { newId, toPublic } from '../../lib/ids.ts'
import { type Cents, toCents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import { returnBody } from '../../provider/callback.ts'
import type { PixReturn, ReceivedPix, ReturnReason, Source } from '../../provider/port.ts'
import type { Uses } from '../app.ts'
import { record } from '../charges/record.ts'
import type { Charge } from '../charges/rules.ts'
import { type Company, requireSandbox } from '../companies/rules.ts'
import { recordEnd, releaseOf, setStatus, standingOf } from '../disputes/holds.ts'
import { postOfCharge } from '../disputes/parts.ts'
import {
  accept,
  accountNow,
  activeOf,
  afterRefund,
  afterReturn,
  chargeIn,
  type Dispute,
  isOpen,
  lostAtOnce,
  takenFromHold,
  withoutHold,
} from '../disputes/rules.ts'
import * as disputes from '../disputes/store.ts'
import { disputeEvent, emit, returnEvent } from '../events.ts'
import { composeBankReturn } from '../letters/companies.ts'
import { queueMails } from '../mails/store.ts'
import { type AppWithCallbacks, storeCallback } from '../payments/callbacks.ts'
import { lockPaid, type Paid } from '../payments/lock.ts'
import type { Payment } from '../payments/rules.ts'
import * as payments from '../payments/store.ts'
import { pendingOf, releaseOfRest } from './pending.ts'
import type { Refund } from './rules.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/**
 * Records what the bank has returned of payments by itself. Each return is recorded once, by its
 * payment and the scheme's id, so this can be repeated. The payments are recorded before. Those
 * that are not ours are left alone. Returns how many returns were new.
 */
export async function recordReturns(
  app: Uses<'clock' | 'counters' | 'db' | 'vault'>,
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
export async function recordReturnsOf(
  tx: Tx,
  app: Uses<'clock' | 'counters' | 'vault'>,
  company: Company,
  source: Source,
  { endToEndId, returns = [] }: Pick<ReceivedPix, 'endToEndId' | 'returns'>,
): Promise<number> {
  const now = app.clock.now()
  const of = await lockPaid(tx, company.id, source, endToEndId)
  if (!of) return 0
  const recorded = await store.listOfPayments(tx, company.id, source, [endToEndId])
  const fresh = rules.newReturns(returns, recorded)
  for (const one of fresh) await recordOne(tx, app, company, of, one, recorded, now)
  return fresh.length
}

/** Records one return, and changes `of` to the payment and the charge after it. */
async function recordOne(
  tx: Tx,
  app: Uses<'counters' | 'vault'>,
  company: Company,
  of: Paid,
  pixReturn: PixReturn,
  recorded: Refund[],
  now: Date,
): Promise<void> {
  const { payment } = of
  const dispute = await disputeOf(tx, of, recorded, pixReturn)
  const taking = await takingOf(tx, of, dispute, pixReturn)
  const { source } = taking
  // What waits for a decision is no money of the charge that the payment settles.
  const charge = source === 'unmatched' ? null : of.charge
  const refund = toRefund(payment, charge, pixReturn, taking)
  await store.insert(tx, refund)
  const after = dispute && endOf(dispute, refund, taking, now)
  if (dispute && after) await recordEnd(tx, dispute, after, charge?.externalId ?? null, now)
  else await recordClaim(tx, of, refund, now)
  if (charge) of.charge = await changeCharge(tx, charge, refund, now)
  const isDisputed = after !== null && isOpen(after)
  if (source === 'unmatched') {
    of.payment = rules.withReturn(payment, refund.amount, isDisputed)
    await payments.updateStatus(tx, of.payment)
  } else if (payment.status === 'DISPUTED' && after && !isDisputed) {
    await setStatus(tx, of, 'UNMATCHED')
  }
  const rest = charge ? await releaseOfRest(tx, charge, of.charge!) : []
  const given = after && !isOpen(after) && dispute!.held > 0 ? releaseOf(after, charge) : []
  const moved = { given, rest, charge: charge && of.charge }
  const available = payment.booked ? await book(tx, refund, moved, now) : 0
  await emit(tx, [returnEvent(refund, charge?.externalId ?? null, now)])
  await queueMails(tx, app.vault, [mailOf(company, refund, available, now)])
  const isPlay = payment.source === 'simulated'
  tx.afterCommit(() => app.counters.money('return', isPlay, refund.amount))
}

/**
 * The dispute that a return may be of. What the receiver has returned at the bank is of the same
 * part of the payment: of its charge, or of what is left beside that.
 */
async function disputeOf(
  tx: Tx,
  of: Paid,
  recorded: Refund[],
  { amount, reason }: PixReturn,
): Promise<Dispute | null> {
  const { companyId, source, endToEndId } = of.payment
  const underWay = recorded.filter(({ status }) => status === 'PROCESSING').map(({ id }) => id)
  const all = await disputes.lockOfPayment(tx, companyId, source, endToEndId)
  if (reason !== 'OTHER') return activeOf(all, underWay)
  const chargeId = chargeIn((await standingOf(tx, of, amount)).account, of)
  const ofPart = all.filter((dispute) => dispute.chargeId === chargeId)
  return activeOf(ofPart, underWay)
}

/** Where the money of a return comes from. */
type Taking = { source: rules.RefundSource; disputed: Cents }

/**
 * A return after a claim is taken from what is held for the dispute, any other return as a refund
 * is. If the rest is not where that was held from, all of it is taken from one account.
 */
async function takingOf(
  tx: Tx,
  of: Paid,
  dispute: Dispute | null,
  { amount, reason }: PixReturn,
): Promise<Taking> {
  const held = dispute?.held ?? 0
  const { left } = await standingOf(tx, of, amount)
  const disputed =
    reason === 'OTHER' ? takenFromHold(amount, left, held) : toCents(Math.min(amount, held))
  const pending = of.charge?.paymentStatus === 'PAID' ? await pendingOf(tx, of.charge) : 0
  const free = (without: number) => ({
    pending,
    unmatched: rules.freeOf(of.payment, dispute?.heldFrom === 'unmatched' ? without : 0),
  })
  const now = dispute && accountNow(dispute, of.charge)
  const rest = amount - disputed
  const source = rest > 0 ? rules.sourceOfReturn(rest, of.charge, free(held)) : now!
  if (disputed === 0 || source === now) return { source, disputed }
  const all = pending + (now === 'pending' ? held : 0)
  const whole = rules.sourceOfReturn(amount, of.charge, { ...free(0), pending: all })
  return { source: whole, disputed: toCents(0) }
}

/** The dispute after a return. What the receiver has returned at the bank is like a refund. */
function endOf(dispute: Dispute, refund: Refund, { disputed }: Taking, now: Date): Dispute {
  if (refund.bankReason !== 'OTHER') return afterReturn(dispute, disputed, refund.id, now)
  if (disputed > 0) return afterRefund(dispute, disputed, refund.id, now)
  return refund.amount >= dispute.held && dispute.held > 0
    ? { ...accept(withoutHold(dispute), now), refundId: refund.id }
    : dispute
}

/** A return after a claim of which the bank had told nothing: a dispute that is over already. */
async function recordClaim(tx: Tx, of: Paid, refund: Refund, now: Date): Promise<void> {
  const { amount, bankReason: reason, chargeId, id: refundId, finishedAt } = refund
  if (reason === null || reason === 'OTHER') return
  const given = { id: newId(), chargeId, amount, reason, refundId, openedAt: finishedAt! }
  const dispute = lostAtOnce(of, given, now)
  await disputes.insert(tx, dispute)
  const externalId = of.charge?.externalId ?? null
  await emit(tx, [disputeEvent('dispute.lost', dispute, externalId, now)])
}

const toRefund = (
  { companyId, endToEndId, source: paymentSource, booked }: Payment,
  charge: Charge | null,
  { returnId, amount, at, reason }: PixReturn,
  { source, disputed }: Taking,
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
  disputed,
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
 * Books a return, after what its dispute gives back and before the rest of its charge. Returns what
 * is available then.
 */
async function book(
  tx: Tx,
  refund: Refund,
  { given, rest, charge }: { given: Posting[]; rest: Posting[]; charge: Charge | null },
  now: Date,
): Promise<number> {
  const { companyId, disputed, chargeId, source } = refund
  const ref = toPublic('rfnd', refund.id)
  const amount = toCents(refund.amount - disputed)
  const postings: Posting[] = [
    ...given,
    ...(disputed > 0 ? [disputeLost({ ref, amount: disputed, chargeId })] : []),
    ...(amount > 0 ? [bankReturn({ ref, amount, chargeId }, source)] : []),
    ...rest,
  ]
  const books = await postOfCharge(tx, companyId, { charge, ref }, postings, now)
  return books.balance.available
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
  app: Uses<'clock' | 'counters' | 'providers' | 'vault'>,
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
