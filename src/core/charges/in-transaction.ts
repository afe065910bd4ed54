import type { Tx } from '../../db/database.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import type { Company } from '../companies/rules.ts'
import { chargeOf, type Draft } from './drafts.ts'
import { type AppWithCharges, insertTogether } from './group.ts'
import { take } from './intent-store.ts'
import { withBankCode } from './intents.ts'
import { type Charge, eventsOfCreation, expiryOf, isPlayMoney } from './rules.ts'

/**
 * Inserts charges whose codes the bank has issued, with their events and their customer, together
 * with what else the transaction writes.
 */
export async function insertCharges(
  tx: Tx,
  app: AppWithCharges,
  company: Company,
  charges: Charge[],
  emailIndex: Buffer | null,
): Promise<void> {
  const { devMode } = charges[0]!
  const coded = charges.filter(({ brCode }) => brCode !== null)
  if (coded.length > 0 && app.providers.of(company, devMode) !== app.providers.simulator) {
    await requireTaken(
      tx,
      company.id,
      coded.map(({ id }) => id),
    )
  }
  const at = app.systemClock.now()
  const made = charges.map((charge) => {
    return { charge, emailIndex, events: eventsOfCreation(charge), at }
  })
  await insertTogether(tx, made)
  tx.afterCommit(() => {
    for (const charge of charges) {
      app.counters.money('charge', isPlayMoney(company, charge), charge.amount)
    }
  })
}

/** Takes the intents of charges, so that no task removes them at the bank. */
async function requireTaken(tx: Tx, companyId: Uuid, ids: Uuid[]): Promise<void> {
  if ((await take(tx, companyId, ids)) === ids.length) return
  throw problem('provider_unavailable', 'The bank answered too late. Try again.')
}

/** What a transaction writes beside a charge. */
type Around = {
  /** False: the charge is a link, and gets its code when its payer has filled in a form. */
  hasCode?: boolean
  /** Locks and looks at what decides whether there may be a charge. Throws if there may be none. */
  before(tx: Tx): Promise<void>
  after?(tx: Tx, charge: Charge): Promise<void>
}

/**
 * Creates one charge with its code in a transaction of its own, with what else belongs to it. If
 * that fails, a task removes at the bank what it has issued.
 */
export function createInTransaction(
  app: AppWithCharges,
  company: Company,
  draft: Draft,
  { hasCode = true, before, after }: Around,
): Promise<Charge> {
  const insert = (code: Parameters<typeof chargeOf>[2]) =>
    app.db.transaction(async (tx) => {
      await before(tx)
      const charge = chargeOf(company, draft, code)
      await insertCharges(tx, app, company, [charge], draft.emailIndex)
      await after?.(tx, charge)
      return charge
    })
  if (hasCode) return withBankCode(app, company, draft, null, insert)
  const createdAt = app.clock.now()
  return insert({ id: newId(), createdAt, expiresAt: expiryOf(draft, createdAt), brCode: null })
}
