import type { Tx } from '../../db/database.ts'
import { assert } from '../../lib/assert.ts'
import { toCents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import { returnBody } from '../../provider/callback.ts'
import type { PixReturn, ReturnReason } from '../../provider/port.ts'
import type { App } from '../app.ts'
import { type Company, requireSandbox } from '../companies/rules.ts'
import { type AppWithCallbacks, storeCallback } from '../payments/callbacks.ts'
import * as payments from '../payments/store.ts'
import { recordReturnsOf } from './bank-returns.ts'
import type { Refund } from './rules.ts'
import { listOfPayments } from './store.ts'

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
  app: App,
  company: Company,
  { endToEndId, made }: ReturnedPix,
): Promise<Refund> {
  const { source } = app.providers.simulator
  await recordReturnsOf(tx, app, company, source, { endToEndId, returns: [made] })
  const recorded = await listOfPayments(tx, company.id, source, [endToEndId])
  const own = recorded.find(({ returnId }) => returnId === made.returnId)
  assert(own, 'a return of a known payment is recorded')
  return own
}
