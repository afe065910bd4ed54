import assert from 'node:assert/strict'
import { test } from 'node:test'
import { removeOrphans } from '../src/core/charges/intents.ts'
import type { FullApp } from '../src/core/full-app.ts'
import { receiveCallback } from '../src/core/payments/callbacks.ts'
import { fromPublic, newId } from '../src/lib/ids.ts'
import { toCents } from '../src/lib/money.ts'
import { chargeTxid } from '../src/provider/txid.ts'
import { watchCertificates } from '../src/worker/certificates.ts'
import { createExpiringAtBanks } from '../src/worker/charges.ts'
import { advanceTestClocks } from '../src/worker/clocks.ts'
import { collectDue } from '../src/worker/collect.ts'
import { purgeDeliveries, watchWebhooks } from '../src/worker/webhooks.ts'
import { startWorker, TASKS } from '../src/worker/worker.ts'
import { startApi } from './support/api.ts'
import { approvedSubscription } from './support/billing.ts'
import { makeCharge, makePaid } from './support/payments.ts'
import { makeSubscription } from './support/subscriptions.ts'
import { makeReceiver, register } from './support/webhooks.ts'
import { confirmed, start } from './support/withdrawals.ts'

const api = await startApi()
const { app, clock, rows } = api
const HOUR_S = 3600

/** How often each task comes round at most, in milliseconds. */
const PERIODS: Record<string, number> = {
  'deliver webhooks': 500,
  'watch webhooks': 60_000,
  'watch certificates': 3_600_000,
  'clear the queue': 60_000,
  'expire charges': 500,
  'expire charges at banks': 500,
  'receive charges': 500,
  'settle callbacks': 1_000,
  reconcile: 5_000,
  'remove orphans': 5_000,
  'carry out refunds': 500,
  'expire withdrawals': 500,
  'pay out withdrawals': 500,
  'follow agreements': 1_000,
  'generate charges': 1_000,
  'bill charges': 1_000,
  'collect at the simulated bank': 1_000,
  'play test clocks': 500,
  'index old charges': 1_000,
  audit: 60_000,
  'send mail': 1_000,
  'purge idempotency keys': 60_000,
  'remove old mails': 3_600_000,
  'remove old requests': 3_600_000,
  'purge deliveries': 3_600_000,
  'purge what is done': 3_600_000,
}

/** Runs every task once, in a worker whose tasks then wait; gives how long each would wait. */
async function workOnce(): Promise<Map<string, number>> {
  const waits = new Map<string, number>()
  let all = () => {}
  const waiting = new Promise<void>((resolve) => {
    all = resolve
  })
  const alarm: FullApp['alarm'] = {
    ...app.alarm,
    wait(name, most_ms, signal) {
      waits.set(name, most_ms)
      if (waits.size === TASKS.length) all()
      return new Promise((resolve) => {
        if (signal.aborted) resolve()
        else signal.addEventListener('abort', () => resolve())
      })
    },
  }
  const worker = startWorker({ ...app, alarm })
  await waiting
  await worker.stop()
  return waits
}

const one = async (text: string, values: unknown[]) => Object.values((await rows(text, values))[0]!)

test('the worker runs each of its tasks, and each in its period', async () => {
  const waits = await workOnce()
  for (const [name, period] of Object.entries(PERIODS)) {
    assert.ok(waits.get(name)! <= period, `${name}: ${waits.get(name)}`)
  }
  const unknown = [...waits.keys()].filter((name) => !(name in PERIODS))
  assert.deepEqual(unknown, [], 'a new task has its period here and its work below')
})

test('tasks whose work is tested elsewhere do that work', () => {
  const works = new Map<string, unknown>(
    TASKS.map((task) => [task.name, 'run' in task ? task.run : task.open]),
  )
  assert.equal(works.get('watch certificates'), watchCertificates)
  assert.equal(works.get('watch webhooks'), watchWebhooks)
  assert.equal(works.get('purge deliveries'), purgeDeliveries)
  assert.equal(works.get('remove orphans'), removeOrphans)
  assert.equal(works.get('collect at the simulated bank'), collectDue)
  assert.equal(works.get('expire charges at banks'), createExpiringAtBanks)
  assert.equal(works.get('play test clocks'), advanceTestClocks)
})

test('what is due of every kind is done by the worker that all tasks are given to', async () => {
  const { client, checks } = await makeDue()
  await workOnce()
  // What one task makes due for another is done when that comes round again.
  await workOnce()
  const left = await Promise.all(
    checks.map(async ({ task, done, values }) => {
      const [found] = await one(done, values ?? [client.company.id])
      return found ? [] : [task]
    }),
  )
  assert.deepEqual(left.flat(), [])
})

type Check = { task: string; done: string; values?: unknown[] }

/** A company that has something due of each kind, and how it is seen that it was done. */
async function makeDue() {
  const client = await api.client()
  const { id: companyId } = client.company
  await makeReceiver(client, ['charge.paid'])
  const paid = await makePaid(api, client, 1990)
  clock.advance(client.company.settlementDelay_s)
  await client.post(`/refund/${(await makePaid(api, client, 700)).id}`)
  const notified = await makeCharge(client, 800, { expiresIn: 30 * HOUR_S })
  await storeLateCallback(companyId, notified.id)
  const found = await makeCharge(client, 900, { expiresIn: 30 * HOUR_S })
  await arriveWithoutCallback(companyId, found.id, 900)
  const late = await makeCharge(client, 600, { expiresIn: 60 })
  await confirmed(api, client, 5000)
  const other = await api.client()
  const waiting = await start(other, 700)
  const subscription = await approvedSubscription(api, client)
  const withoutCallback = await makeSubscription(client)
  await api.app.providers.simulator.decide(
    companyId,
    fromPublic('rec', withoutCallback.id)!,
    'approve',
    true,
    clock.now(),
  )
  const stopped = await register(client, 'http://127.0.0.1:9/', ['charge.canceled'])
  await strand(companyId, stopped.id)
  await age(companyId)
  clock.advance(HOUR_S)
  const chargeOf = (id: string) => [companyId, fromPublic('charge', id)]
  const status = `from charges where company_id = $1 and id = $2`
  const checks: Check[] = [
    { task: 'deliver webhooks', done: log(`status = 'DELIVERED'`) },
    { task: 'clear the queue', done: log(`status = 'FAILED'`) },
    {
      task: 'expire charges',
      done: `select status = 'EXPIRED' ${status}`,
      values: chargeOf(late.id),
    },
    {
      task: 'receive charges',
      values: chargeOf(paid.id),
      done: `select payment_status = 'RECEIVED' ${status}`,
    },
    {
      task: 'settle callbacks',
      done: `select status = 'COMPLETED' ${status}`,
      values: chargeOf(notified.id),
    },
    {
      task: 'reconcile',
      done: `select status = 'COMPLETED' ${status}`,
      values: chargeOf(found.id),
    },
    { task: 'carry out refunds', done: all('refunds', `status = 'COMPLETED'`) },
    {
      task: 'expire withdrawals',
      values: [fromPublic('wd', waiting)],
      done: `select status = 'EXPIRED' from withdrawals where id = $1`,
    },
    { task: 'pay out withdrawals', done: all('withdrawals', `status = 'COMPLETED'`) },
    {
      task: 'follow agreements',
      values: [companyId, fromPublic('rec', withoutCallback.id)],
      done: `select auth_status = 'APPROVED' from recurrences where company_id = $1 and id = $2`,
    },
    {
      task: 'generate and bill charges',
      values: [fromPublic('rec', subscription.id)],
      done: `select count(*) = 1 from billings where recurrence_id = $1 and status = 'SCHEDULED'`,
    },
    { task: 'audit', done: 'select count(*) = 1 from audits where company_id = $1' },
    { task: 'send mail', done: all('mails', 'finished_at is not null') },
    { task: 'purge idempotency keys', done: none('idempotency_keys') },
    {
      task: 'purge what is done',
      values: [companyId],
      done: `select count(*) = 0 from bank_callbacks where company_id = $1
             and processed_at < now() - interval '1 year'`,
    },
  ]
  return { client, checks }
}

const log = (condition: string) =>
  `select count(*) > 0 from delivery_log where company_id = $1 and ${condition}`
const all = (table: string, condition: string) =>
  `select count(*) > 0 and bool_and(${condition}) from ${table} where company_id = $1`
const none = (table: string) => `select count(*) = 0 from ${table} where company_id = $1`

/** A callback whose payment the bank confirms only later. */
async function storeLateCallback(companyId: string, chargeId: string): Promise<void> {
  const { simulator } = app.providers
  const endToEndId = 'E99999999202608201500aaaaaaaaaaa'
  const txid = chargeTxid(fromPublic('charge', chargeId)!)
  const pix = [{ endToEndId, txid, valor: '8.00', horario: clock.now().toISOString() }]
  const { processed } = await receiveCallback(app, companyId, simulator.name, { pix })
  assert.equal(await processed, 'unconfirmed')
  await simulator.pay({ id: companyId }, { txid, amount: toCents(800), endToEndId })
}

async function arriveWithoutCallback(
  companyId: string,
  chargeId: string,
  amount: number,
): Promise<void> {
  const txid = chargeTxid(fromPublic('charge', chargeId)!)
  await app.providers.simulator.pay({ id: companyId }, { txid, amount: toCents(amount) })
}

/** A delivery of a webhook that takes nothing any more. */
async function strand(companyId: string, webhookId: string): Promise<void> {
  const values = [companyId, webhookId]
  await rows(
    `insert into deliveries (company_id, webhook_id, event_id, next_attempt_at, created_at)
     select $1, $2, id, created_at, created_at from events where company_id = $1
     order by id limit 1`,
    values,
  )
  await rows(`update webhooks set status = 'INACTIVE' where company_id = $1 and id = $2`, values)
}

/** What was kept for long enough. */
async function age(companyId: string): Promise<void> {
  const old = new Date('2020-01-01T00:00:00Z')
  await rows(
    `insert into idempotency_keys (company_id, key, fingerprint, status, sealed_body, created_at)
     values ($1, 'old', $2, 200, $2, $3)`,
    [companyId, Buffer.alloc(32), old],
  )
  await rows(
    `insert into bank_callbacks (company_id, id, provider, sealed, received_at, next_attempt_at,
       processed_at) values ($1, $2, 'simulator', $3, $4, $4, $4)`,
    [companyId, newId(), Buffer.alloc(1), old],
  )
}
