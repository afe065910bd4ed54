import type { Billing } from '../core/billings/rules.ts'
import { withCompanyClock } from '../core/companies/clock.ts'
import type { Company } from '../core/companies/rules.ts'
import { findCompany } from '../core/companies/store.ts'
import type { DueOfCompany } from '../core/due.ts'
import type { FullApp } from '../core/full-app.ts'
import { askAbout, reschedule } from '../core/recurrences/agreements.ts'
import { type BillingJob, openBillingJobs, stepBilling } from '../core/recurrences/billing-jobs.ts'
import type { Recurrence } from '../core/recurrences/rules.ts'
import { find } from '../core/recurrences/store.ts'
import { forEachLimited } from '../lib/for-each-limited.ts'
import { toPublic, type Uuid } from '../lib/ids.ts'
import { describeError } from '../lib/log.ts'

/** How many collections are with one bank at once. */
const AT_ONCE = 10

/** Does the next step of claimed billings of a company. */
export async function stepBillings(app: FullApp, companyId: Uuid, due: Billing[]): Promise<void> {
  const company = await findCompany(app.db.light, companyId)
  if (!company) return
  await stepAll(app, await openBillingJobs(withCompanyClock(app, company), company, due))
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

/**
 * Asks the bank of a company about agreements. If it does not answer about one, the others wait
 * until later. Returns how many there were.
 */
export async function followAgreements(
  app: FullApp,
  { companyId, ids }: DueOfCompany,
): Promise<number> {
  const company = await findCompany(app.db.light, companyId)
  if (!company) return 0
  const own = withCompanyClock(app, company)
  let answers = true
  for (const id of ids) {
    const recurrence = await find(app.db, companyId, id)
    if (recurrence && !answers) await reschedule(own, recurrence)
    else if (recurrence) answers = await ask(own, company, recurrence)
  }
  return ids.length
}

/** Returns whether the bank answered. */
async function ask(app: FullApp, company: Company, recurrence: Recurrence): Promise<boolean> {
  return askAbout(app, company, recurrence).catch((error) => {
    const subscription = toPublic('rec', recurrence.id)
    app.log.error({ ...describeError(error), subscription }, 'an agreement was not asked about')
    return false
  })
}
