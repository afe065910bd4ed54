import { forEachLimited } from '../../lib/for-each-limited.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { ReceivedPix } from '../../provider/port.ts'
import type { App } from '../app.ts'
import type { Charge } from '../charges/rules.ts'
import { findMany } from '../charges/store.ts'
import { findCompany } from '../companies/store.ts'
import { matchPayments } from './match.ts'

const ASKED_AT_ONCE = 8
/** If the bank has not answered by then, the charge expires all the same. */
const MAX_WAIT_MS = 30 * 60_000

/**
 * Asks the bank about charges that are past their deadline, before they expire, because the
 * callback of a payment in time may be lost or late. Returns the charges that may expire now. The
 * others wait until the bank answers, up to `MAX_WAIT_MS`. Money that the bank reports later is
 * still recorded, as unmatched.
 */
export async function matchBeforeExpiry(app: App, companyId: Uuid, ids: Uuid[]): Promise<Uuid[]> {
  const company = await findCompany(app.db, companyId)
  const bank = company && app.providers.bankOf(company)
  if (!company || !bank) return ids
  const named = ids.map((id) => ({ companyId, id }))
  const charges = (await findMany(app.db, named)).filter((charge) => charge !== null)
  const [paid, unknown]: [ReceivedPix[], Set<Uuid>] = [[], new Set()]
  await forEachLimited(ASKED_AT_ONCE, charges.filter(isKnownToBank), async ({ id }) => {
    const outcome = unknown.size > 0 ? null : await bank.findPaid(company, id)
    if (outcome?.kind === 'accepted') paid.push(...outcome.value)
    else unknown.add(id)
  })
  const arrival = { source: bank.source, now: app.clock.now() }
  if (paid.length > 0) {
    await app.db.transaction((tx) => matchPayments(tx, app, company, paid, arrival))
  }
  const latest_ms = app.systemClock.now().getTime() - MAX_WAIT_MS
  const mayExpire = ({ id, expiresAt }: Charge) =>
    !unknown.has(id) || expiresAt.getTime() <= latest_ms
  return charges.filter(mayExpire).map(({ id }) => id)
}

const isKnownToBank = ({ brCode, devMode }: Charge): boolean => brCode !== null && !devMode
