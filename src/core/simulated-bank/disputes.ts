import type { Tx } from '../../db/database.ts'
import { assert } from '../../lib/assert.ts'
import type { Uuid } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import { decisionBody, disputeBody } from '../../provider/callback.ts'
import type { BankDispute, Outcome, ReceivedPix, ReturnReason } from '../../provider/port.ts'
import { unwrap } from '../../provider/providers.ts'
import type { Uses } from '../app.ts'
import { type Company, requireSandbox } from '../companies/rules.ts'
import { recordDispute } from '../disputes/record.ts'
import type { Dispute } from '../disputes/rules.ts'
import * as store from '../disputes/store.ts'
import { type AppWithCallbacks, storeCallback } from '../payments/callbacks.ts'
import { findByIds } from '../payments/store.ts'
import { noPayment, recordReturnsOf } from '../refunds/bank-returns.ts'

const HOURS = 168

type NewDispute = { value?: number; reason?: ReturnReason; hours?: number }

/**
 * Lets the simulated bank open a dispute of a payment of a sandbox company. The same order again is
 * the same dispute. Its callback is stored: if this process dies before the dispute is recorded, a
 * task asks the bank for it.
 */
export async function openAtSimulator(
  app: AppWithCallbacks,
  company: Company,
  endToEndId: string,
  { value, reason = 'FRAUD', hours = HOURS }: NewDispute,
  orderId: string,
): Promise<BankDispute> {
  requireSandbox(company)
  const { simulator } = app.providers
  const [payment] = await findByIds(app.db, company.id, simulator.source, [endToEndId])
  if (!payment) throw noPayment()
  const amount = value === undefined ? null : toCents(value)
  const claim = { endToEndId, amount, reason, hours, orderId }
  const opened = made(await simulator.openDispute(company, claim))
  await storeCallback(app, company.id, simulator.name, disputeBody(opened.id))
  return opened
}

/** What the simulated bank has decided, and the payment with what it returned of it. */
type Decided = { told: BankDispute; pix: ReceivedPix }

/** Lets the simulated bank decide a dispute. If it is lost, the bank returns the money. */
export async function decideAtSimulator(
  app: AppWithCallbacks,
  company: Company,
  id: Uuid,
  decision: 'won' | 'lost' | 'canceled',
): Promise<Decided> {
  requireSandbox(company)
  const { simulator } = app.providers
  const dispute = await store.find(app.db, company.id, id)
  if (!dispute) throw problem('dispute_not_found')
  if (dispute.bankId === null) {
    throw problem(
      'dispute_not_open',
      'The bank has returned the money. There is nothing to decide.',
    )
  }
  const { bankId, endToEndId } = dispute
  await storeCallback(app, company.id, simulator.name, decisionBody(bankId, endToEndId))
  const status = decision.toUpperCase() as Uppercase<typeof decision>
  const told = made(await simulator.decideDispute(company, bankId, status))
  const [pix] = unwrap(await simulator.findReceived(company, [endToEndId]))
  return { told, pix: pix! }
}

function made(outcome: Outcome<BankDispute>): BankDispute {
  if (outcome.kind === 'accepted') return outcome.value
  throw problem('dispute_not_open', `The simulated bank refuses it: ${outcome.reason}.`)
}

/** Records what the simulated bank has made of a dispute, and returns the record. */
export async function recordOwnDispute(
  tx: Tx,
  app: Uses<'clock' | 'counters' | 'providers' | 'vault'>,
  company: Company,
  { told, pix }: { told: BankDispute; pix?: ReceivedPix },
): Promise<Dispute> {
  const { simulator } = app.providers
  if (pix) await recordReturnsOf(tx, app, company, simulator.source, pix)
  await recordDispute(tx, app, company, simulator.source, told)
  const [dispute] = await store.findByBankIds(tx, company.id, simulator.source, [told.id])
  assert(dispute, 'a dispute of a known payment is recorded')
  return dispute
}
