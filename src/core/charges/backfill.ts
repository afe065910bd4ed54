import type { App } from '../app.ts'
import { emailIndexOf } from '../customers/sealing.ts'
import * as store from './backfill-store.ts'
import type { Charge } from './rules.ts'

/** Charges that one transaction indexes. */
const MAX_CHARGES = 500

/**
 * Indexes the e-mail addresses of charges that were created before there was a search by them. SQL
 * cannot do that, because the addresses are sealed. Each call continues where the last has ended.
 * Returns whether there is more to do.
 */
export async function indexOldCharges(app: App, max = MAX_CHARGES): Promise<boolean> {
  if (!(await store.isPending(app.db))) return false
  return app.db.transaction(async (tx) => {
    const before = await store.lockLast(tx)
    if (before === null) return false
    const charges = await store.listAfter(tx, before, max)
    await store.insertEmails(tx, emailsOf(app, charges))
    await store.insertFormerTaxIds(tx, charges)
    const last = charges.at(-1)
    if (last && charges.length === max) await store.setLast(tx, last)
    else await store.finish(tx)
    return charges.length === max
  })
}

/** If a payer cannot be opened, logs that and indexes the others. */
function emailsOf(app: App, charges: Charge[]): store.ChargeEmail[] {
  return charges.flatMap(({ companyId, id, payer }) => {
    try {
      const emailIndex = payer && emailIndexOf(app.vault, companyId, payer)
      return emailIndex ? [{ companyId, id, emailIndex }] : []
    } catch {
      app.log.warn({ company: companyId, charge: id }, 'a payer cannot be read')
      return []
    }
  })
}
