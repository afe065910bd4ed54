import type { App } from '../core/app.ts'
import { inTimeOf, nowOf } from '../core/companies/clock.ts'
import { findCompany } from '../core/companies/store.ts'
import { LEASE_S } from '../core/orders.ts'
import { askAbout } from '../core/recurrences/agreements.ts'
import {
  type Case,
  generateCharges,
  openBillings,
  stepBilling,
} from '../core/recurrences/billing.ts'
import { claimDue } from '../core/recurrences/billing-store.ts'
import type { Billing } from '../core/recurrences/rules.ts'
import { find, findDue } from '../core/recurrences/store.ts'
import { toPublic, type Uuid } from '../lib/ids.ts'
import { describeError } from '../lib/log.ts'

/** Charges that are generated in one transaction. */
const MOST_GENERATED = 500
/** Collections that banks are told of, or asked about, at once. */
const AT_ONCE = 10
/** Few enough that a slow bank is through with them before their lease is over. */
const MOST_CLAIMED = 50

/** Generates the charges of cycles whose day has come, company by company. */
export async function generateDue(app: App, signal?: AbortSignal, only: Uuid | null = null) {
  for (let found = MOST_GENERATED; found > 0 && !signal?.aborted; ) {
    const due = await findDue(app.db.light, 'APPROVED', app.wall.now(), MOST_GENERATED, only)
    found = 0
    for (const { companyId, ids, clockAhead_ms } of due) {
      const now = nowOf(app, { clockAhead_ms })
      const work = app.db.transaction((tx) => generateCharges(tx, companyId, ids, now))
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
    await atOnce(groups, async ([companyId, due]) => {
      cases.push(...(await open(app, companyId, due)))
    })
    await atOnce(cases, (one) => step(app, one))
  }
}

/** Does something with each of many, a few at a time. */
async function atOnce<T>(all: T[], act: (one: T) => Promise<void>): Promise<void> {
  const rest = [...all]
  const work = async () => {
    for (let one = rest.pop(); one; one = rest.pop()) await act(one)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
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

async function step(app: App, one: Case): Promise<void> {
  await stepBilling(one).catch((error) => {
    const charge = toPublic('charge', one.billing.chargeId)
    app.log.error({ ...describeError(error), charge }, 'a billing was interrupted')
  })
}

const MOST_ASKED = 100

/** Asks banks about agreements that nobody has told of for a day, or whose time is over. */
export async function followDue(app: App, signal?: AbortSignal, only: Uuid | null = null) {
  for (let found = MOST_ASKED; found >= MOST_ASKED && !signal?.aborted; ) {
    const due = await findDue(app.db.light, 'CREATED', app.wall.now(), MOST_ASKED, only)
    found = due.reduce((sum, { ids }) => sum + ids.length, 0)
    for (const { companyId, ids } of due) {
      const company = await findCompany(app.db.light, companyId)
      for (const id of company ? ids : []) {
        const recurrence = await find(app.db, companyId, id)
        if (recurrence) await askAbout(inTimeOf(app, company!), company!, recurrence)
      }
    }
  }
}
