import type { Billing } from '../core/billings/rules.ts'
import { claimDue } from '../core/billings/store.ts'
import { nowOf, withCompanyClock } from '../core/companies/clock.ts'
import type { Company } from '../core/companies/rules.ts'
import { findCompany } from '../core/companies/store.ts'
import type { FullApp } from '../core/full-app.ts'
import { dueNow } from '../core/orders.ts'
import { askAbout, reschedule, withoutLost } from '../core/recurrences/agreements.ts'
import { type BillingJob, openBillingJobs, stepBilling } from '../core/recurrences/billing-jobs.ts'
import { generateCharges } from '../core/recurrences/generate.ts'
import type { Recurrence } from '../core/recurrences/rules.ts'
import { find, findDue } from '../core/recurrences/store.ts'
import { TASK } from '../core/tasks.ts'
import { forEachLimited } from '../lib/for-each-limited.ts'
import { toPublic, type Uuid } from '../lib/ids.ts'
import { describeError } from '../lib/log.ts'
import { guarded, inRounds, type Rounds } from './rounds.ts'

/** How many charges are generated in one transaction. */
const MAX_GENERATED = 500
/** How many companies at once: a bank that is asked first and hangs delays only a few others. */
const GENERATED_AT_ONCE = 4
/** How many collections are with banks at once. */
const AT_ONCE = 10
/** A bank that answers can do so many before their lease is over. */
const MAX_CLAIMED = 50

/** Generates the charges of due cycles, company by company. */
export function generateDue(app: FullApp, signal?: AbortSignal, only: Uuid | null = null) {
  const task = TASK.generate
  return inRounds(app, {
    task,
    only,
    signal,
    async work(except) {
      const asked = [app.systemClock.now(), MAX_GENERATED, only, except] as const
      const { due, isFull } = await findDue(app.db.light, 'APPROVED', ...asked)
      let done = 0
      await forEachLimited(GENERATED_AT_ONCE, due, async ({ companyId, ids, clockAhead_ms }) => {
        const now = nowOf(app, { clockAhead_ms })
        const act = async () => {
          const kept = await withoutLost(app, companyId, ids)
          return app.db.transaction((tx) => generateCharges(tx, app.vault, companyId, kept, now))
        }
        const failed = 'charges were not generated'
        done += await guarded(app, { task, only }, companyId, act, 0, failed)
      })
      // A subscription may be due for its next cycle right after this one.
      return { companies: due.map(({ companyId }) => companyId), done, isFull: isFull || done > 0 }
    },
  })
}

/** Orders banks to collect due billings, and asks them about the results. */
export function billDue(app: FullApp, signal?: AbortSignal, only: Uuid | null = null) {
  const task = TASK.bill
  return inRounds(app, {
    task,
    only,
    signal,
    async work(except) {
      const claimed = await claimDue(app.db.light, dueNow(app, MAX_CLAIMED, only, except))
      const groups = [...Map.groupBy(claimed, ({ companyId }) => companyId)]
      const jobs: BillingJob[] = []
      await forEachLimited(AT_ONCE, groups, async ([companyId, due]) => {
        const act = () => open(app, companyId, due)
        const failed = 'billings were not loaded'
        jobs.push(...(await guarded(app, { task, only }, companyId, act, [], failed)))
      })
      await stepAll(app, { task, only }, jobs)
      const done = claimed.length
      return { companies: groups.map(([id]) => id), done, isFull: done === MAX_CLAIMED }
    },
  })
}

async function stepAll(app: FullApp, rounds: Pick<Rounds, 'task' | 'only'>, jobs: BillingJob[]) {
  const unanswered = new Set<Uuid>()
  await forEachLimited(AT_ONCE, jobs, async (one) => {
    const companyId = one.company.id
    // If a bank did not answer about one, the others wait until their lease is over.
    if (unanswered.has(companyId)) return
    const isReal = one.provider !== app.providers.simulator
    const act = () => stepBilling(one)
    const hasAnswered = await guarded(
      app,
      rounds,
      companyId,
      act,
      true,
      'a billing was interrupted',
    )
    if (!hasAnswered && isReal) unanswered.add(companyId)
  })
}

async function open(app: FullApp, companyId: Uuid, due: Billing[]): Promise<BillingJob[]> {
  const company = await findCompany(app.db.light, companyId)
  return company ? openBillingJobs(withCompanyClock(app, company), company, due) : []
}

const MAX_ASKED = 100
const BANKS_AT_ONCE = 8

/** Asks banks about agreements that had no callback for a while, or that have expired. */
export function followDue(app: FullApp, signal?: AbortSignal, only: Uuid | null = null) {
  const task = TASK.agreements
  return inRounds(app, {
    task,
    only,
    signal,
    async work(except) {
      const asked = [app.systemClock.now(), MAX_ASKED, only, except] as const
      const { due, isFull } = await findDue(app.db.light, 'CREATED', ...asked)
      await forEachLimited(BANKS_AT_ONCE, due, async ({ companyId, ids }) => {
        const act = () => followOf(app, companyId, ids)
        const failed = 'agreements were not asked about'
        await guarded(app, { task, only }, companyId, act, undefined, failed)
      })
      return { companies: due.map(({ companyId }) => companyId), done: due.length, isFull }
    },
  })
}

/** If a bank does not answer about one agreement, the others wait until later. */
async function followOf(app: FullApp, companyId: Uuid, ids: Uuid[]): Promise<void> {
  const company = await findCompany(app.db.light, companyId)
  if (!company) return
  const own = withCompanyClock(app, company)
  let answers = true
  for (const id of ids) {
    const recurrence = await find(app.db, companyId, id)
    if (recurrence && !answers) await reschedule(own, recurrence)
    else if (recurrence) answers = await ask(own, company, recurrence)
  }
}

/** Returns whether the bank answered. */
async function ask(app: FullApp, company: Company, recurrence: Recurrence): Promise<boolean> {
  return askAbout(app, company, recurrence).catch((error) => {
    const subscription = toPublic('rec', recurrence.id)
    app.log.error({ ...describeError(error), subscription }, 'an agreement was not asked about')
    return false
  })
}
