import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApp } from '../../../src/app.ts'
import { find as findBilling, insert } from '../../../src/core/billings/store.ts'
import type { FullApp } from '../../../src/core/full-app.ts'
import { openBillingJobs, stepBilling } from '../../../src/core/recurrences/billing-jobs.ts'
import { generateCharges } from '../../../src/core/recurrences/commands.ts'
import { violatedConstraint } from '../../../src/db/database.ts'
import { fromPublic } from '../../../src/lib/ids.ts'
import { createLog } from '../../../src/lib/log.ts'
import { billDue, collectDue, generateDue } from '../../../src/worker/due.ts'
import { type Client, startApi } from '../../support/api.ts'
import {
  approvedSubscription,
  at,
  attemptsOf,
  chargesOf,
  collectionsOf,
  type Day,
  feedOf,
  type Subscription,
  statesOf,
} from '../../support/billing.ts'
import { transfersOf } from '../../support/payments.ts'
import { readSubscription } from '../../support/subscriptions.ts'

// Companies live in real time here, by a clock that the tests move for all of them together.
const api = await startApi()
const { app, clock } = api
const { simulator } = app.providers

/** Lets time go by until a moment, with nobody at work. */
const sleepUntil = (moment: string) =>
  clock.advance((Date.parse(moment) - clock.now().getTime()) / 1000)

/** All that a worker does about subscriptions, once. */
async function work(worker = app): Promise<void> {
  await generateDue.run(worker)
  await billDue.run(worker)
  await collectDue.run(worker)
}

/** Works through days, at each moment of them at which something can be due. */
async function workThrough(from: Day, to: Day): Promise<void> {
  for (let day = Date.parse(from); day <= Date.parse(to); day += 24 * 3600 * 1000) {
    for (const time of ['00:00:00', '08:00:00', '12:00:00']) {
      const moment = at(new Date(day).toISOString().slice(0, 10), time)
      if (Date.parse(moment) < clock.now().getTime()) continue
      sleepUntil(moment)
      await work()
    }
  }
}

type Subscribed = Subscription & { client: Client }

async function subscribed(
  fields: Record<string, unknown> = {},
  funds?: boolean,
): Promise<Subscribed> {
  const client = await api.client()
  return { client, ...(await approvedSubscription(api, client, fields, funds)) }
}

/** A day that begins a week of work, far from what other tests have left behind. */
async function beginOn(day: Day): Promise<void> {
  sleepUntil(at(day, '09:00:00'))
  await work()
}

const billingOf = async ({ client, id }: Subscribed) => {
  const [charge] = await chargesOf(client, id)
  return (await findBilling(app.db, client.company.id, fromPublic('charge', charge!.id)!))!
}

test('a payment without a callback is found at noon, with the time at which it was made', async () => {
  await beginOn('2026-08-25')
  const { client, id } = await subscribed()
  await work()
  sleepUntil(at('2026-08-28', '08:00:00'))
  const [collected] = await simulator.collectDue(client.company.id, clock.now(), 10)
  assert.equal(collected!.status, 'PAID')
  sleepUntil(at('2026-08-28', '11:59:59'))
  await work()
  assert.deepEqual(await statesOf(client, id), ['OPEN PROCESSING'])
  for (let round = 0; round < 2; round++) {
    sleepUntil(at('2026-08-28', `1${2 + round}:00:00`))
    await work()
    const [charge] = await chargesOf(client, id)
    assert.equal(charge!.status, 'COMPLETED')
    assert.equal(charge!.paymentDate, at('2026-08-28', '08:00:00'))
    assert.equal(charge!.endToEndId, collected!.payment!.endToEndId)
    assert.equal((await transfersOf(api, client)).length, 1)
    const types = (await feedOf(client)).map(({ type }) => type)
    assert.deepEqual(types.slice(-2), ['charge.paid', 'subscription.charge.paid'])
    assert.equal(types.length, 5)
  }
})

test('an attempt that fails without a callback is still followed by every retry', async () => {
  await beginOn('2026-09-01')
  const { client, id } = await subscribed({}, false)
  await work()
  const days = ['2026-09-04', '2026-09-05', '2026-09-08', '2026-09-11']
  for (const [n, day] of days.entries()) {
    sleepUntil(at(day, '08:00:00'))
    assert.equal((await simulator.collectDue(client.company.id, clock.now(), 10)).length, 1)
    sleepUntil(at(day, '12:00:00'))
    await billDue.run(app)
    const tried = days.slice(0, n + 1).map((one) => `${one} FAILED`)
    const next = n < 3 ? [`${days[n + 1]} SCHEDULED`] : []
    assert.deepEqual(await attemptsOf(api, client), [...tried, ...next])
  }
  assert.deepEqual(await statesOf(client, id), ['EXPIRED EXPIRED'])
  const failures = (await feedOf(client)).filter(({ type }) => type.endsWith('failed'))
  assert.equal(failures.length, 1)
})

test('a cancellation by the payer without a callback is found when the bank is asked or rejects', async () => {
  await beginOn('2026-09-15')
  const waiting = await subscribed()
  await work()
  const unscheduled = await subscribed()
  await generateDue.run(app)
  for (const { client, id } of [waiting, unscheduled]) {
    const decided = await simulator.decide(
      client.company.id,
      fromPublic('rec', id)!,
      'cancel',
      null,
      clock.now(),
    )
    assert.equal(decided.kind, 'accepted')
  }
  await work()
  sleepUntil(at('2026-09-18', '12:00:00'))
  await work()
  for (const { client, id } of [waiting, unscheduled]) {
    assert.deepEqual(await statesOf(client, id), ['CANCELED PROCESSING'])
    const { status, recurrenceAuthStatus } = await readSubscription(client, id)
    assert.deepEqual([status, recurrenceAuthStatus], ['CANCELED', 'CANCELED'])
    const types = (await feedOf(client)).map(({ type }) => type).slice(3)
    assert.deepEqual(types.sort(), ['charge.canceled', 'subscription.canceled'])
    assert.deepEqual(await transfersOf(api, client), [])
  }
})

test('if the bank does not answer an order, it still has one collection and collects once', async () => {
  await beginOn('2026-09-21')
  const { client, id } = await subscribed({ price: 55_555 })
  await work()
  const subscription = { client, id, emv: '' }
  assert.equal((await billingOf(subscription)).unanswered, 1)
  assert.equal((await collectionsOf(api, client)).length, 1)
  clock.advance(5)
  await work()
  const { status, unanswered } = await billingOf(subscription)
  assert.deepEqual([status, unanswered], ['SCHEDULED', 0])
  await workThrough('2026-09-22', '2026-09-25')
  assert.deepEqual(await attemptsOf(api, client), ['2026-09-24 PAID'])
  assert.equal((await transfersOf(api, client)).length, 1)
  const [charge, ...others] = await chargesOf(client, id)
  assert.deepEqual([charge!.status, charge!.total, others], ['COMPLETED', '55555', []])
})

test('after weeks without a worker every missed cycle is charged, each on another day', async () => {
  await beginOn('2026-10-01')
  const { client, id } = await subscribed({ frequency: 'WEEKLY' })
  // The first is generated, and then no worker orders it at the bank in time.
  await generateDue.run(app)
  sleepUntil(at('2026-11-05', '12:00:00'))
  await workThrough('2026-11-06', '2026-11-25')
  const paid = await api.rows<{ cycle: number; due_on: Day; status: string }>(
    `select cycle, due_on::text, status from billings where company_id = $1 order by cycle`,
    [client.company.id],
  )
  assert.deepEqual(
    paid.map(({ cycle, due_on, status }) => [cycle, due_on, status]),
    [
      // Put off behind those that were generated before anybody asked for it.
      [0, '2026-11-16', 'PAID'],
      // Generated together on 6 November, five weeks late and less.
      [1, '2026-11-09', 'PAID'],
      [2, '2026-11-10', 'PAID'],
      [3, '2026-11-11', 'PAID'],
      [4, '2026-11-12', 'PAID'],
      [5, '2026-11-13', 'PAID'],
      // In time again: 12 and 3 are a Sunday, the Republic's day, but Monday is taken.
      [6, '2026-11-17', 'PAID'],
      [7, '2026-11-23', 'PAID'],
    ],
  )
  const charges = await chargesOf(client, id)
  assert.deepEqual(
    charges.map(({ status, paymentDate, expiresAt }) => [status, paymentDate, expiresAt]),
    paid.map(({ due_on }) => [
      'COMPLETED',
      at(due_on, '08:00:00'),
      new Date(Date.parse(at(due_on)) + 8 * 24 * 3600 * 1000).toISOString(),
    ]),
  )
  assert.equal((await transfersOf(api, client)).length, 8)
})

/** To the database this is another worker. */
function anotherApp(): FullApp {
  const { config, publicUrl } = app
  const { databaseUrl } = api
  const other = createApp({ config, databaseUrl, clock, log: createLog('silent'), publicUrl })
  api.atEnd(() => other.db.end())
  return other
}

test('workers at the same time, in one process or two, create one charge for a cycle', async () => {
  await beginOn('2026-12-01')
  const client = await api.client()
  const many: Subscription[] = []
  for (let n = 0; n < 12; n++) many.push(await approvedSubscription(api, client))
  const workers = [app, anotherApp(), app]
  const together = (task: (worker: FullApp) => Promise<void>) => Promise.all(workers.map(task))
  for (const day of ['2026-12-01', '2026-12-04', '2027-01-01', '2027-01-04']) {
    sleepUntil(at(day, '09:30:00'))
    await together((worker) => generateDue.run(worker))
    await together((worker) => billDue.run(worker))
    await together((worker) => collectDue.run(worker))
  }
  for (const { id } of many) {
    assert.deepEqual(await statesOf(client, id), ['COMPLETED PAID', 'COMPLETED PAID'])
  }
  const counted = await api.rows<Record<string, number>>(
    `select (select count(*) from charges where company_id = $1)::int as charges,
       (select count(*) from simulated_collections where account_id = $1)::int as collections,
       (select count(*) from payments where company_id = $1)::int as payments`,
    [client.company.id],
  )
  assert.deepEqual(counted, [{ charges: 24, collections: 24, payments: 24 }])
})

test('the database refuses a second charge for a cycle', async () => {
  await beginOn('2027-01-11')
  const subscription = await subscribed()
  const { client, id } = subscription
  await generateDue.run(app)
  const billing = await billingOf(subscription)
  const again = { ...billing, chargeId: fromPublic('rec', id)! }
  await assert.rejects(
    app.db.transaction((tx) => insert(tx, [again])),
    (error) => violatedConstraint(error) === 'billings_cycle',
  )
  // Somebody who believes that the cycle is still to be generated.
  const recurrenceId = fromPublic('rec', id)!
  const forget = (tx: { query: FullApp['db']['query'] }) =>
    tx.query({
      text: 'update recurrences set cycles = 0, next_at = $3 where company_id = $1 and id = $2',
      values: [client.company.id, recurrenceId, clock.now()],
    })
  await assert.rejects(
    app.db.transaction(async (tx) => {
      await forget(tx)
      await generateCharges(tx, app.vault, client.company.id, [recurrenceId], clock.now())
    }),
    (error) => violatedConstraint(error) === 'billings_cycle',
  )
  assert.equal((await chargesOf(client, id)).length, 1)
  const charges = await api.rows('select 1 from charges where company_id = $1', [client.company.id])
  assert.equal(charges.length, 1)
})

test('a charge that is canceled just before its order is never ordered at the bank', async () => {
  await beginOn('2027-01-18')
  const subscription = await subscribed()
  const { client, id } = subscription
  await generateDue.run(app)
  const taken = await billingOf(subscription)
  const [charge] = await chargesOf(client, id)
  assert.equal((await client.post(`/charge/${charge!.id}/cancel`)).status, 200)
  const [open] = await openBillingJobs(app, client.company, [taken])
  assert.equal(await stepBilling(open!), true)
  assert.deepEqual(await collectionsOf(api, client), [])
  assert.deepEqual(await statesOf(client, id), ['CANCELED PROCESSING'])
  assert.equal((await billingOf(subscription)).status, 'CANCELED')
  const canceled = (await feedOf(client)).filter(({ type }) => type === 'charge.canceled')
  assert.equal(canceled.length, 1)
})
