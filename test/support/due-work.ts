import assert from 'node:assert/strict'
import type { FullApp } from '../../src/core/full-app.ts'
import { receiveCallback } from '../../src/core/payments/callbacks.ts'
import { fromPublic, newId } from '../../src/lib/ids.ts'
import { toCents } from '../../src/lib/money.ts'
import { chargeTxid } from '../../src/provider/txid.ts'
import { type Begin, startWorker, TASKS } from '../../src/worker/worker.ts'
import type { TestApi } from './api.ts'
import { approvedSubscription } from './billing.ts'
import { makeCharge, makePaid } from './payments.ts'
import { makeSubscription } from './subscriptions.ts'
import { makeReceiver, register } from './webhooks.ts'
import { confirmed, start } from './withdrawals.ts'

const HOUR_S = 3600

/** Runs every task once, in a worker whose tasks then wait; gives how long each would wait. */
export async function workOnce(app: FullApp, begin?: Begin): Promise<Map<string, number>> {
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
  const worker = startWorker({ ...app, alarm }, TASKS, undefined, begin)
  await waiting
  await worker.stop()
  return waits
}

export type Check = { task: string; done: string; values?: unknown[] }

/** A company that has something due of each kind, and how it is seen that it was done. */
export async function makeDueWork(api: TestApi) {
  const { clock } = api
  const client = await api.client()
  const { id: companyId } = client.company
  await makeReceiver(client, ['charge.paid'])
  const paid = await makePaid(api, client, 1990)
  clock.advance(client.company.releaseDelay_s)
  await client.post(`/refund/${(await makePaid(api, client, 700)).id}`)
  const notified = await makeCharge(client, 800, { expiresIn: 30 * HOUR_S })
  await storeLateCallback(api, companyId, notified.id)
  const found = await makeCharge(client, 900, { expiresIn: 30 * HOUR_S })
  await arriveWithoutCallback(api, companyId, found.id, 900)
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
  await strand(api, companyId, stopped.id)
  await age(api, companyId)
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
    { task: 'remove old data', done: none('idempotency_keys') },
    {
      task: 'remove old data',
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
async function storeLateCallback(
  { app, clock }: TestApi,
  companyId: string,
  chargeId: string,
): Promise<void> {
  const { simulator } = app.providers
  const endToEndId = 'E99999999202608201500aaaaaaaaaaa'
  const txid = chargeTxid(fromPublic('charge', chargeId)!)
  const pix = [{ endToEndId, txid, valor: '8.00', horario: clock.now().toISOString() }]
  const { processed } = await receiveCallback(app, companyId, simulator.name, { pix })
  assert.equal(await processed, 'unconfirmed')
  await simulator.pay({ id: companyId }, { txid, amount: toCents(800), endToEndId })
}

async function arriveWithoutCallback(
  { app }: TestApi,
  companyId: string,
  chargeId: string,
  amount: number,
): Promise<void> {
  const txid = chargeTxid(fromPublic('charge', chargeId)!)
  await app.providers.simulator.pay({ id: companyId }, { txid, amount: toCents(amount) })
}

/** A delivery of a webhook that takes nothing any more. */
async function strand({ rows }: TestApi, companyId: string, webhookId: string): Promise<void> {
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
async function age({ rows }: TestApi, companyId: string): Promise<void> {
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
