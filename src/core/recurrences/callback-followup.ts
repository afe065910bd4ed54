import { namedBy } from '../../provider/txid.ts'
import type { App } from '../app.ts'
import { makeDueNow as makeBillingsDueNow } from '../billings/store.ts'
import type { Company } from '../companies/rules.ts'
import type { SyncNamed } from '../payments/process-callbacks.ts'
import { TASK } from '../tasks.ts'
import { followAgreement } from './agreements.ts'
import { findByExternalId } from './store.ts'

/**
 * Asks the bank about the agreements that a callback names, and makes the billings that it names
 * due now. A task asks about those: a callback with many of them must not delay the payments of
 * others.
 */
export const syncNamed: SyncNamed = async (
  app,
  company,
  _provider,
  { agreements, collections },
) => {
  const done = new Set<string>()
  for (const name of agreements) if (await syncAgreement(app, company, name)) done.add(name)
  for (const txid of await makeDueNow(app, company, collections)) done.add(txid)
  return done
}

async function syncAgreement(app: App, company: Company, externalId: string): Promise<boolean> {
  const recurrence = await findByExternalId(app.db, company.id, externalId)
  return recurrence !== null && followAgreement(app, company, recurrence)
}

async function makeDueNow(app: App, company: Company, txids: string[]): Promise<string[]> {
  if (txids.length === 0) return []
  const named = txids.flatMap((txid) => {
    const name = namedBy(txid)
    return name && 'charge' in name ? [{ txid, chargeId: name.charge }] : []
  })
  const ids = named.map(({ chargeId }) => chargeId)
  const known = await makeBillingsDueNow(app.db, company.id, ids, app.clock.now())
  app.alarm.wake(TASK.bill)
  return named.filter(({ chargeId }) => known.has(chargeId)).map(({ txid }) => txid)
}
