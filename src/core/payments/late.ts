import { forEachLimited } from '../../lib/for-each-limited.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { ReceivedPix } from '../../provider/port.ts'
import type { App } from '../app.ts'
import type { Charge } from '../charges/rules.ts'
import { findMany } from '../charges/store.ts'
import { findCompany } from '../companies/store.ts'
import { settlePayments } from './settle.ts'

const ASKED_AT_ONCE = 8
/** How long a bank may keep silent about a charge before it is called expired all the same. */
const PATIENCE_MS = 30 * 60_000

/**
 * Asks the bank about charges whose time is over, before they are called expired: a callback that
 * was lost or is late must not cost a payer who paid in time. Gives those that may expire now. The
 * others wait until the bank answers, though not for ever: money that it tells of later still is
 * not lost.
 */
export async function settleBeforeExpiry(app: App, companyId: Uuid, ids: Uuid[]): Promise<Uuid[]> {
  const company = await findCompany(app.db, companyId)
  const bank = company && app.providers.bankOf(company)
  if (!company || !bank) return ids
  const named = ids.map((id) => ({ companyId, id }))
  const charges = (await findMany(app.db, named)).filter((charge) => charge !== null)
  const [paid, unknown]: [ReceivedPix[], Set<Uuid>] = [[], new Set()]
  await forEachLimited(ASKED_AT_ONCE, charges.filter(isKnownThere), async ({ id }) => {
    const outcome = unknown.size > 0 ? null : await bank.findPaid(company, id)
    if (outcome?.kind === 'accepted') paid.push(...outcome.value)
    else unknown.add(id)
  })
  const arrival = { source: bank.source, now: app.clock.now() }
  if (paid.length > 0) {
    await app.db.transaction((tx) => settlePayments(tx, app, company, paid, arrival))
  }
  const latest_ms = app.systemClock.now().getTime() - PATIENCE_MS
  const isOver = ({ id, expiresAt }: Charge) => !unknown.has(id) || expiresAt.getTime() <= latest_ms
  return charges.filter(isOver).map(({ id }) => id)
}

const isKnownThere = ({ brCode, devMode }: Charge): boolean => brCode !== null && !devMode
