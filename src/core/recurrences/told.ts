import { namedBy } from '../../provider/txid.ts'
import type { App } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import type { SyncNamed } from '../payments/callbacks.ts'
import { TASK } from '../tasks.ts'
import { followAgreement } from './agreements.ts'
import { hurryTold } from './billing-store.ts'
import { findByExternalId } from './store.ts'

/**
 * Asks the bank about agreements that it has told of, and lets the task that speaks to banks about
 * collections do so at once: who tells of many must not keep others waiting for their money.
 */
export const followTold: SyncNamed = async (
  app,
  company,
  _provider,
  { agreements, collections },
) => {
  const done = new Set<string>()
  for (const name of agreements) if (await hear(app, company, name)) done.add(name)
  for (const txid of await hurry(app, company, collections)) done.add(txid)
  return done
}

async function hear(app: App, company: Company, externalId: string): Promise<boolean> {
  const recurrence = await findByExternalId(app.db, company.id, externalId)
  return recurrence !== null && followAgreement(app, company, recurrence)
}

async function hurry(app: App, company: Company, txids: string[]): Promise<string[]> {
  if (txids.length === 0) return []
  const named = txids.flatMap((txid) => {
    const name = namedBy(txid)
    return name && 'charge' in name ? [{ txid, chargeId: name.charge }] : []
  })
  const ids = named.map(({ chargeId }) => chargeId)
  const known = await hurryTold(app.db, company.id, ids, app.clock.now())
  app.alarm.wake(TASK.bill)
  return named.filter(({ chargeId }) => known.has(chargeId)).map(({ txid }) => txid)
}
