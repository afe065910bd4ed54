import type { Period, Provider } from '../../provider/port.ts'
import type { App, Uses } from '../app.ts'
import { findBank } from '../banks/store.ts'
import { withCompanyClock } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { askDisputes } from '../disputes/ask.ts'
import { matchPayments } from '../payments/match.ts'
import { isToMatch } from '../payments/rules.ts'
import { findRecorded } from '../payments/store.ts'
import {
  type DueReconciliation,
  markDisputesAsked,
  markLookedBack,
  markReturnsListed,
  mayAskDisputes,
  mayLookBack,
  saveAskedUntil,
} from '../reconciliation-schedule.ts'
import { recordReturns } from '../refunds/bank-returns.ts'
import { OVERLAP_MS } from './rules.ts'

/**
 * A company with open charges is reconciled every minute. So is one with a real bank, because its
 * static codes may be paid at any time. All others are reconciled less often.
 */
const BUSY_MS = 60_000
const IDLE_MS = 600_000
/** The longest period that a real bank is asked for at once. */
const WINDOW_MS = 7 * 24 * 3_600_000
/** Once a day a real bank is asked so far back, because some list a payment only much later. */
const LOOK_BACK_MS = 48 * 3_600_000
/** A bank returns a payment up to so long after it: 80 days to claim, the rest to decide. */
const RETURNS_MS = 100 * 24 * 3_600_000
const MAX_MATCHED = 500

/**
 * Asks the banks of a company what they have received, and matches the payments that no callback
 * has named. When a bank is asked depends on real time; the period that it is asked for is in the
 * company's time.
 */
export async function reconcile(
  app: App,
  { companyId, askedUntil, hasOpenCharges }: DueReconciliation,
): Promise<void> {
  const company = await findCompany(app.db, companyId)
  if (!company) return
  const own = withCompanyClock(app, company)
  const now = own.clock.now()
  const bank = app.providers.bankOf(company)
  const isReal = bank !== null && bank !== app.providers.simulator
  const window_ms = isReal ? WINDOW_MS : Number.POSITIVE_INFINITY
  const isLookingBack = isReal && (await mayLookBack(app.db, companyId, app.systemClock.now()))
  let until = askedUntil
  let found = 0
  do {
    const isFirst = until === askedUntil
    const overlap_ms = isFirst && isLookingBack ? LOOK_BACK_MS : OVERLAP_MS
    const from = new Date(until.getTime() - overlap_ms)
    until = new Date(Math.min(until.getTime() + window_ms, now.getTime()))
    found += await matchReceived(own, company, { from, to: until })
    const next_ms = hasOpenCharges || isReal || found > 0 ? BUSY_MS : IDLE_MS
    const next = new Date(app.systemClock.now().getTime() + next_ms)
    await saveAskedUntil(app.db, companyId, until, next)
  } while (until < now)
  if (isReal) await askBank(own, company, bank)
  if (!isLookingBack || bank === null) return
  await markLookedBack(app.db, companyId, app.systemClock.now())
  await recordListedReturns(own, company, bank)
}

/** Asks a real bank about disputes now and then. The simulated bank tells of each by itself. */
async function askBank(app: App, company: Company, bank: Provider): Promise<void> {
  const now = app.systemClock.now()
  const before = new Date(now.getTime() - IDLE_MS)
  if (!(await mayAskDisputes(app.db, company.id, before))) return
  await markDisputesAsked(app.db, company.id, now)
  await askDisputes(app, company, bank)
}

/**
 * Records what the bank has returned by itself of payments of the last months. If the bank does not
 * list them, the payments themselves are recorded all the same, and it is asked again the next day.
 */
async function recordListedReturns(
  app: Uses<'clock' | 'counters' | 'db' | 'log' | 'systemClock' | 'vault'>,
  company: Company,
  bank: Provider,
): Promise<void> {
  const listedAt = app.systemClock.now()
  const from = new Date(listedAt.getTime() - RETURNS_MS)
  const outcome = await bank.listReturned(company, { from, to: listedAt })
  if (outcome.kind !== 'accepted') {
    const named = { company: company.id, reason: outcome.reason }
    return app.log.warn(named, 'the bank did not list what it has returned')
  }
  await recordReturns(app, company, bank.source, outcome.value)
  await markReturnsListed(app.db, company.id, listedAt)
}

/** The banks that may have the company's money: trials of a live one are at the simulated bank. */
function banksOf({ providers }: Uses<'providers'>, company: Company): Provider[] {
  const own = providers.bankOf(company)
  return own && own !== providers.simulator ? [providers.simulator, own] : [providers.simulator]
}

/** Matches what the banks have received in a period. Returns how many payments were new. */
async function matchReceived(app: App, company: Company, { from, to }: Period): Promise<number> {
  const connectedAt = (await findBank(app.db, company.id))?.connectedAt
  let found = 0
  for (const bank of banksOf(app, company)) {
    // What a real bank received before it was connected does not concern us.
    const isBefore = bank !== app.providers.simulator && connectedAt && from < connectedAt
    const period = { from: isBefore ? connectedAt : from, to }
    if (period.from < to) found += await matchReceivedAt(app, company, bank, period)
  }
  return found
}

async function matchReceivedAt(
  app: Uses<'clock' | 'counters' | 'db' | 'log' | 'systemClock' | 'vault'>,
  company: Company,
  provider: Provider,
  period: Period,
): Promise<number> {
  const companyId = company.id
  // The period ends before its last moment, so a payment at that moment is asked for next time.
  const outcome = await provider.listReceived(company, period)
  if (outcome.kind !== 'accepted') throw new Error(`the bank did not answer: ${outcome.reason}`)
  if (outcome.unread) {
    const { unread } = outcome
    app.log.error({ company: companyId, unread }, 'the bank lists what is not understood')
  }
  const { source } = provider
  let found = 0
  for (let i = 0; i < outcome.value.length; i += MAX_MATCHED) {
    const part = outcome.value.slice(i, i + MAX_MATCHED)
    const keys = part.map(({ endToEndId }) => ({ companyId, source, endToEndId }))
    const recorded = await findRecorded(app.db, keys)
    const missed = part.filter((pix, n) => isToMatch(pix, recorded[n]))
    if (missed.length > 0) {
      const results = await app.db.transaction((tx) =>
        matchPayments(tx, app, company, missed, { source, now: app.clock.now() }),
      )
      found += results.filter(({ kind }) => kind !== 'known').length
    }
    await recordReturns(app, company, source, part)
  }
  if (found > 0) app.log.warn({ company: companyId, payments: found }, 'found without a callback')
  return found
}
