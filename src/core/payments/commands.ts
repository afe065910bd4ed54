import type { Tx } from '../../db/database.ts'
import { post } from '../../ledger/post.ts'
import { chargeSettled, paymentAccepted } from '../../ledger/recipes.ts'
import { assert } from '../../lib/assert.ts'
import { toPublic, type Uuid } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import type { ReceivedPix } from '../../provider/port.ts'
import { accepted } from '../../provider/providers.ts'
import { chargeTxid } from '../../provider/txid.ts'
import type { App } from '../app.ts'
import { lockCharge, record } from '../charges/record.ts'
import type { Charge } from '../charges/rules.ts'
import { isSettling, receive, simulation, withCode } from '../charges/rules.ts'
import { lockStates } from '../charges/store.ts'
import type { Company } from '../companies/rules.ts'
import { heldFromPending } from '../refunds/store.ts'
import type { Payment } from './rules.ts'
import { accept } from './rules.ts'
import { settlePayments } from './settle.ts'
import * as store from './store.ts'

/**
 * Lets the simulated bank receive the money of a dev-mode charge. The charge's own id makes it one
 * payment, however often it is asked for; should we fall before it is settled, reconciling finds
 * it.
 */
export async function sendSimulated(
  app: App,
  company: Company,
  charge: Charge,
): Promise<ReceivedPix | null> {
  if (simulation(charge, app.clock.now()) === 'already-paid') return null
  const { endToEndId, txid, amount, at } = await app.providers.simulator.pay(company, {
    txid: chargeTxid(charge.id),
    amount: charge.amount,
    orderId: toPublic('charge', charge.id),
  })
  return { endToEndId, txid, amount, receivedAt: at }
}

/** Settles a simulated payment; a charge that was paid meanwhile is left as it is. */
export async function settleSimulated(
  tx: Tx,
  app: App,
  company: Company,
  id: Uuid,
  pix: ReceivedPix | null,
): Promise<Charge> {
  const now = app.clock.now()
  const charge = await lockCharge(tx, company.id, id)
  if (simulation(charge, now) === 'already-paid' || !pix) return charge
  if (charge.brCode === null) await issueCode(tx, app, company, charge)
  const { source } = app.providers.simulator
  const [settlement] = await settlePayments(tx, app, company, [pix], { source, now })
  assert(settlement?.kind === 'paid', 'an open charge is paid by its exact amount')
  return settlement.charge
}

/** Gives a dev-mode link its code, to be paid by simulation. */
async function issueCode(tx: Tx, app: App, company: Company, charge: Charge): Promise<void> {
  // The simulated bank answers without a network, so it may be asked inside the transaction.
  const { brCode } = accepted(await app.providers.simulator.issueCharge(company, charge))
  await record(tx, company.id, [withCode(charge, brCode, app.clock.now())])
}

/** Makes the money of paid charges withdrawable, where the company's delay is over. */
export async function receiveCharges(
  tx: Tx,
  companyId: Uuid,
  ids: Uuid[],
  now: Date,
): Promise<number> {
  const locked = await lockStates(tx, companyId, ids)
  const charges = locked.filter((charge) => isSettling(charge, now))
  await record(
    tx,
    companyId,
    charges.map((charge) => receive(charge, now)),
  )
  const returned = await heldFromPending(
    tx,
    companyId,
    charges.flatMap(({ id, refunded }) => (refunded > 0 ? [id] : [])),
  )
  const postings = charges.flatMap(({ booked, endToEndId, amount, id }) => {
    const left = toCents(amount - (returned.get(id) ?? 0))
    if (!booked || left === 0) return []
    return [chargeSettled({ endToEndId: endToEndId!, amount: left, chargeId: id })]
  })
  await post(tx, companyId, postings, now)
  return charges.length
}

/** The merchant keeps money that pays no charge: it becomes available at once. */
export async function acceptPayment(
  tx: Tx,
  companyId: Uuid,
  endToEndId: string,
  now: Date,
): Promise<Payment> {
  const payment = await store.lockUnmatched(tx, companyId, endToEndId)
  if (!payment) throw problem('payment_not_found')
  const kept = accept(payment)
  if (kept === 'already-accepted') return payment
  await store.updateStatus(tx, kept)
  await post(tx, companyId, kept.booked ? [paymentAccepted(kept)] : [], now)
  return kept
}
