import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Attempt } from '../../src/core/deliveries/rules.ts'
import {
  moveToLog,
  readDue,
  record,
  releaseLeases,
  takeLeases,
} from '../../src/core/deliveries/store.ts'
import type { WebhookKey } from '../../src/core/webhooks/rules.ts'
import { startApi } from '../support/api.ts'
import { makePaid } from '../support/payments.ts'
import { until } from '../support/until.ts'
import { register } from '../support/webhooks.ts'

const api = await startApi()
const { db } = api.app
const [OURS, THEIRS] = [1, 2]
const attempt: Attempt = {
  at: '2026-08-20T15:00:00Z',
  status: 200,
  error: null,
  latencyMs: 1,
  response: '',
}

/** A webhook with one delivery that is due. */
async function due(): Promise<WebhookKey> {
  const client = await api.client()
  const { id } = await register(client, 'http://127.0.0.1:9/', ['charge.paid'])
  await makePaid(api, client, 1990)
  return { companyId: client.company.id, webhookId: id }
}

const read = async (worker: number, key: WebhookKey) => {
  const request = { ...key, limit: 10, after: null, held: [] }
  const results = await readDue(db, worker, [request], api.clock.now())
  return results.flatMap(({ deliveries }) => deliveries)
}

const countOf = async (table: 'deliveries' | 'delivery_log', { webhookId }: WebhookKey) =>
  (await api.rows(`select from ${table} where webhook_id = $1`, [webhookId])).length

const endLease = ({ webhookId }: WebhookKey) =>
  api.rows(
    `update webhook_leases set until = now() - interval '1 millisecond' where webhook_id = $1`,
    [webhookId],
  )

test('a leased webhook is not leased to another worker until the lease is over', async () => {
  const key = await due()
  assert.deepEqual(await takeLeases(db, OURS, [key], 10), [key])
  assert.deepEqual(await takeLeases(db, THEIRS, [key], 10), [])
  assert.deepEqual(
    await takeLeases(db, OURS, [key], 10),
    [key],
    'a worker may take its own lease again',
  )
  await endLease(key)
  assert.deepEqual(await takeLeases(db, THEIRS, [key], 10), [key])
  assert.deepEqual(await takeLeases(db, OURS, [key], 10), [])
})

test('if two workers lease a webhook at the same moment, one of them has it', async () => {
  const key = await due()
  const others: Promise<WebhookKey[]>[] = []
  await db.transaction(async (tx) => {
    assert.deepEqual(await takeLeases(tx, OURS, [key], 10), [key])
    // The other one sees no lease yet, and waits for the row that is being written.
    others.push(takeLeases(db, THEIRS, [key], 10))
    await until('the other one waits', async () => {
      const waiting = await api.rows(
        `select from pg_stat_activity where datname = current_database()
         and wait_event_type = 'Lock' and query like '%insert into webhook_leases%'`,
      )
      return waiting.length > 0
    })
  })
  assert.deepEqual(await Promise.all(others), [[]])
  const [lease] = await api.rows('select worker from webhook_leases where webhook_id = $1', [
    key.webhookId,
  ])
  assert.deepEqual(lease, { worker: OURS })
})

test('only the worker with the lease stores the result of a delivery', async () => {
  const key = await due()
  await takeLeases(db, OURS, [key], 10)
  const [delivery] = await read(OURS, key)
  assert.deepEqual(await read(THEIRS, key), [], 'nor is it read')
  const result = {
    delivery: delivery!,
    at: api.clock.now(),
    attempt,
    next: { outcome: 'DELIVERED' } as const,
  }
  await endLease(key)
  await takeLeases(db, THEIRS, [key], 10)
  await record(db, OURS, [result])
  assert.deepEqual([await countOf('deliveries', key), await countOf('delivery_log', key)], [1, 0])
  await releaseLeases(db, OURS, [key])
  await record(db, THEIRS, [result])
  assert.deepEqual([await countOf('deliveries', key), await countOf('delivery_log', key)], [0, 1])
})

test('the queue of an inactive webhook is not cleared while a worker leases it', async () => {
  const key = await due()
  await takeLeases(db, OURS, [key], 10)
  await api.rows(`update webhooks set status = 'INACTIVE' where id = $1`, [key.webhookId])
  assert.equal(await moveToLog(db, key, attempt, 10), 0)
  assert.equal(await countOf('deliveries', key), 1)
  await endLease(key)
  assert.equal(await moveToLog(db, key, attempt, 10), 1)
  assert.deepEqual([await countOf('deliveries', key), await countOf('delivery_log', key)], [0, 1])
})

test('the delivery that waits longest is sent first, even if its event is newer', async () => {
  const key = await due()
  const client = { companyId: key.companyId }
  await api.rows(
    `insert into deliveries (company_id, webhook_id, event_id, created_at, next_attempt_at)
     select company_id, $2, id, created_at, $3 from events
     where company_id = $1 and type <> 'charge.paid' order by id limit 1`,
    [client.companyId, key.webhookId, new Date(api.clock.now().getTime() + 1)],
  )
  await takeLeases(db, OURS, [key], 10)
  const request = { ...key, limit: 1, after: null, held: [] }
  const later = new Date(api.clock.now().getTime() + 1000)
  const [result] = await readDue(db, OURS, [request], later)
  assert.deepEqual(
    result!.deliveries.map(({ type }) => type),
    ['charge.paid'],
  )
})

test('a row that is at the place of another delivery is not changed', async () => {
  const client = await api.client()
  const { id } = await register(client, 'http://127.0.0.1:9/', ['charge.paid'])
  for (const amount of [700, 800]) await makePaid(api, client, amount)
  const key = { companyId: client.company.id, webhookId: id }
  await takeLeases(db, OURS, [key], 10)
  const [delivery, other] = await read(OURS, key)
  const moved = { ...delivery!, ctid: other!.ctid }
  for (const outcome of ['DELIVERED', 'RETRY'] as const) {
    const next = outcome === 'RETRY' ? { outcome, at: new Date(0) } : { outcome }
    await record(db, OURS, [{ delivery: moved, at: api.clock.now(), attempt, next }])
  }
  assert.deepEqual([await countOf('deliveries', key), await countOf('delivery_log', key)], [2, 0])
  assert.deepEqual(
    (await read(OURS, key)).map(({ tries }) => tries),
    [0, 0],
  )
})

test('the queue of a webhook that is active again is not moved to the log', async () => {
  const key = await due()
  assert.equal(await moveToLog(db, key, attempt, 10), 0)
  assert.equal(await countOf('deliveries', key), 1)
})
