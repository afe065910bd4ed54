import assert from 'node:assert/strict'
import { totalsOf } from '../../src/core/charges/counter.ts'
import { sumByCustomer } from '../../src/core/charges/customer-sums.ts'
import { monthsOf, readMonth } from '../../src/core/closings/commands.ts'
import { withCompanyClock } from '../../src/core/companies/clock.ts'
import { findCompany } from '../../src/core/companies/store.ts'
import { type Figures, type Period, readFigures } from '../../src/core/figures/figures.ts'
import type { Client, TestApi } from './api.ts'
import { requireProducts, requireSubscriptions } from './sales-figures.ts'

const ACCOUNTS = ['available', 'pending', 'held', 'unmatched', 'disputed', 'recipients'] as const
type Balance = Record<(typeof ACCOUNTS)[number], number>
export type Posting = {
  entry: number
  kind: string
  ref: string
  debit: string
  credit: string
  amount: number
  charge_id: string | null
  created_at: Date
}

/** All postings in their order, each with the latest moment until then. */
async function readPostings(
  api: TestApi,
  companyId: string,
): Promise<(Posting & { at: number })[]> {
  const rows = await api.rows<Posting>(
    'select * from postings where company_id = $1 order by entry',
    [companyId],
  )
  let at = 0
  return rows.map((row) => {
    at = Math.max(at, row.created_at.getTime())
    return { ...row, at }
  })
}

type World = { postings: (Posting & { at: number })[]; kinds: Map<string, string> }

/** Figures from the raw postings, written a second time without a look at the product. */
function figuresIn({ postings, kinds }: World, { from, to }: Period): Figures {
  const opening = Object.fromEntries(ACCOUNTS.map((name) => [name, 0])) as Balance
  const closing = { ...opening }
  const bySource = Object.fromEntries(
    ['PIX', 'LINK', 'STATIC', 'RECURRING', 'UNMATCHED'].map((name) => [name, { count: 0, sum: 0 }]),
  ) as Figures['bySource']
  const [received, returned, withdrawn] = [0, 1, 2].map(() => ({ count: 0, sum: 0 }))
  let play = 0
  for (const [i, one] of postings.entries()) {
    for (const [balance, end] of [
      [opening, from],
      [closing, to],
    ] as const) {
      if (one.at >= end.getTime()) continue
      if (one.credit in balance) balance[one.credit as keyof Balance] += one.amount
      if (one.debit in balance) balance[one.debit as keyof Balance] -= one.amount
    }
    if (one.at < from.getTime() || one.at >= to.getTime()) continue
    const isFirst = !/^(FINE|INTEREST)/.test(one.kind)
    const add = (sum: { count: number; sum: number }) => {
      sum.count += Number(isFirst)
      sum.sum += one.amount
    }
    if (one.kind === 'OPENING') play += one.amount
    else if (one.debit === 'bank') {
      add(received!)
      const next = postings[i + 1]
      const isRule = next?.ref === one.ref && next.kind === 'CHARGE_PAID' && next.at === one.at
      const charge =
        one.kind === 'PAYMENT_UNMATCHED' ? (isRule ? next.charge_id : null) : one.charge_id
      add(bySource[(kinds.get(charge ?? '') ?? 'UNMATCHED') as keyof typeof bySource])
    } else if (one.kind === 'WITHDRAWAL_PAID') add(withdrawn!)
    else if (one.credit === 'bank') add(returned!)
  }
  return {
    received: received!,
    bySource,
    returned: returned!,
    net: received!.sum - returned!.sum,
    withdrawn: withdrawn!,
    play,
    opening,
    closing,
  }
}

type PaidCharge = {
  id: string
  customer_id: string | null
  link_id: string | null
  dev_mode: boolean
  received: number
  refunded: number
}

/** What customers have paid, and links and counters received, is what the raw charges say. */
async function requireSums(api: TestApi, companyId: string): Promise<void> {
  const { db } = api.app
  const rowsOf = <T extends object>(text: string) => api.rows<T>(text, [companyId])
  const charges = await rowsOf<PaidCharge>(
    `select id, customer_id, link_id, dev_mode, amount + adjustment - shortfall as received,
       refunded from charges where company_id = $1 and status = 'COMPLETED'`,
  )
  const sumOf = (some: PaidCharge[], of: (charge: PaidCharge) => number) =>
    some.reduce((sum, charge) => sum + Number(of(charge)), 0)
  const customers = await rowsOf<{ id: string }>('select id from customers where company_id = $1')
  const ids = customers.map(({ id }) => id)
  for (const { customerId, count, paid } of await sumByCustomer(db, companyId, ids)) {
    const own = charges.filter((one) => one.customer_id === customerId && !one.dev_mode)
    const kept = sumOf(own, ({ received }) => received) - sumOf(own, ({ refunded }) => refunded)
    assert.deepEqual({ count, paid }, { count: own.length, paid: kept }, `customer ${customerId}`)
  }
  const links = await rowsOf<{ id: string; paid: number; received: number }>(
    'select id, paid, received from links where company_id = $1',
  )
  for (const { id, paid, received } of links) {
    const own = charges.filter(({ link_id }) => link_id === id)
    const expected = [own.length, sumOf(own, (one) => one.received)]
    assert.deepEqual([Number(paid), Number(received)], expected, `link ${id}`)
  }
  const sales = await rowsOf<{ charge_id: string }>(
    'select charge_id from counter_sales where company_id = $1',
  )
  const sold = charges.filter(({ id }) => sales.some(({ charge_id }) => charge_id === id))
  const { all } = await totalsOf(db, companyId, companyId, { from: new Date(0), to: null })
  assert.deepEqual(all, {
    count: sold.length,
    received: sumOf(sold, ({ received }) => received),
    refunded: sumOf(sold, ({ refunded }) => refunded),
  })
}

const HOUR_MS = 3_600_000
const totalOf = (balance: Balance) => ACCOUNTS.reduce((sum, name) => sum + balance[name], 0)

/** Moments at, between and around postings, and ends of hours and days: the same in every run. */
function edgesOf({ postings }: World, now: Date): Date[] {
  const step = Math.max(1, Math.floor(postings.length / 7))
  const times = postings.filter((_, i) => i % step === 0).map(({ at }) => at)
  const days = times.map((at) => Math.floor((at - 3 * HOUR_MS) / (24 * HOUR_MS)) * 24 * HOUR_MS)
  const edges = [
    ...times,
    ...times.map((at) => at + 1),
    ...times.map((at) => Math.floor(at / HOUR_MS) * HOUR_MS),
    ...days.map((day) => day + 3 * HOUR_MS),
    times[0]! - 40 * 24 * HOUR_MS,
    now.getTime() + 30 * HOUR_MS,
  ]
  return [...new Set(edges)].sort((a, b) => a - b).map((at) => new Date(at))
}

/**
 * Every figure of many periods is what the raw postings say. Opening and movements make closing,
 * and figures of adjacent periods add up. Months that are over agree with the ledger too, and sums
 * of customers, links and counters with the charges, and those of products and subscriptions.
 */
export async function requireFigures(api: TestApi, client: Pick<Client, 'company'>): Promise<void> {
  const company = (await findCompany(api.app.db, client.company.id))!
  const app = withCompanyClock(api.app, company)
  await requireSums(api, company.id)
  const postings = await readPostings(api, company.id)
  const charges = await api.rows<{ id: string; kind: string }>(
    'select id, kind from charges where company_id = $1',
    [company.id],
  )
  const world = { postings, kinds: new Map(charges.map(({ id, kind }) => [id, kind])) }
  const edges = edgesOf(world, app.clock.now())
  const neighbours = edges.slice(1).map((to, i) => ({ from: edges[i]!, to }))
  const wide = edges.slice(3).map((to, i) => ({ from: edges[i]!, to }))
  const all = { from: edges[0]!, to: edges.at(-1)! }
  const periods = [all, ...neighbours, ...wide]
  const found = await readFigures(app, company, periods)
  for (const [i, period] of periods.entries()) {
    const figures = found[i]!
    const name = `${period.from.toISOString()} to ${period.to.toISOString()}`
    assert.deepEqual(figures, figuresIn(world, period), name)
    const { received, returned, withdrawn, play, opening, closing } = figures
    const moved = received.sum - returned.sum - withdrawn.sum + play
    assert.equal(totalOf(closing) - totalOf(opening), moved, name)
  }
  const parts = found.slice(1, 1 + neighbours.length)
  const sum = (of: (figures: Figures) => number) => parts.reduce((all, one) => all + of(one), 0)
  const [whole] = found
  for (const name of ['received', 'returned', 'withdrawn'] as const) {
    assert.deepEqual(
      { count: sum((one) => one[name].count), sum: sum((one) => one[name].sum) },
      whole![name],
    )
  }
  for (const [i, { opening }] of parts.slice(1).entries()) {
    assert.deepEqual(opening, parts[i]!.closing)
  }
  const some = neighbours.filter((_, i) => i % 5 === 0)
  await requireProducts(api, app, company, { postings, all, parts: neighbours })
  await requireSubscriptions(api, app, company, [all, ...some])
  for (const month of monthsOf(app, company)) {
    const { closing } = await readMonth(app, company, month)
    assert.equal(closing.unmatched.sum, closing.closing.unmatched, `unmatched in ${month}`)
    assert.equal(closing.disputes.sum, closing.closing.disputed, `disputed in ${month}`)
  }
}
