import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Attempt } from '../../src/core/deliveries/rules.ts'
import {
  leaveLines,
  readDue,
  record,
  takeLines,
  type WebhookKey,
} from '../../src/core/deliveries/store.ts'
import { shelve } from '../../src/core/deliveries/upkeep-store.ts'
import { startApi } from '../support/api.ts'
import { makePaid } from '../support/payments.ts'
import { register } from '../support/webhooks.ts'
import { until } from './until.ts'

const api = await startApi()
const { db } = api.app
const [OURS, THEIRS] = [1, 2]
const attempt: Attempt = {
  ...{ at: '2026-08-20T15:00:00Z', status: 200, error: null, latencyMs: 1, response: '' },
}

/** A webhook with one delivery that is due. */
async function due(): Promise<WebhookKey> {
  const client = await api.client()
  const { id } = await register(client, 'http://127.0.0.1:9/', ['charge.paid'])
  await makePaid(api, client, 1990)
  return { companyId: client.company.id, webhookId: id }
}

const read = async (worker: number, key: WebhookKey) => {
  const wanted = { ...key, room: 10, after: null, inHand: [] }
  const readings = await readDue(db, worker, [wanted], api.clock.now())
  return readings.flatMap(({ deliveries }) => deliveries)
}

const countOf = async (table: 'deliveries' | 'delivery_log', { webhookId }: WebhookKey) =>
  (await api.rows(`select from ${table} where webhook_id = $1`, [webhookId])).length

const endLease = ({ webhookId }: WebhookKey) =>
  api.rows(
    `update delivery_lines set until = now() - interval '1 millisecond' where webhook_id = $1`,
    [webhookId],
  )

test('a line that a living worker has is nobody else’s, and another’s when the lease is over', async () => {
  const key = await due()
  assert.deepEqual(await takeLines(db, OURS, [key], 10), [key])
  assert.deepEqual(await takeLines(db, THEIRS, [key], 10), [])
  assert.deepEqual(await takeLines(db, OURS, [key], 10), [key], 'its own it may take again')
  await endLease(key)
  assert.deepEqual(await takeLines(db, THEIRS, [key], 10), [key])
  assert.deepEqual(await takeLines(db, OURS, [key], 10), [])
})

test('two workers that take a new line at the same moment: one of them has it', async () => {
  const key = await due()
  const others: Promise<WebhookKey[]>[] = []
  await db.transaction(async (tx) => {
    assert.deepEqual(await takeLines(tx, OURS, [key], 10), [key])
    // The other one sees no line yet, and waits at the row that is being written.
    others.push(takeLines(db, THEIRS, [key], 10))
    await until('the other one waits', async () => {
      const waiting = await api.rows(
        `select from pg_stat_activity where datname = current_database()
         and wait_event_type = 'Lock' and query like 'insert into delivery_lines%'`,
      )
      return waiting.length > 0
    })
  })
  assert.deepEqual(await Promise.all(others), [[]])
  const [line] = await api.rows('select worker from delivery_lines where webhook_id = $1', [
    key.webhookId,
  ])
  assert.deepEqual(line, { worker: OURS })
})

test('what became of a delivery is written down by whoever has its line, and nobody else', async () => {
  const key = await due()
  await takeLines(db, OURS, [key], 10)
  const [delivery] = await read(OURS, key)
  assert.deepEqual(await read(THEIRS, key), [], 'nor is it read')
  const result = {
    ...{ delivery: delivery!, at: api.clock.now(), attempt },
    verdict: { outcome: 'DELIVERED' } as const,
  }
  await endLease(key)
  await takeLines(db, THEIRS, [key], 10)
  await record(db, OURS, [result])
  assert.deepEqual([await countOf('deliveries', key), await countOf('delivery_log', key)], [1, 0])
  await leaveLines(db, OURS, [key])
  await record(db, THEIRS, [result])
  assert.deepEqual([await countOf('deliveries', key), await countOf('delivery_log', key)], [0, 1])
})

test('the queue of an inactive webhook is left alone while a worker has its line', async () => {
  const key = await due()
  await takeLines(db, OURS, [key], 10)
  await api.rows(`update webhooks set status = 'INACTIVE' where id = $1`, [key.webhookId])
  assert.equal(await shelve(db, key, attempt, 10), 0)
  assert.equal(await countOf('deliveries', key), 1)
  await endLease(key)
  assert.equal(await shelve(db, key, attempt, 10), 1)
  assert.deepEqual([await countOf('deliveries', key), await countOf('delivery_log', key)], [0, 1])
})

test('what waits longest is sent first, though its event is younger', async () => {
  const key = await due()
  const client = { companyId: key.companyId }
  await api.rows(
    `insert into deliveries (company_id, webhook_id, event_id, created_at, next_attempt_at)
     select company_id, $2, id, created_at, $3 from events
     where company_id = $1 and type <> 'charge.paid' order by id limit 1`,
    [client.companyId, key.webhookId, new Date(api.clock.now().getTime() + 1)],
  )
  await takeLines(db, OURS, [key], 10)
  const wanted = { ...key, room: 1, after: null, inHand: [] }
  const later = new Date(api.clock.now().getTime() + 1000)
  const [reading] = await readDue(db, OURS, [wanted], later)
  assert.deepEqual(
    reading!.deliveries.map(({ type }) => type),
    ['charge.paid'],
  )
})

test('a row that another delivery has taken the place of is left alone', async () => {
  const client = await api.client()
  const { id } = await register(client, 'http://127.0.0.1:9/', ['charge.paid'])
  for (const amount of [700, 800]) await makePaid(api, client, amount)
  const key = { companyId: client.company.id, webhookId: id }
  await takeLines(db, OURS, [key], 10)
  const [delivery, other] = await read(OURS, key)
  const moved = { ...delivery!, place: other!.place }
  for (const outcome of ['DELIVERED', 'RETRY'] as const) {
    const verdict = outcome === 'RETRY' ? { outcome, at: new Date(0) } : { outcome }
    await record(db, OURS, [{ delivery: moved, at: api.clock.now(), attempt, verdict }])
  }
  assert.deepEqual([await countOf('deliveries', key), await countOf('delivery_log', key)], [2, 0])
  assert.deepEqual(
    (await read(OURS, key)).map(({ tries }) => tries),
    [0, 0],
  )
})

test('the queue of a webhook that was made active meanwhile is not shelved', async () => {
  const key = await due()
  assert.equal(await shelve(db, key, attempt, 10), 0)
  assert.equal(await countOf('deliveries', key), 1)
})
