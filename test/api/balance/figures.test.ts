import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKey } from '../../../src/core/companies/commands.ts'
import {
  readConversion,
  readProducts,
  readSubscriptionFigures,
} from '../../../src/core/figures/figures.ts'
import { groupsOf } from '../../../src/core/figures/groups.ts'
import { partsOf } from '../../../src/core/figures/rules.ts'
import { type Client, payer, startApi } from '../../support/api.ts'
import { approvedSubscription } from '../../support/billing.ts'
import { requireFigures } from '../../support/figures.ts'
import { productOf } from '../../support/pages.ts'
import { makeCharge, makeCode, makePaid, makeUnmatched, pay } from '../../support/payments.ts'
import { makeSubscription, RECURRENCES } from '../../support/subscriptions.ts'

const api = await startApi()
const HOUR_S = 3600
const FIGURES = '/account-balance/figures'

const listed = async (client: Client, query: string) => {
  const { status, body, text } = await client.get(`${FIGURES}?${query}`)
  assert.equal(status, 200, text)
  return body.data
}

test('each group has what was booked in it, and its balances are those of the ledger', async () => {
  const client = await api.client()
  const first = api.clock.now()
  await makePaid(api, client, 1990)
  await pay(api, (await makeCode(client, 250)).brCode)
  api.clock.advance(24 * HOUR_S)
  const unmatched = await makeUnmatched(api, client, 700)
  await client.post(`/payment/unmatched/${unmatched}/accept`)
  const day = (at: Date) => at.toISOString().slice(0, 10)
  const [before, after] = await listed(client, `from=${day(first)}&to=${day(api.clock.now())}`)
  assert.deepEqual(before.received, { count: 2, sum: 2240 })
  assert.deepEqual(before.bySource.STATIC, { count: 1, sum: 250 })
  assert.deepEqual(before.opening, { available: 0, pending: 0, held: 0, unmatched: 0 })
  assert.deepEqual(after.received, { count: 2, sum: 1200 })
  assert.deepEqual(after.bySource.UNMATCHED, { count: 1, sum: 700 })
  assert.deepEqual(after.opening, before.closing)
  assert.deepEqual(after.closing, (await client.get('/account-balance')).body.data)
  await requireFigures(api, client)
})

test('groups are whole days, weeks from Monday on and months in São Paulo, cut to the period', () => {
  const period = { from: new Date('2026-10-28T15:30:00Z'), to: new Date('2026-11-04T03:00:00Z') }
  const starts = (group: 'day' | 'week' | 'month') =>
    groupsOf(period, group, 99).map(({ from }) => from.toISOString().slice(0, 16))
  assert.deepEqual(starts('month'), ['2026-10-28T15:30', '2026-11-01T03:00'])
  assert.deepEqual(starts('week'), ['2026-10-28T15:30', '2026-11-02T03:00'])
  assert.deepEqual(starts('day').slice(0, 2), ['2026-10-28T15:30', '2026-10-29T03:00'])
  assert.equal(starts('day').length, 7)
  assert.equal(groupsOf(period, 'day', 3).length, 3)
})

test('a period is read in the fewest parts, which follow each other', () => {
  for (const [from, to, spans] of [
    ['2026-10-28T15:30:00Z', '2026-11-04T05:20:00Z', 'entries hour day hour entries'],
    ['2026-10-28T03:00:00Z', '2026-10-29T03:00:00Z', 'day'],
    ['2026-10-28T15:30:00Z', '2026-10-28T15:40:00Z', 'entries'],
    ['2026-10-28T15:30:00Z', '2026-10-28T16:10:00Z', 'entries entries'],
    ['2026-10-28T15:00:00Z', '2026-10-28T17:00:00Z', 'hour'],
    ['2026-10-28T15:00:00Z', '2026-10-28T15:00:00Z', ''],
  ]) {
    const period = { from: new Date(from!), to: new Date(to!) }
    const parts = partsOf(period)
    assert.equal(parts.map(({ span }) => span).join(' '), spans)
    if (parts.length === 0) continue
    assert.deepEqual([parts[0]!.from, parts.at(-1)!.to], [period.from, period.to])
    for (const [i, part] of parts.slice(1).entries()) assert.deepEqual(part.from, parts[i]!.to)
  }
})

test('what is too long, turned around or out of the calendar is refused with a sentence', async () => {
  const client = await api.client()
  for (const [query, sentence] of [
    ['from=2020-01-01', 'more than 366 groups'],
    ['from=2026-08-10&to=2026-08-09', 'from: must be before to'],
    ['from=0001-01-01T00:00:00Z&group=month', 'from: must be 2000-01-01 or later'],
    ['from=2026-01-01&to=9999-12-31T00:00:00Z&group=month', 'to: must be before 2999-01-01'],
  ]) {
    const { status, text } = await client.get(`${FIGURES}?${query}`)
    assert.equal(status, 400, text)
    assert.ok(text.includes(sentence!), text)
  }
  const days = await listed(client, 'from=2025-08-21&to=2026-08-21')
  assert.equal(days.length, 366)
})

test('figures need the scope of the balance', async () => {
  const client = await api.client()
  const { app } = api
  const { text } = await app.db.transaction((tx) =>
    createKey(
      tx,
      app.vault,
      client.company,
      { name: 'payments', scopes: ['payments:read'] },
      app.clock.now(),
    ),
  )
  const reply = await api.call('GET', FIGURES, { headers: { 'x-api-key': text } })
  assert.equal(reply.status, 403)
})

const DAY_MS = 24 * HOUR_S * 1000
/** From two days ago until tomorrow, at whole hours. */
const around = (now: Date) => {
  const hour = Math.floor(now.getTime() / 3_600_000) * 3_600_000
  return { from: new Date(hour - 2 * DAY_MS), to: new Date(hour + DAY_MS) }
}

/** As if a period was compared with itself. */
const both = ({ clock }: typeof api) => {
  const period = around(clock.now())
  return { period, compared: period }
}

test('products are the items of paid links, and what the most was paid for comes first', async () => {
  const client = await api.client()
  const bread = await productOf(client, { name: 'Pão', price: 500 })
  const cake = await productOf(client, { name: 'Bolo', price: 3000 })
  const make = async (items: { productId: string; quantity: number }[], total?: number) => {
    const body = { customer: payer(), items, devMode: true, ...(total && { total }) }
    const { status, body: made, text } = await client.post('/charge/payment-link', body)
    assert.equal(status, 201, text)
    return made.data.id as string
  }
  const read = async () => {
    const products = await readProducts(api.app, client.company, both(api), 10)
    return products.map(({ name, quantity, sum }) => [name, quantity, sum])
  }
  const sale = [
    { productId: bread, quantity: 3 },
    { productId: cake, quantity: 1 },
  ]
  for (const id of [await make(sale), await make(sale, 600)]) {
    assert.equal((await client.post(`/charge/${id}/simulate-payment`)).status, 200)
  }
  await make([{ productId: bread, quantity: 9 }])
  assert.deepEqual(await read(), [
    ['Bolo', 2, 6000],
    ['Pão', 6, 3000],
  ])
  assert.equal((await client.delete(`/product/${bread}`)).status, 200)
  const renamed = { name: 'Torta', description: 'Doce', price: 9000 }
  assert.equal((await client.put(`/product/${cake}`, renamed)).status, 200)
  assert.deepEqual(await read(), [
    ['Torta', 2, 6000],
    ['Pão', 6, 3000],
  ])
})

test('items of absurd prices stop no count', async () => {
  const client = await api.client()
  const productId = await productOf(client, { name: 'Ouro', price: 999_999_999_999 })
  const items = [{ productId, quantity: 9999 }]
  for (let n = 0; n < 2; n++) {
    const body = { customer: payer(), items, total: 600, devMode: true }
    const { id } = (await client.post('/charge/payment-link', body)).body.data
    assert.equal((await client.post(`/charge/${id}/simulate-payment`)).status, 200)
  }
  const [gold] = await readProducts(api.app, client.company, both(api), 1)
  assert.ok(gold!.sum > 0 && Number.isSafeInteger(gold!.sum))
  await requireFigures(api, client)
})

test('conversion counts the charges of a period, whenever they were paid', async () => {
  const client = await api.client()
  const period = around(api.clock.now())
  const read = () => readConversion(api.app, client.company, period)
  const { brCode } = await makeCharge(client, 1000, { expiresIn: 30 * 24 * HOUR_S })
  await makeCharge(client, 1000)
  await pay(api, (await makeCode(client, 250)).brCode)
  assert.deepEqual(await read(), { made: 2, paid: 0 })
  api.clock.advance(3 * 24 * HOUR_S)
  assert.deepEqual(await read(), { made: 2, paid: 0 })
  await makePaid(api, client, 1000)
  await pay(api, brCode)
  assert.deepEqual(await read(), { made: 2, paid: 1 })
})

test('subscriptions bring in what their prices make in a month, while they are active', async () => {
  const client = await api.client()
  const read = (from = around(api.clock.now()).from) =>
    readSubscriptionFigures(api.app, client.company, {
      from,
      to: around(api.clock.now()).to,
    })
  const started = api.clock.now()
  const prices = { WEEKLY: 1200, MONTHLY: 1990, SEMIANNUAL: 6000, ANNUAL: 12_000 }
  const made = []
  for (const [frequency, price] of Object.entries(prices)) {
    made.push(await approvedSubscription(api, client, { frequency, price }))
  }
  await makeSubscription(client)
  const mrr = 5200 + 1990 + 1000 + 1000
  assert.deepEqual(await read(), { mrr, active: 4, started: 4, canceled: 0, overdue: 0 })
  api.clock.advance(9 * 24 * HOUR_S)
  await client.post(`${RECURRENCES}/${made[1]!.id}/cancel`)
  const later = await read()
  assert.deepEqual(later, { mrr: mrr - 1990, active: 3, started: 0, canceled: 1, overdue: 0 })
  assert.equal((await read(new Date(started.getTime() - DAY_MS))).started, 4)
})
