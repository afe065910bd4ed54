import type { Billing } from '../core/billings/rules.ts'
import { claimDue } from '../core/billings/store.ts'
import { nowOf, withCompanyClock } from '../core/companies/clock.ts'
import type { Company } from '../core/companies/rules.ts'
import { findCompany, findSuspended } from '../core/companies/store.ts'
import type { FullApp } from '../core/full-app.ts'
import { dueNow } from '../core/orders.ts'
import { askAbout, reschedule, withoutLost } from '../core/recurrences/agreements.ts'
import { type BillingJob, openBillingJobs, stepBilling } from '../core/recurrences/billing-jobs.ts'
import { generateCharges } from '../core/recurrences/generate.ts'
import type { Recurrence } from '../core/recurrences/rules.ts'
import { type DueRecurrences, find, findDue } from '../core/recurrences/store.ts'
import { TASK } from '../core/tasks.ts'
import { forEachLimited } from '../lib/for-each-limited.ts'
import { toPublic, type Uuid } from '../lib/ids.ts'
import { describeError } from '../lib/log.ts'
import { byCompany } from './rounds.ts'

/** How many charges are generated in one transaction. */
const MAX_GENERATED = 500
/** How many collections are with one bank at once. */
const AT_ONCE = 10
/** A bank that answers can do so many before their lease is over. */
const MAX_CLAIMED = 50

/** Generates the charges of due cycles, company by company. Suspended companies wait. */
export function generateDue(app: FullApp, signal?: AbortSignal, only: Uuid | null = null) {
  return byCompany(app, {
    task: TASK.generate,
    isTimed: true,
    only,
    signal,
    failed: 'charges were not generated',
    async find(except) {
      const left = [...except, ...(await findSuspended(app.db.light))]
      const asked = [app.systemClock.now(), MAX_GENERATED, only, left] as const
      const { due } = await findDue(app.db.light, 'APPROVED', ...asked)
      // A subscription may be due for its next cycle right after this one.
      return { due: perCompany(due), isFull: true }
    },
    async act(companyId, { ids, clockAhead_ms }) {
      const now = nowOf(app, { clockAhead_ms })
      const kept = await withoutLost(app, companyId, ids)
      return app.db.transaction((tx) => generateCharges(tx, app.vault, companyId, kept, now))
    },
  })
}

const perCompany = (due: DueRecurrences[]): Map<Uuid, DueRecurrences> =>
  new Map(due.map((one) => [one.companyId, one]))

/**
 * Orders banks to collect due billings, and asks them about the results. Suspended companies wait.
 */
export function billDue(app: FullApp, signal?: AbortSignal, only: Uuid | null = null) {
  return byCompany(app, {
    task: TASK.bill,
    isTimed: true,
    only,
    signal,
    failed: 'billings were interrupted',
    async find(except) {
      const left = [...except, ...(await findSuspended(app.db.light))]
      const claimed = await claimDue(app.db.light, dueNow(app, MAX_CLAIMED, only, left))
      const due = Map.groupBy(claimed, ({ companyId }) => companyId)
      return { due, isFull: claimed.length >= MAX_CLAIMED }
    },
    async act(companyId, due) {
      await stepAll(app, await open(app, companyId, due))
      return due.length
    },
  })
}

/** If the bank does not answer about one, the others wait until their lease is over. */
async function stepAll(app: FullApp, jobs: BillingJob[]): Promise<void> {
  let answers = true
  const errors: unknown[] = []
  await forEachLimited(AT_ONCE, jobs, async (one) => {
    if (!answers) return
    const isReal = one.provider !== app.providers.simulator
    try {
      if (!(await stepBilling(one)) && isReal) answers = false
    } catch (error) {
      errors.push(error)
    }
  })
  if (errors.length > 0) throw errors[0]
}

async function open(app: FullApp, companyId: Uuid, due: Billing[]): Promise<BillingJob[]> {
  const company = await findCompany(app.db.light, companyId)
  return company ? openBillingJobs(withCompanyClock(app, company), company, due) : []
}

const MAX_ASKED = 100

/** Asks banks about agreements that had no callback for a while, or that have expired. */
export function followDue(app: FullApp, signal?: AbortSignal, only: Uuid | null = null) {
  return byCompany(app, {
    task: TASK.agreements,
    isTimed: true,
    only,
    signal,
    failed: 'agreements were not asked about',
    async find(except) {
      const asked = [app.systemClock.now(), MAX_ASKED, only, except] as const
      const { due, isFull } = await findDue(app.db.light, 'CREATED', ...asked)
      return { due: perCompany(due), isFull }
    },
    async act(companyId, { ids }) {
      await followOf(app, companyId, ids)
      return ids.length
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
