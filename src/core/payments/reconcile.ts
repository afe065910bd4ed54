import type { Uuid } from '../../lib/ids.ts'
import { describeError } from '../../lib/log.ts'
import type { Period } from '../../provider/port.ts'
import type { App } from '../app.ts'
import { inTimeOf } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { claimDue, finish } from './reconcile-store.ts'
import { isBooked } from './rules.ts'
import { settlePayments } from './settle.ts'
import { findKnown } from './store.ts'

/** A company with charges to be paid is asked about every minute, an idle one less often. */
const BUSY_MS = 60_000
const IDLE_MS = 600_000
/** Banks list a payment a little later than they book it. */
const OVERLAP_MS = 600_000
const MOST_COMPANIES = 50
const MOST_TOGETHER = 500

const leaseEnd = ({ wall }: App) => new Date(wall.now().getTime() + BUSY_MS)

/**
 * Asks the bank what has arrived, and settles what no callback has told of. When it is asked is a
 * matter of real time, what it is asked for of the company's.
 */
export async function reconcileDue(app: App, signal?: AbortSignal): Promise<void> {
  for (let found = MOST_COMPANIES; found === MOST_COMPANIES && !signal?.aborted; ) {
    const due = await claimDue(app.db, app.wall.now(), leaseEnd(app), MOST_COMPANIES)
    for (const { company_id: companyId, asked_until: since, busy } of due) {
      await reconcile(app, companyId, since, busy).catch((error) => {
        app.log.error({ ...describeError(error), company: companyId }, 'reconciling failed')
      })
    }
    found = due.length
  }
}

async function reconcile(app: App, companyId: Uuid, since: Date, busy: boolean): Promise<void> {
  const company = await findCompany(app.db, companyId)
  if (!company) return
  const own = inTimeOf(app, company)
  const to = own.clock.now()
  const from = new Date(since.getTime() - OVERLAP_MS)
  const settled = await settleListed(own, company, { from, to })
  const next_ms = busy || settled > 0 ? BUSY_MS : IDLE_MS
  await finish(app.db, companyId, to, new Date(app.wall.now().getTime() + next_ms))
}

/** Settles all that the bank has received in a period; gives the number that was new. */
async function settleListed(app: App, company: Company, period: Period): Promise<number> {
  const companyId = company.id
  const provider = app.providers.simulator
  // The end is not reached yet, so that what arrives at this very moment is asked for again.
  const outcome = await provider.listReceived(company, period)
  if (outcome.kind !== 'accepted') throw new Error(`the bank did not answer: ${outcome.reason}`)
  const booked = isBooked(company, provider.name)
  let fresh = 0
  for (let i = 0; i < outcome.value.length; i += MOST_TOGETHER) {
    const part = outcome.value.slice(i, i + MOST_TOGETHER)
    const ids = part.map(({ endToEndId }) => endToEndId)
    const known = await findKnown(app.db, companyId, ids)
    const missed = part.filter(({ endToEndId }) => !known.has(endToEndId))
    if (missed.length === 0) continue
    const settled = await app.db.transaction((tx) =>
      settlePayments(tx, company, missed, { booked, now: app.clock.now() }),
    )
    fresh += settled.filter(({ kind }) => kind !== 'known').length
  }
  if (fresh > 0) app.log.warn({ company: companyId, payments: fresh }, 'found without a callback')
  return fresh
}
