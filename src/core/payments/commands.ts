import type { Tx } from '../../db/database.ts'
import { lockBooks, post } from '../../ledger/post.ts'
import { paymentAccepted } from '../../ledger/recipes.ts'
import { assert } from '../../lib/assert.ts'
import { newId, toPublic, type Uuid } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import { reportsPayments } from '../../lib/tracing.ts'
import type { PixPayer, ReceivedPix } from '../../provider/port.ts'
import { accepted } from '../../provider/providers.ts'
import { chargeTxid } from '../../provider/txid.ts'
import type { Uses } from '../app.ts'
import { find as findBilling } from '../billings/store.ts'
import { insertCode } from '../charges/checkout.ts'
import { receiptMails } from '../charges/mails.ts'
import { lockCharge, record } from '../charges/record.ts'
import type { Charge } from '../charges/rules.ts'
import { amountAt, settle, simulation, withCode } from '../charges/rules.ts'
import { findMany } from '../charges/store.ts'
import { type Company, requireSandbox } from '../companies/rules.ts'
import { payerNamed } from '../customers/rules.ts'
import { sealPerson } from '../customers/sealing.ts'
import { findOrCreate } from '../customers/store.ts'
import { queueMails } from '../mails/store.ts'
import type { AppWithCallbacks } from './callbacks.ts'
import { matchPayments } from './match.ts'
import type { Payment } from './rules.ts'
import * as rules from './rules.ts'
import { openPayer } from './sealing.ts'
import * as store from './store.ts'

/**
 * Pays a dev-mode charge at the simulated bank. The charge's id is the id of the order, so that a
 * repeated call makes no second payment. If this process dies before the payment is matched,
 * reconciliation finds it.
 */
export async function paySimulated(
  app: AppWithCallbacks,
  company: Company,
  charge: Charge,
): Promise<{ charge: Charge; changed: boolean }> {
  const now = app.clock.now()
  const { simulator } = app.providers
  if (simulation(charge, now) === 'already-paid') return { charge, changed: false }
  if (charge.brCode === null) await issueCode(app, company, charge.id)
  const { at, ...sent } = await simulator.pay(company, {
    txid: chargeTxid(charge.id),
    amount: amountAt(charge, now),
    orderId: toPublic('charge', charge.id),
  })
  const payment = { endToEndId: sent.endToEndId, txid: sent.txid, amount: sent.amount }
  reportsPayments([payment.endToEndId])
  const [match] = await app.callbacks.match({
    app,
    company,
    payments: [{ ...payment, receivedAt: at }],
    arrival: { source: simulator.source, now },
    processed: [],
  })
  if (match?.kind === 'paid') return { charge: match.charge, changed: true }
  // Another payment was faster, or the charge has ended meanwhile.
  const [found] = await findMany(app.db, [charge])
  assert(found, 'a charge is never removed')
  assert(simulation(found, now) === 'already-paid', 'an open charge is paid by its exact amount')
  return { charge: found, changed: false }
}

/**
 * Sends a sandbox company a Pix to its key, which names no charge. The same order again is the same
 * payment. If this process dies before it is recorded, reconciliation finds it.
 */
export async function sendUnnamed(
  { providers }: Uses<'providers'>,
  company: Company,
  { amount, payer }: { amount: number; payer?: PixPayer },
  orderId: string,
): Promise<ReceivedPix> {
  requireSandbox(company)
  const order = { txid: null, amount: toCents(amount), orderId, ...(payer ? { payer } : {}) }
  const { endToEndId, txid, amount: sent, at } = await providers.simulator.pay(company, order)
  return { endToEndId, txid, amount: sent, receivedAt: at, ...(payer ? { payer } : {}) }
}

/** Records a payment that names no charge. */
export async function recordUnnamed(
  tx: Tx,
  app: Uses<'clock' | 'counters' | 'providers' | 'systemClock' | 'vault'>,
  company: Company,
  pix: ReceivedPix,
): Promise<Payment> {
  const { source } = app.providers.simulator
  await matchPayments(tx, app, company, [pix], { source, now: app.clock.now() })
  const [payment] = await store.findUnmatched(tx, company.id, [pix.endToEndId])
  assert(payment, 'a payment that names no charge matches none')
  return payment
}

/** Gives a dev-mode link the code that a simulated payment pays, unless it has one meanwhile. */
const issueCode = (
  app: Uses<'clock' | 'db' | 'providers'>,
  company: Company,
  chargeId: Uuid,
): Promise<void> =>
  app.db.transaction(async (tx) => {
    const charge = await lockCharge(tx, company.id, chargeId)
    const now = app.clock.now()
    if (charge.brCode !== null || simulation(charge, now) === 'already-paid') return
    // The simulated bank needs no network, so it may be called inside the transaction.
    const { id, amount, expiresAt, due } = charge
    const order = { id, amount, expiresAt, due }
    const { brCode } = accepted(await app.providers.simulator.issueCharge(company, order))
    const change = withCode(charge, brCode, now)
    await insertCode(tx, charge, change.at, newId())
    await record(tx, [change])
  })

/** The merchant keeps a payment that matches no charge: what is left of it is available at once. */
export async function acceptPayment(
  tx: Tx,
  companyId: Uuid,
  endToEndId: string,
  now: Date,
): Promise<{ payment: Payment; changed: boolean }> {
  const payment = await lockUnmatched(tx, companyId, endToEndId)
  const kept = rules.accept(payment)
  if (kept === 'already-accepted') return { payment, changed: false }
  await store.updateStatus(tx, kept)
  const money = { ...kept, amount: rules.undecidedOf(kept) }
  await post(tx, companyId, kept.booked ? [paymentAccepted(money)] : [], now)
  return { payment: kept, changed: true }
}

/** Who has sent money that the merchant keeps is a customer, as who pays a charge. */
export async function keepPayer(
  tx: Tx,
  app: Uses<'clock' | 'vault'>,
  company: Company,
  payment: Payment,
): Promise<void> {
  // A charge that it names or has settled has its payer.
  const { chargeId, settled } = payment
  const isKnown = payment.payer !== null && chargeId === null && settled === null
  const person = isKnown && payerNamed(company, openPayer(app.vault, payment, payment.payer!))
  if (!person) return
  const payer = { name: person.name, ...sealPerson(app.vault, company.id, person) }
  await findOrCreate(tx, [{ companyId: company.id, payer, at: app.clock.now() }])
}

async function lockUnmatched(tx: Tx, companyId: Uuid, endToEndId: string): Promise<Payment> {
  const payment = await store.lockUnmatched(tx, companyId, endToEndId)
  if (!payment) throw problem('payment_not_found')
  return payment
}

/**
 * The merchant settles a charge with a payment that did not match: the charge is paid by it, as if
 * the payment had matched. What is left of the payment waits for a decision. A payment settles one
 * charge. If it has settled this one before, nothing changes.
 */
export async function settleCharge(
  tx: Tx,
  app: Uses<'clock' | 'systemClock' | 'vault'>,
  company: Company,
  endToEndId: string,
  chargeId: Uuid,
): Promise<{ payment: Payment; changed: boolean }> {
  const charge = await lockCharge(tx, company.id, chargeId)
  const payment = await lockUnmatched(tx, company.id, endToEndId)
  if (payment.settled?.chargeId === charge.id) return { payment, changed: false }
  rules.requireSettling(company, payment, charge)
  const now = app.clock.now()
  const { booked } = payment
  const terms = { delay_s: company.releaseDelay_s, booked, now }
  const change = settle(charge, { ...payment, amount: rules.undecidedOf(payment) }, terms)
  await requireNoCollection(tx, charge)
  // A server of the version before counts its totals while it has locked the books.
  const books = await lockBooks(tx, company.id)
  const settled = rules.withSettled(payment, change.charge)
  await store.updateStatus(tx, settled)
  await record(tx, [change])
  await queueMails(tx, app.vault, receiptMails(app, company, [change.charge]))
  const paid = rules.postingsOfPaid(change.charge, endToEndId, 'unmatched')
  await post(tx, company.id, booked ? paid : [], now, books)
  return { payment: settled, changed: true }
}

/**
 * Refuses a charge that the payer's bank may be collecting: it would be paid twice. One that the
 * bank has no order for gets none, because its billing ends with the charge.
 */
async function requireNoCollection(tx: Tx, charge: Charge): Promise<void> {
  if (charge.recurrenceId === null || charge.status !== 'OPEN') return
  const billing = await findBilling(tx, charge.companyId, charge.id, 'for update')
  if (!billing?.ordered) return
  throw problem(
    'charge_in_collection',
    'chargeId: the payer’s bank has the order to collect the charge. When its last attempt has failed, the charge is EXPIRED and can be settled.',
  )
}
