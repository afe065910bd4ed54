import assert from 'node:assert/strict'
import { readProducts, readSubscriptionFigures } from '../../src/core/figures/figures.ts'
import type { Period } from '../../src/core/figures/rules.ts'
import { toPublic } from '../../src/lib/ids.ts'
import type { TestApi } from './api.ts'

type Company = Parameters<typeof readProducts>[1]
type Given = Parameters<typeof readProducts>[0]
type PaidAt = { kind: string; charge_id: string | null; at: number }
type Item = { quantity: number; product: { id: string; price: number } }
type Charge = {
  id: string
  kind: string
  amount: number
  items: Item[] | null
  product_id: string | null
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const isIn = (at: Date | number, { from, to }: Period) =>
  Number(at) >= from.getTime() && Number(at) < to.getTime()

/** The whole hours that a period has a part of. */
const hoursAround = ({ from, to }: Period): Period => ({
  from: new Date(Math.floor(from.getTime() / HOUR_MS) * HOUR_MS),
  to: new Date(Math.ceil(to.getTime() / HOUR_MS) * HOUR_MS),
})

/** Some periods with sales, and from the first moment until each. */
function periodsWithSales(postings: PaidAt[], { from }: Period, parts: Period[]): Period[] {
  const isSale = ({ kind, charge_id }: PaidAt) => kind === 'CHARGE_PAID' && charge_id !== null
  const sold = parts.filter((part) => postings.some((one) => isSale(one) && isIn(one.at, part)))
  return sold.slice(-4).flatMap((part) => [part, { from, to: part.to }])
}

/** An item of a price that nobody pays counts for no more. */
const MAX_ITEM = 999_999_999_999

const linesOf = ({ kind, items, amount, product_id }: Charge) =>
  kind === 'RECURRING'
    ? [{ id: toPublic('prod', product_id!), quantity: 1, sum: Number(amount) }]
    : (items ?? []).map(({ quantity, product: { id, price } }) => {
        return { id, quantity, sum: Math.min(quantity * price, MAX_ITEM) }
      })

/** What was sold of each product, and in the period before, is what the raw charges say. */
export async function requireProducts(
  api: TestApi,
  app: Given,
  company: Company,
  { postings, all, parts }: { postings: PaidAt[]; all: Period; parts: Period[] },
): Promise<void> {
  const charges = await api.rows<Charge>(
    `select c.id, c.kind, c.amount, c.link -> 'items' as items, r.product_id
     from charges c
     left join recurrences r on r.company_id = c.company_id and r.id = c.recurrence_id
     where c.company_id = $1 and c.kind in ('LINK', 'RECURRING')`,
    [company.id],
  )
  const byId = new Map(charges.map((charge) => [charge.id, charge]))
  const soldIn = (period: Period) => {
    const sold = new Map<string, { quantity: number; sum: number }>()
    for (const { kind, charge_id, at } of postings) {
      const charge = kind === 'CHARGE_PAID' && isIn(at, period) && byId.get(charge_id ?? '')
      if (!charge) continue
      for (const { id, quantity, sum } of linesOf(charge)) {
        const before = sold.get(id) ?? { quantity: 0, sum: 0 }
        sold.set(id, { quantity: before.quantity + quantity, sum: before.sum + sum })
      }
    }
    return sold
  }
  const period = hoursAround(all)
  const now = soldIn(period)
  for (const compared of [all, ...periodsWithSales(postings, all, parts)]) {
    const before = soldIn(compared)
    const found = await readProducts(app, company, { period, compared }, 1000)
    assert.deepEqual(
      Object.fromEntries(
        found.map(({ productId, quantity, sum, before }) => [
          toPublic('prod', productId),
          { quantity, sum, before },
        ]),
      ),
      Object.fromEntries(
        now.entries().map(([id, one]) => [id, { ...one, before: before.get(id)?.sum ?? 0 }]),
      ),
    )
    const sums = found.map(({ sum }) => sum)
    assert.deepEqual(
      sums,
      sums.toSorted((a, b) => b - a),
    )
  }
}

type Recurrence = {
  id: string
  value: number
  frequency: 'WEEKLY' | 'MONTHLY' | 'SEMIANNUAL' | 'ANNUAL'
  auth_status: string
  first_on: string | null
  created_at: Date
  decided_at: Date | null
}
type Cycle = { recurrence_id: string; cycle: number; due_on: string; status: string; paid: boolean }

/** How often a price is paid in a year. */
const IN_A_YEAR = { WEEKLY: 52, MONTHLY: 12, SEMIANNUAL: 2, ANNUAL: 1 }
/** Today's date in São Paulo, which is three hours behind UTC. */
const dayOf = (at: Date) => new Date(at.getTime() - 3 * HOUR_MS).toISOString().slice(0, 10)

/** The figures of subscriptions are what raw agreements and the payments of their charges say. */
export async function requireSubscriptions(
  api: TestApi,
  app: Given,
  company: Company,
  periods: Period[],
): Promise<void> {
  const all = await api.rows<Recurrence>(
    'select * from recurrences where company_id = $1 and not is_template',
    [company.id],
  )
  const cycles = await api.rows<Cycle>(
    `select b.recurrence_id, b.cycle, b.due_on, b.status, c.payment_date is not null as paid
     from billings b join charges c on c.company_id = b.company_id and c.id = b.charge_id
     where b.company_id = $1`,
    [company.id],
  )
  const active = all.filter(({ auth_status }) => auth_status === 'APPROVED')
  const today = dayOf(app.clock.now())
  const earliest = dayOf(new Date(app.clock.now().getTime() - 30 * DAY_MS))
  const isOverdue = ({ id }: Recurrence) => {
    const own = cycles.filter(({ recurrence_id }) => recurrence_id === id)
    const lastPaid = Math.max(-1, ...own.filter(({ paid }) => paid).map(({ cycle }) => cycle))
    return own.some(
      ({ cycle, due_on, status, paid }) =>
        cycle > lastPaid && !paid && status !== 'CANCELED' && due_on < today && due_on >= earliest,
    )
  }
  const yearly = active.reduce(
    (sum, { value, frequency }) => sum + Number(value) * IN_A_YEAR[frequency],
    0,
  )
  const approvedOnce = all.filter(({ first_on }) => first_on !== null)
  for (const period of periods) {
    assert.deepEqual(
      { ...(await readSubscriptionFigures(app, company, period)) },
      {
        mrr: Math.round(yearly / 12),
        active: active.length,
        started: approvedOnce.filter(({ created_at }) => isIn(created_at, period)).length,
        canceled: approvedOnce.filter(
          ({ auth_status, decided_at }) => auth_status === 'CANCELED' && isIn(decided_at!, period),
        ).length,
        overdue: active.filter(isOverdue).length,
      },
    )
  }
}
