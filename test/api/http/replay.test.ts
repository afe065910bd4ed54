import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emit, testEvent } from '../../../src/core/events.ts'
import { newId, toPublic } from '../../../src/lib/ids.ts'
import { clearQueue } from '../../../src/worker/webhooks.ts'
import { type Client, startApi } from '../../support/api.ts'
import { makeReceiver, openDeliveryWorker, register } from '../../support/webhooks.ts'
import { rowsOfCompany } from '../storage.ts'

const api = await startApi()
const delivering = openDeliveryWorker(api)

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
type Any = any

const activate = (client: Client, { id }: Any, status: 'ACTIVE' | 'INACTIVE') =>
  client.put(`/webhook/${id}`, { status })

async function replay(client: Client, { id }: Any, json: unknown = {}): Promise<number> {
  const { status, body, text } = await client.post(`/webhook/${id}/replay`, json)
  assert.equal(status, 200, text)
  return body.data.replayed
}

/** Events that all wait for the webhook. */
async function queue({ company }: Client, webhook: Any, count: number): Promise<string[]> {
  const events = Array.from({ length: count }, () =>
    testEvent(company.id, webhook.id, api.clock.now()),
  )
  await api.app.db.transaction(async (tx) => {
    await emit(tx, events)
    await tx.flush()
    await tx.query({
      text: `insert into deliveries (company_id, webhook_id, event_id, next_attempt_at, created_at)
             select company_id, $2, id, created_at, created_at from events
             where company_id = $1 and id = any ($3::uuid[])`,
      values: [company.id, webhook.id, events.map(({ id }) => id)],
    })
  })
  return events.map(({ id }) => toPublic('evt', id))
}

/** Events whose deliveries have failed, since the webhook was inactive for a moment. */
async function makeFailed(client: Client, webhook: Any, count: number): Promise<string[]> {
  const ids = await queue(client, webhook, count)
  await activate(client, webhook, 'INACTIVE')
  await clearQueue(api.app)
  await activate(client, webhook, 'ACTIVE')
  return ids
}

const countOf = async (client: Client, { id }: Any, status: string) =>
  (await client.get(`/webhook/${id}/deliveries?status=${status}`)).body.data.length

/** More than are taken up together anywhere. */
const MANY = 2500

test('thousands of failed deliveries are sent again at once, each with its own id', async () => {
  const client = await api.client()
  const { receiver, webhook } = await makeReceiver(client)
  const ids = await makeFailed(client, webhook, MANY)
  assert.equal(await replay(client, webhook), MANY)
  assert.equal(await replay(client, webhook), 0, 'they are under way already')
  await delivering.run()
  const got = receiver.received.map(({ headers }) => headers['webhook-id'])
  assert.deepEqual(got.toSorted(), ids.toSorted())
  const [rows] = await api.rows<{ pending: number; delivered: number }>(
    `select (select count(*) from deliveries where webhook_id = $1) as pending,
       (select count(*) from delivery_log where webhook_id = $1 and status = 'DELIVERED')
         as delivered`,
    [webhook.id],
  )
  assert.deepEqual(rows, { pending: 0, delivered: MANY })
})

test('by default what failed is replayed, or what was delivered, or all', async () => {
  const client = await api.client()
  const { receiver, webhook } = await makeReceiver(client)
  const [delivered] = await queue(client, webhook, 1)
  await delivering.run()
  const [failed] = await makeFailed(client, webhook, 1)
  const sent = async (json: unknown) => {
    receiver.received.length = 0
    const replayed = await replay(client, webhook, json)
    await delivering.run()
    const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
    assert.equal(replayed, ids.length)
    return ids.toSorted()
  }
  assert.deepEqual(await sent({ status: 'DELIVERED' }), [delivered])
  assert.deepEqual(await sent({}), [failed])
  assert.deepEqual(await sent({}), [], 'it has succeeded now')
  assert.deepEqual(await sent({ status: 'ALL' }), [delivered, failed].toSorted())
})

test('a period selects events by when they were written: from is included, to is not', async () => {
  const client = await api.client()
  const { webhook } = await makeReceiver(client)
  const times: string[] = []
  for (let hour = 0; hour < 4; hour++) {
    times.push(api.clock.now().toISOString())
    await makeFailed(client, webhook, 1)
    api.clock.advance(3600)
  }
  const pending = async (json: unknown) => {
    const replayed = await replay(client, webhook, json)
    const { body } = await client.get(`/webhook/${webhook.id}/deliveries?status=PENDING`)
    const hours = body.data.map(({ createdAt }: Any) => times.indexOf(createdAt))
    assert.equal(replayed, hours.length)
    await activate(client, webhook, 'INACTIVE')
    await clearQueue(api.app)
    await activate(client, webhook, 'ACTIVE')
    return hours
  }
  assert.deepEqual(await pending({ from: times[1], to: times[3] }), [2, 1])
  assert.deepEqual(await pending({ from: times[2] }), [3, 2])
  assert.deepEqual(await pending({ to: times[1] }), [0])
  const offset = times[1]!.replace('.000Z', '-03:00')
  assert.deepEqual(await pending({ to: offset }), [3, 2, 1, 0], 'an offset counts')
  assert.deepEqual(await pending({ from: times[3], to: times[0] }), [])
})

test('only the webhook that is named is replayed', async () => {
  const [client, stranger] = [await api.client(), await api.client()]
  const { receiver, webhook } = await makeReceiver(client)
  const other = await register(client, receiver.url, ['charge.paid'])
  const foreign = await makeReceiver(stranger)
  await makeFailed(client, webhook, 2)
  await makeFailed(client, other, 3)
  await makeFailed(stranger, foreign.webhook, 1)
  const before = await rowsOfCompany(api, stranger.company.id)
  assert.equal(await replay(client, webhook), 2)
  assert.equal(await countOf(client, other, 'FAILED'), 3)
  assert.equal(await rowsOfCompany(api, stranger.company.id), before)
  const missing = await client.post(`/webhook/${newId()}/replay`)
  assert.deepEqual([missing.status, missing.body.errors[0].code], [404, 'webhook_not_found'])
})

test('simultaneous replays count each delivery once', async () => {
  const client = await api.client()
  const { receiver, webhook } = await makeReceiver(client)
  await makeFailed(client, webhook, 500)
  const counts = await Promise.all(Array.from({ length: 8 }, () => replay(client, webhook)))
  assert.equal(
    counts.reduce((sum, count) => sum + count),
    500,
  )
  await delivering.run()
  assert.equal(receiver.received.length, 500)
})

test('deliveries that an inactive webhook missed are kept in the log, with the reason', async () => {
  const client = await api.client()
  const { receiver, webhook } = await makeReceiver(client)
  const [id] = await queue(client, webhook, 1)
  await activate(client, webhook, 'INACTIVE')
  await delivering.run()
  await clearQueue(api.app)
  const at = api.clock.now().toISOString()
  const { body } = await client.get(`/webhook/${webhook.id}/deliveries`)
  const [{ eventId, status, attempts, finishedAt }] = body.data
  assert.deepEqual([eventId, status, finishedAt], [id, 'FAILED', at])
  assert.deepEqual(attempts, [{ at, error: 'webhook inactive', latencyMs: 0, response: '' }])
  assert.equal(receiver.received.length, 0)
  await activate(client, webhook, 'ACTIVE')
  assert.equal(await replay(client, webhook), 1)
  await delivering.run()
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers['webhook-id']),
    [id],
  )
})

test('the queue is cleared in parts, and deliveries of deleted webhooks are deleted', async () => {
  const client = await api.client()
  const [one, two, three] = [
    await makeReceiver(client),
    await makeReceiver(client),
    await makeReceiver(client),
  ]
  await queue(client, one.webhook, 5001)
  await queue(client, two.webhook, 3)
  await queue(client, three.webhook, 2)
  await activate(client, one.webhook, 'INACTIVE')
  // As when an event is written at the very moment in which its webhook is deleted.
  await api.rows('delete from webhooks where id = $1', [two.webhook.id])
  await clearQueue(api.app)
  const rows = await api.rows<{ webhook_id: string; count: number }>(
    'select webhook_id, count(*) from deliveries where company_id = $1 group by 1',
    [client.company.id],
  )
  assert.deepEqual(rows, [{ webhook_id: three.webhook.id, count: 2 }])
  const log = await api.rows<{ webhook_id: string; count: number }>(
    'select webhook_id, count(*) from delivery_log where company_id = $1 group by 1',
    [client.company.id],
  )
  assert.deepEqual(log, [{ webhook_id: one.webhook.id, count: 5001 }])
})
