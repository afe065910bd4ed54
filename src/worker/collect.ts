import type { App } from '../core/app.ts'
import { withCompanyClock } from '../core/companies/clock.ts'
import { findCompany } from '../core/companies/store.ts'
import { callBack, collectAtBank, findDueAhead, MAX_COLLECTED } from '../core/recurrences/bank.ts'
import { TASK } from '../core/tasks.ts'
import type { Uuid } from '../lib/ids.ts'
import { describeError } from '../lib/log.ts'
import { guarded, inRounds, type Part } from './rounds.ts'

const COLLECT = { task: TASK.collect, only: null }
const FAILED = 'the simulated bank did not collect'
/** Companies that are collected for one by one. */
const MAX_COMPANIES = 50

/**
 * Lets the simulated bank collect of everybody, each in their own time. Who is ahead comes first:
 * by the time that all others live in, they have nothing due then.
 */
export async function collectDue(app: App, signal?: AbortSignal): Promise<void> {
  const aside = new Set(app.setbacks.companiesOf(COLLECT.task))
  for (const companyId of await findDueAhead(app)) {
    if (!aside.has(companyId) && !signal?.aborted) await collectOf(app, companyId)
  }
  await inRounds(app, { ...COLLECT, signal, work: (but) => collectTogether(app, but) })
}

/** Tells whether it was done. */
function collectOf(app: App, companyId: Uuid): Promise<boolean> {
  const act = async () => {
    const company = await findCompany(app.db, companyId)
    if (company) await collectAtBank(withCompanyClock(app, company), companyId)
    return true
  }
  return guarded(app, COLLECT, companyId, act, false, FAILED)
}

/** What is due is collected in one transaction; each company is told by itself. */
async function collectTogether(app: App, but: Uuid[]): Promise<Part> {
  const { simulator } = app.providers
  try {
    const collected = await simulator.collectDue(null, app.systemClock.now(), MAX_COLLECTED, but)
    const byCompany = [...Map.groupBy(collected, ({ accountId }) => accountId)]
    const failed = 'what the simulated bank has collected was not told'
    await Promise.all(
      byCompany.map(([companyId, own]) => {
        const act = () => callBack(app, companyId, own)
        return guarded(app, COLLECT, companyId, act, undefined, failed)
      }),
    )
    const done = collected.length
    return { companies: byCompany.map(([id]) => id), done, isFull: done === MAX_COLLECTED }
  } catch (error) {
    app.log.warn(describeError(error), FAILED)
    return collectApart(app, but)
  }
}

/** If the work of one company fails, that of all others is done. */
async function collectApart(app: App, but: Uuid[]): Promise<Part> {
  const { simulator } = app.providers
  const companies = await simulator.accountsDue(app.systemClock.now(), MAX_COMPANIES, but)
  let done = 0
  for (const companyId of companies) done += Number(await collectOf(app, companyId))
  return { companies, done, isFull: companies.length === MAX_COMPANIES }
}
