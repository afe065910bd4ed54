import type { App } from '../app.ts'
import * as store from './backfill-store.ts'
import { insertEmails } from './email-store.ts'
import { emailsOf } from './emails.ts'
import type { Charge } from './rules.ts'

/** Charges that are looked at in one transaction. */
const MOST = 500

/**
 * Lets charges from before the search by e-mail be found by it, a few at a time: only the secret
 * key can open who paid them. Goes on from where it was, whoever did the part before. Tells whether
 * there is more to do.
 */
export async function indexOldCharges(app: App, most = MOST): Promise<boolean> {
  return app.db.transaction(async (tx) => {
    const place = await store.lockPlace(tx)
    if (place === null) return false
    const charges = await store.listAfter(tx, place, most)
    await insertEmails(tx, readable(app, charges))
    await store.insertFormerTaxIds(tx, charges)
    const last = charges.at(-1)
    if (last && charges.length === most) await store.movePlace(tx, last)
    else await store.finish(tx)
    return charges.length === most
  })
}

/** An envelope that cannot be opened must not keep all others from being found. */
function readable(app: App, charges: Charge[]) {
  return charges.flatMap((charge) => {
    try {
      return emailsOf(app.vault, [charge])
    } catch {
      app.log.warn({ company: charge.companyId, charge: charge.id }, 'a payer cannot be read')
      return []
    }
  })
}
