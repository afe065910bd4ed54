import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'
import { newId } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import { accepted } from '../../provider/providers.ts'
import type { App } from '../app.ts'
import { type Company, salesLimitOf } from '../companies/rules.ts'
import type { StaticCode } from './rules.ts'
import * as store from './static-store.ts'
import type { NewStaticCode, SalesLimits } from './view.ts'

const MONTH = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'America/Sao_Paulo',
  year: 'numeric',
  month: '2-digit',
})

/** What a limited company has sold by static codes this month, and what it may still sell. */
export async function salesLimits(app: App, company: Company): Promise<Static<typeof SalesLimits>> {
  const period = MONTH.format(app.clock.now())
  const limit = salesLimitOf(company, app.config.staticSalesLimit)
  if (limit === null) return { limited: false, limit, used: null, remaining: null, period }
  const used = await store.staticSales(app.db, company.id, period)
  return { limited: true, limit, used, remaining: Math.max(0, limit - used), period }
}

/** Asks the bank for the code. The caller saves it in its transaction. */
export async function createStaticCode(
  app: App,
  company: Company,
  body: Static<typeof NewStaticCode>,
): Promise<{ save(tx: Tx): Promise<StaticCode> }> {
  const devMode = body.devMode ?? false
  const amount = toCents(body.amount)
  if (!devMode) await requireRoom(app, company, amount)
  const id = newId()
  const provider = app.providers.of(company, devMode)
  const { brCode } = accepted(await provider.issueStaticCode(company, { id, amount }))
  const code = { companyId: company.id, id, amount, devMode, brCode, createdAt: app.clock.now() }
  return {
    async save(tx) {
      await store.insertStaticCode(tx, code)
      return code
    },
  }
}

async function requireRoom(app: App, company: Company, amount: number): Promise<void> {
  const { remaining } = await salesLimits(app, company)
  if (remaining === null || amount <= remaining) return
  throw problem(
    'sales_limit_exceeded',
    `amount: ${amount} cents exceed the ${remaining} that are left of this month’s limit.`,
  )
}
