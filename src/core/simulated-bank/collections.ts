import type { Uuid } from '../../lib/ids.ts'
import { collectionsBody } from '../../provider/callback.ts'
import type { Collected } from '../../provider/simulator/collections.ts'
import type { App } from '../app.ts'
import { type AppWithCallbacks, receiveCallback } from '../payments/callbacks.ts'
import { listMovedClocks } from './store.ts'

export { NEXT_AT as NEXT_COLLECTION } from '../../provider/simulator/collection-records.ts'

/** How many attempts the bank makes in one transaction. */
export const MAX_COLLECTED = 500

/**
 * Lets the simulated bank make all attempts of a company that are due, and send their callbacks.
 * When this resolves the callbacks are processed. The app has the company's clock.
 */
export async function collectOfCompany(app: AppWithCallbacks, companyId: Uuid): Promise<void> {
  const { simulator } = app.providers
  for (let made = MAX_COLLECTED; made === MAX_COLLECTED; ) {
    const collected = await simulator.collectDue(companyId, app.clock.now(), MAX_COLLECTED)
    if (collected.length > 0) await callBack(app, companyId, collected)
    made = collected.length
  }
}

/**
 * Lets the simulated bank make the attempts that are due by real time, of all companies but some.
 * Returns what it has collected by company; the callbacks are not sent yet.
 */
export async function collectOfAll(app: App, except: Uuid[]): Promise<[Uuid, Collected[]][]> {
  const { simulator } = app.providers
  const collected = await simulator.collectDue(null, app.systemClock.now(), MAX_COLLECTED, except)
  return [...Map.groupBy(collected, ({ accountId }) => accountId)]
}

/** Companies with attempts that are due by real time, but none of these. */
export const findDueCompanies = (app: App, max: number, except: Uuid[]): Promise<Uuid[]> =>
  app.providers.simulator.accountsDue(app.systemClock.now(), max, except)

/** Companies with a moved clock that have attempts due by it. */
export async function findDueByClock(app: App): Promise<Uuid[]> {
  const clocks = await listMovedClocks(app.db)
  const now_ms = app.systemClock.now().getTime()
  const times = clocks.map(({ companyId, ahead_ms }) => ({
    accountId: companyId,
    now: new Date(now_ms + ahead_ms),
  }))
  return times.length === 0 ? [] : app.providers.simulator.dueAccounts(times)
}

/** Sends the callback of what the simulated bank has collected for a company. */
export async function callBack(
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
