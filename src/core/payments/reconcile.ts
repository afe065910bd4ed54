import { forEachLimited } from '../../lib/for-each-limited.ts'
import type { Uuid } from '../../lib/ids.ts'
import { describeError } from '../../lib/log.ts'
import type { Period, Provider } from '../../provider/port.ts'
import type { App } from '../app.ts'
import { findBank } from '../banks/store.ts'
import { withCompanyClock } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { TASK } from '../tasks.ts'
import { matchPayments } from './match.ts'
import { claimDue, finish, markLookedBack, mayLookBack } from './reconcile-store.ts'
import { OVERLAP_MS } from './rules.ts'
import { findKnown } from './store.ts'

/**
 * A company with charges to be paid is asked about every minute, as is one with a real bank, whose
 * static codes may be paid any time; an idle one less often.
 */
const BUSY_MS = 60_000
const IDLE_MS = 600_000
/** After a long silence a real bank is asked about so much at once. */
const WINDOW_MS = 7 * 24 * 3_600_000
/** Once a day a real bank is asked for so much again: some list a payment only much later. */
const LOOK_BACK_MS = 48 * 3_600_000
const MAX_COMPANIES = 50
/** A bank that does not answer keeps few others waiting. */
const BANKS_AT_ONCE = 8
const MAX_TOGETHER = 500

const leaseEnd = ({ systemClock }: App) => new Date(systemClock.now().getTime() + BUSY_MS)

/**
 * Asks the bank what has arrived, and settles what no callback has told of. When it is asked is a
 * matter of real time, what it is asked for of the company's.
 */
export async function reconcileDue(app: App, signal?: AbortSignal): Promise<void> {
  for (let found = MAX_COMPANIES; found === MAX_COMPANIES && !signal?.aborted; ) {
    const due = await claimDue(app.db, app.systemClock.now(), leaseEnd(app), MAX_COMPANIES)
    await forEachLimited(
      BANKS_AT_ONCE,
      due,
      ({ company_id: companyId, asked_until: since, busy }) =>
        reconcile(app, companyId, since, busy).then(
          () => app.setbacks.worked(TASK.reconcile, companyId),
          (error) => {
            app.log.error({ ...describeError(error), company: companyId }, 'reconciling failed')
            // It is left alone for as long as its lease lasts.
            return app.setbacks.failed(TASK.reconcile, companyId, error)
          },
        ),
    )
    found = due.length
  }
}

async function reconcile(app: App, companyId: Uuid, since: Date, busy: boolean): Promise<void> {
  const company = await findCompany(app.db, companyId)
  if (!company) return
  const own = withCompanyClock(app, company)
  const now = own.clock.now()
  const bank = app.providers.bankOf(company)
  const isReal = bank !== null && bank !== app.providers.simulator
  const window_ms = isReal ? WINDOW_MS : Number.POSITIVE_INFINITY
  let [until, settled] = [since, 0]
  const isLookingBack = isReal && (await mayLookBack(app.db, companyId, app.systemClock.now()))
  do {
    const isFirst = until === since
    const overlap_ms = isFirst && isLookingBack ? LOOK_BACK_MS : OVERLAP_MS
    const from = new Date(until.getTime() - overlap_ms)
    until = new Date(Math.min(until.getTime() + window_ms, now.getTime()))
    settled += await settleListed(own, company, { from, to: until })
    const next_ms = busy || isReal || settled > 0 ? BUSY_MS : IDLE_MS
    await finish(app.db, companyId, until, new Date(app.systemClock.now().getTime() + next_ms))
  } while (until < now)
  if (isLookingBack) await markLookedBack(app.db, companyId, app.systemClock.now())
}

/** Where the company's money may have arrived: trials of a live one at the simulated bank. */
function banksOf({ providers }: App, company: Company): Provider[] {
  const own = providers.bankOf(company)
  return own && own !== providers.simulator ? [providers.simulator, own] : [providers.simulator]
}

async function settleListed(app: App, company: Company, { from, to }: Period): Promise<number> {
  const connectedAt = (await findBank(app.db, company.id))?.connectedAt
  let fresh = 0
  for (const bank of banksOf(app, company)) {
    // What a bank had received before it was connected is nobody's business here.
    const isBefore = bank !== app.providers.simulator && connectedAt && from < connectedAt
    const period = { from: isBefore ? connectedAt : from, to }
    if (period.from < to) fresh += await settleAt(app, company, bank, period)
  }
  return fresh
}

/** Settles all that a bank has received in a period; gives the number that was new. */
async function settleAt(
  app: App,
  company: Company,
  provider: Provider,
  period: Period,
): Promise<number> {
  const companyId = company.id
  // The end is not reached yet, so that what arrives at this very moment is asked for again.
  const outcome = await provider.listReceived(company, period)
  if (outcome.kind !== 'accepted') throw new Error(`the bank did not answer: ${outcome.reason}`)
  const { source } = provider
  let fresh = 0
  for (let i = 0; i < outcome.value.length; i += MAX_TOGETHER) {
    const part = outcome.value.slice(i, i + MAX_TOGETHER)
    const ids = part.map(({ endToEndId }) => endToEndId)
    const known = await findKnown(app.db, companyId, source, ids)
    const missed = part.filter(({ endToEndId }) => !known.has(endToEndId))
    if (missed.length === 0) continue
    const settled = await app.db.transaction((tx) =>
      matchPayments(tx, app, company, missed, { source, now: app.clock.now() }),
    )
    fresh += settled.filter(({ kind }) => kind !== 'known').length
  }
  if (fresh > 0) app.log.warn({ company: companyId, payments: fresh }, 'found without a callback')
  return fresh
}
