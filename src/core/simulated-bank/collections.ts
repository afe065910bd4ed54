import type { Uuid } from '../../lib/ids.ts'
import { collectionsBody } from '../../provider/callback.ts'
import type { Collected } from '../../provider/simulator/collections.ts'
import type { DueKind } from '../due.ts'
import { type AppWithCallbacks, receiveCallback } from '../payments/callbacks.ts'
import { TASK } from '../tasks.ts'

/** Attempts that the simulated bank makes. */
export const COLLECTING: DueKind = {
  name: TASK.collect,
  table: 'simulated_collections',
  company: 'account_id',
  key: 'id',
  dueAt: 'next_at',
  where: 'd.next_at is not null',
}

/** How many attempts the bank makes in one transaction. */
const MAX_COLLECTED = 500

/**
 * Lets the simulated bank make attempts of a company that are due, and send their callbacks.
 * When this resolves the callbacks are processed. The app has the company's clock. Returns how many.
 */
export async function collectOfCompany(app: AppWithCallbacks, companyId: Uuid): Promise<number> {
  const { simulator } = app.providers
  const collected = await simulator.collectDue(companyId, app.clock.now(), MAX_COLLECTED)
  if (collected.length > 0) await callBack(app, companyId, collected)
  return collected.length
}

/** Sends the callback of what the simulated bank has collected for a company. */
async function callBack(
  app: AppWithCallbacks,
  companyId: Uuid,
  collected: Collected[],
): Promise<void> {
  const payments = collected.flatMap(({ payment }) => payment ?? [])
  const received = payments.map((payment) => ({ ...payment, receivedAt: payment.at }))
  const body = collectionsBody(collected, received)
  const { simulator } = app.providers
  const { processed } = await receiveCallback(app, companyId, simulator.name, body)
  await processed
}
