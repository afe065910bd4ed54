import { withCompanyClock } from '../core/companies/clock.ts'
import { findCompany } from '../core/companies/store.ts'
import type { FullApp } from '../core/full-app.ts'
import {
  callBack,
  collectOfAll,
  collectOfCompany,
  findDueByClock,
  findDueCompanies,
  MAX_COLLECTED,
} from '../core/simulated-bank/collections.ts'
import { TASK } from '../core/tasks.ts'
import type { Uuid } from '../lib/ids.ts'
import { describeError } from '../lib/log.ts'
import { guarded, inRounds, type Part } from './rounds.ts'

const COLLECT = { task: TASK.collect, only: null }
const FAILED = 'the simulated bank did not collect'
/** Companies that are collected for one by one. */
const MAX_COMPANIES = 50

/**
 * Lets the simulated bank collect for all companies, each by its own clock. Companies with a moved
 * clock come first, so that nothing of them is due by real time afterwards.
 */
export async function collectDue(app: FullApp, signal?: AbortSignal): Promise<void> {
  const aside = new Set(app.setbacks.companiesOf(COLLECT.task))
  for (const companyId of await findDueByClock(app)) {
    if (!aside.has(companyId) && !signal?.aborted) await collectOf(app, companyId)
  }
  await inRounds(app, { ...COLLECT, signal, work: (except) => collectTogether(app, except) })
}

/** Returns whether it was done. */
function collectOf(app: FullApp, companyId: Uuid): Promise<boolean> {
  const act = async () => {
    const company = await findCompany(app.db, companyId)
    if (company) await collectOfCompany(withCompanyClock(app, company), companyId)
    return true
  }
  return guarded(app, COLLECT, companyId, act, false, FAILED)
}

/** Collects in one transaction. The callbacks of each company are sent apart. */
async function collectTogether(app: FullApp, except: Uuid[]): Promise<Part> {
  try {
    const byCompany = await collectOfAll(app, except)
    const failed = 'the simulated bank did not send a callback'
    await Promise.all(
      byCompany.map(([companyId, own]) => {
        const act = () => callBack(app, companyId, own)
        return guarded(app, COLLECT, companyId, act, undefined, failed)
      }),
    )
    const done = byCompany.reduce((count, [, own]) => count + own.length, 0)
    return { companies: byCompany.map(([id]) => id), done, isFull: done === MAX_COLLECTED }
  } catch (error) {
    app.log.warn(describeError(error), FAILED)
    return collectApart(app, except)
  }
}

/** Collects company by company. If one fails, the others are done. */
async function collectApart(app: FullApp, except: Uuid[]): Promise<Part> {
  const companies = await findDueCompanies(app, MAX_COMPANIES, except)
  let done = 0
  for (const companyId of companies) done += Number(await collectOf(app, companyId))
  return { companies, done, isFull: companies.length === MAX_COMPANIES }
}
