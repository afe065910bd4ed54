import type { App } from '../core/app.ts'
import { inTimeOf, nowOf } from '../core/companies/clock.ts'
import type { Company } from '../core/companies/rules.ts'
import { findCompany } from '../core/companies/store.ts'
import { LEASE_S } from '../core/orders.ts'
import { askAbout, putOff } from '../core/recurrences/agreements.ts'
import {
  type Case,
  generateCharges,
  openBillings,
  stepBilling,
} from '../core/recurrences/billing.ts'
import { claimDue } from '../core/recurrences/billing-store.ts'
import type { Billing, Recurrence } from '../core/recurrences/rules.ts'
import { find, findDue } from '../core/recurrences/store.ts'
import { atOnce } from '../lib/at-once.ts'
import { toPublic, type Uuid } from '../lib/ids.ts'
import { describeError } from '../lib/log.ts'

/** Charges that are generated in one transaction. */
const MOST_GENERATED = 500
/** Collections that banks are told of, or asked about, at once. */
const AT_ONCE = 10
/** Few enough that a bank which answers is through with them before their lease is over. */
const MOST_CLAIMED = 50

/** Generates the charges of cycles whose day has come, company by company. */
export async function generateDue(app: App, signal?: AbortSignal, only: Uuid | null = null) {
  for (let found = MOST_GENERATED; found > 0 && !signal?.aborted; ) {
    const due = await findDue(app.db.light, 'APPROVED', app.wall.now(), MOST_GENERATED, only)
    found = 0
    for (const { companyId, ids, clockAhead_ms } of due) {
      const now = nowOf(app, { clockAhead_ms })
      const work = app.db.transaction((tx) => generateCharges(tx, app.vault, companyId, ids, now))
      found += await work.catch((error) => {
        app.log.error({ ...describeError(error), company: companyId }, 'charges were not generated')
        return 0
      })
    }
  }
}

/** Tells banks what to collect, and asks them what came of it. */
export async function billDue(app: App, signal?: AbortSignal, only: Uuid | null = null) {
  for (let found = MOST_CLAIMED; found === MOST_CLAIMED && !signal?.aborted; ) {
    const claimed = await claimDue(app.db.light, app.wall.now(), LEASE_S, MOST_CLAIMED, only)
    found = claimed.length
    const groups = [...Map.groupBy(claimed, ({ companyId }) => companyId)]
    const cases: Case[] = []
    await atOnce(AT_ONCE, groups, async ([companyId, due]) => {
      cases.push(...(await open(app, companyId, due)))
    })
    const silent = new Set<Uuid>()
    await atOnce(AT_ONCE, cases, async (one) => {
      // A bank that did not answer about one is asked about the others when their lease is over.
      if (silent.has(one.company.id)) return
      const isReal = one.provider !== app.providers.simulator
      if (!(await step(app, one)) && isReal) silent.add(one.company.id)
    })
  }
}

/** What fails here is taken up again when its lease is over. */
async function open(app: App, companyId: Uuid, due: Billing[]): Promise<Case[]> {
  try {
    const company = await findCompany(app.db.light, companyId)
    return company ? await openBillings(inTimeOf(app, company), company, due) : []
  } catch (error) {
    app.log.error({ ...describeError(error), company: companyId }, 'billings were not taken up')
    return []
  }
}

/** Tells whether the bank has answered. */
function step(app: App, one: Case): Promise<boolean> {
  return stepBilling(one).catch((error) => {
    const charge = toPublic('charge', one.billing.chargeId)
    app.log.error({ ...describeError(error), charge }, 'a billing was interrupted')
    return true
  })
}

const MOST_ASKED = 100
const BANKS_AT_ONCE = 8

/** Asks banks about agreements that nobody has told of for a while, or whose time is over. */
export async function followDue(app: App, signal?: AbortSignal, only: Uuid | null = null) {
  for (let found = MOST_ASKED; found >= MOST_ASKED && !signal?.aborted; ) {
    const due = await findDue(app.db.light, 'CREATED', app.wall.now(), MOST_ASKED, only)
    found = due.reduce((sum, { ids }) => sum + ids.length, 0)
    await atOnce(BANKS_AT_ONCE, due, ({ companyId, ids }) => followOf(app, companyId, ids))
  }
}

/** A bank that does not answer about one agreement is not asked about the others right now. */
async function followOf(app: App, companyId: Uuid, ids: Uuid[]): Promise<void> {
  const company = await findCompany(app.db.light, companyId)
  if (!company) return
  const own = inTimeOf(app, company)
  let answers = true
  for (const id of ids) {
    const recurrence = await find(app.db, companyId, id)
    if (recurrence && !answers) await putOff(own, recurrence)
    else if (recurrence) answers = await ask(own, company, recurrence)
  }
}

/** Tells whether the bank has answered. */
async function ask(app: App, company: Company, recurrence: Recurrence): Promise<boolean> {
  return askAbout(app, company, recurrence).catch((error) => {
    const subscription = toPublic('rec', recurrence.id)
    app.log.error({ ...describeError(error), subscription }, 'an agreement was not asked about')
    return false
  })
}
