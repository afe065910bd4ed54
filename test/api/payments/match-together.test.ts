import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { auditDue } from '../../../src/core/audits/commands.ts'
import { receiveCallback } from '../../../src/core/payments/callbacks.ts'
import { matchGroups } from '../../../src/core/payments/match.ts'
import { fromPublic } from '../../../src/lib/ids.ts'
import { toCents } from '../../../src/lib/money.ts'
import { callbackBody } from '../../../src/provider/callback.ts'
import type { Transfer } from '../../../src/provider/simulator/records.ts'
import { chargeTxid } from '../../../src/provider/txid.ts'
import { processDueCallbacks } from '../../../src/worker/due.ts'
import { type Client, eventsOf, startApi } from '../../support/api.ts'
import { balancesOf, makeCharge, movementsOf, stateOf } from '../../support/payments.ts'
import { cure, poisonRows } from '../../support/poison.ts'
import { until } from '../../support/until.ts'

const api = await startApi()
const { app } = api

type Arrived = { client: Client; id: string; transfer: Transfer }

/** A charge whose money is at the bank, which has sent no callback yet. */
async function arrive(client: Client, amount = 1990): Promise<Arrived> {
  const { id } = await makeCharge(client, amount)
  const txid = chargeTxid(fromPublic('charge', id)!)
  const transfer = await app.providers.simulator.pay(client.company, {
    txid,
    amount: toCents(amount),
  })
  return { client, id, transfer }
}

/** Callbacks that arrive at the same moment, each with its result. */
function callBack(arrived: Arrived[]) {
  return arrived.map(async ({ client, transfer }) => {
    const body = callbackBody({ ...transfer, receivedAt: transfer.at })
    return (await receiveCallback(app, client.company.id, 'simulator', body)).processed
  })
}

const openShops = (count: number) => Promise.all(Array.from({ length: count }, () => api.client()))

const PAID = ['COMPLETED', 'PAID']
const OPEN = ['OPEN', 'PROCESSING']

test('payments of many companies that arrive together are booked in each one’s books', async () => {
  const shops = await openShops(12)
  const arrived = await Promise.all(
    shops.flatMap((shop, i) => [arrive(shop, 1000 + i), arrive(shop, 2000 + i)]),
  )
  const transactions = await countCommits(async () => {
    const results = await Promise.all(callBack([...arrived, ...arrived]))
    assert.deepEqual([...new Set(results)], ['processed'])
  })
  for (const [i, shop] of shops.entries()) {
    assert.equal((await balancesOf(api, shop)).pending, 3000 + 2 * i)
    assert.equal((await movementsOf(api, shop)).length, 2)
    assert.equal((await eventsOf(api, shop.company.id)).length, 6)
  }
  for (const { client, id } of arrived) assert.deepEqual(await stateOf(client, id), PAID)
  assert.ok(transactions < shops.length, `${transactions} transactions for 12 companies`)
  await auditDue(app)
  const differing = await api.rows('select 1 from audits where difference is not null')
  assert.deepEqual(differing, [])
})

/** How many transactions have written postings meanwhile. */
async function countCommits(act: () => Promise<void>): Promise<number> {
  const read = () => api.rows<{ xmin: string }>('select distinct xmin::text as xmin from postings')
  const before = new Set((await read()).map(({ xmin }) => xmin))
  await act()
  return (await read()).filter(({ xmin }) => !before.has(xmin)).length
}

for (const [what, lock] of [
  ['books', 'select from balances where company_id = $1 for update'],
  ['charges', 'select from charges where company_id = $1 for update'],
] as const) {
  test(`while a transaction holds a company’s ${what}, payments of others are matched`, async () => {
    const [held, ...others] = await openShops(4)
    const first = await arrive(held!)
    const rest = await Promise.all(others.map((shop) => arrive(shop)))
    const holder = new pg.Client({ connectionString: api.databaseUrl })
    await holder.connect()
    try {
      await holder.query('begin')
      await holder.query(lock, [held!.company.id])
      const [waiting, ...done] = callBack([first, ...rest])
      assert.deepEqual(await Promise.all(done), ['processed', 'processed', 'processed'])
      assert.deepEqual(await stateOf(held!, first.id), OPEN)
      await holder.query('commit')
      assert.equal(await waiting, 'processed')
    } finally {
      await holder.end()
    }
    assert.deepEqual(await stateOf(held!, first.id), PAID)
    assert.equal((await movementsOf(api, held!)).length, 1)
  })
}

test('a company whose books cannot be written fails alone, and is matched when they can', async () => {
  const [sick, ...others] = await openShops(4)
  const first = await arrive(sick!)
  const rest = await Promise.all(others.map((shop) => arrive(shop)))
  await poisonRows(api, sick!.company.id, ['balances'])
  const results = await Promise.all(callBack([first, ...rest]))
  assert.deepEqual(results, ['failed', 'processed', 'processed', 'processed'])
  assert.deepEqual(await stateOf(sick!, first.id), OPEN, 'nothing is half done')
  assert.deepEqual(await movementsOf(api, sick!), [])
  await cure(api)
  api.clock.advance(60)
  await processDueCallbacks.run(app)
  await until('it is matched', async () => (await stateOf(sick!, first.id))[1] === 'PAID')
  assert.equal((await movementsOf(api, sick!)).length, 1)
  for (const { client } of rest) assert.equal((await movementsOf(api, client)).length, 1)
})

test('a payment that the merchant decides about is left out, and nobody waits for it', async () => {
  const [held, other] = await openShops(2)
  const groups = await Promise.all(
    [held!, other!].map(async ({ company }, i) => {
      const endToEndId = `E9999999920261116120012345678${String(i).padStart(3, '0')}`
      const pix = { endToEndId, txid: null, amount: toCents(1990), receivedAt: api.clock.now() }
      return { company, payments: [pix], arrival: { source: 'simulated', now: pix.receivedAt } }
    }),
  )
  const match = (all: typeof groups) =>
    app.db.transaction((tx) => matchGroups(tx, app, all as never, 'skip'))
  await match(groups)
  // Now the bank names what they are for.
  const charges = await Promise.all([makeCharge(held!, 1990), makeCharge(other!, 1990)])
  const named = groups.map(({ payments: [pix], ...group }, i) => ({
    ...group,
    payments: [{ ...pix!, txid: chargeTxid(fromPublic('charge', charges[i]!.id)!) as never }],
  }))
  const holder = new pg.Client({ connectionString: api.databaseUrl })
  await holder.connect()
  try {
    await holder.query('begin')
    const lock = 'select from payments where company_id = $1 for update'
    await holder.query(lock, [held!.company.id])
    const [left, matched] = await match(named)
    assert.deepEqual([left, matched?.[0]?.kind], [null, 'paid'])
  } finally {
    await holder.end()
  }
  const [again] = await match(named.slice(0, 1))
  assert.equal(again?.[0]?.kind, 'paid')
  assert.equal((await balancesOf(api, held!)).pending, 1990)
})
