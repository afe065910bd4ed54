import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FAILURES_BEFORE_PAUSE } from '../../../src/core/webhooks/rules.ts'
import { addFailures } from '../../../src/core/webhooks/store.ts'
import { watchWebhooks } from '../../../src/worker/due.ts'
import { removeOld } from '../../../src/worker/retention.ts'
import { clearQueue } from '../../../src/worker/webhooks.ts'
import { type Client, startApi } from '../../support/api.ts'
import { lettersOf } from '../../support/mail.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { makeReceiver, openDeliveryWorker } from '../../support/webhooks.ts'

const api = await startApi({ DELIVERY_RETENTION_DAYS: '10' })
const delivering = openDeliveryWorker(api)
const [HOUR_S, DAY_S] = [3600, 24 * 3600]

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
type Any = any

const answerWith = (receiver: Receiver, status: number) => {
  receiver.answer = (response) => response.writeHead(status).end()
}

const shown = async (client: Client, { id }: Any): Promise<Any> =>
  (await client.get(`/webhook/${id}`)).body.data

/** Sends an event now, and gives its delivery. */
async function sendOne(client: Client, { id }: Any): Promise<Any> {
  const { status, body, text } = await client.post(`/webhook/${id}/test`)
  assert.equal(status, 201, text)
  await delivering.run()
  return body.data
}

const kindsOf = async ({ company }: Client) =>
  (await lettersOf(api, company.id)).map(({ kind }) => kind)

async function makeFailing(): Promise<{ client: Client; receiver: Receiver; webhook: Any }> {
  const client = await api.client()
  const made = await makeReceiver(client)
  answerWith(made.receiver, 500)
  await sendOne(client, made.webhook)
  return { client, ...made }
}

/** A day in which another event comes and fails. */
async function failForADay(client: Client, webhook: Any): Promise<void> {
  api.clock.advance(DAY_S)
  await sendOne(client, webhook)
  await watchWebhooks.run(api.app)
}

test('410 deactivates a webhook at once, and its company gets one mail', async () => {
  const client = await api.client()
  const { receiver, webhook } = await makeReceiver(client)
  await client.post(`/webhook/${webhook.id}/test`)
  answerWith(receiver, 410)
  await sendOne(client, webhook)
  const { status, deactivated } = await shown(client, webhook)
  assert.deepEqual([status, deactivated], ['INACTIVE', 'GONE'])
  const [{ kind, to, subject, text } = assert.fail(), ...more] = await lettersOf(
    api,
    client.company.id,
  )
  assert.deepEqual([kind, to, more], ['webhook-deactivated', 'dona@example.com', []])
  assert.equal(subject, 'O webhook Loja foi desativado')
  assert.match(text, /410/)
  await clearQueue(api.app)
  const { body } = await client.get(`/webhook/${webhook.id}/deliveries`)
  assert.deepEqual(
    body.data.map((one: Any) => one.status),
    ['FAILED', 'FAILED'],
  )
})

test('410 from an old address does not deactivate a webhook that has a new one', async () => {
  const client = await api.client()
  const { receiver, webhook } = await makeReceiver(client)
  const arrived = Promise.withResolvers<() => void>()
  receiver.answer = (response) => arrived.resolve(() => response.writeHead(410).end())
  await client.post(`/webhook/${webhook.id}/test`)
  const running = delivering.run()
  const finish = await arrived.promise
  const next = await startReceiver()
  await client.put(`/webhook/${webhook.id}`, { url: next.url })
  finish()
  await running
  assert.equal((await shown(client, webhook)).status, 'ACTIVE')
  assert.deepEqual(await kindsOf(client), [])
})

test('if a webhook fails, its company is warned after four days, and it is deactivated after five', async () => {
  const { client, receiver, webhook } = await makeFailing()
  const since = api.clock.now().toISOString()
  for (let day = 1; day <= 3; day++) await failForADay(client, webhook)
  const failing = await shown(client, webhook)
  assert.deepEqual([failing.status, failing.failingSince], ['ACTIVE', since])
  assert.deepEqual(await kindsOf(client), [])
  await failForADay(client, webhook)
  const [warning = assert.fail(), ...more] = await lettersOf(api, client.company.id)
  assert.deepEqual([warning.kind, more], ['webhook-failing', []])
  assert.equal(warning.subject, 'O webhook Loja está com falha')
  await watchWebhooks.run(api.app)
  api.clock.advance(DAY_S - 1)
  await sendOne(client, webhook)
  await watchWebhooks.run(api.app)
  assert.deepEqual(await kindsOf(client), ['webhook-failing'], 'one mail')
  assert.equal((await shown(client, webhook)).status, 'ACTIVE')
  api.clock.advance(1)
  await Promise.all([watchWebhooks.run(api.app), watchWebhooks.run(api.app)])
  const { status, deactivated, failingSince } = await shown(client, webhook)
  assert.deepEqual([status, deactivated, failingSince], ['INACTIVE', 'FAILING', since])
  assert.deepEqual(await kindsOf(client), ['webhook-failing', 'webhook-deactivated'])
  const count = receiver.received.length
  api.clock.advance(DAY_S)
  await delivering.run()
  assert.equal(receiver.received.length, count, 'nothing more is sent to it')
})

test('a webhook is never deactivated less than a day after the warning', async () => {
  const { client, webhook } = await makeFailing()
  api.clock.advance(8 * DAY_S)
  await sendOne(client, webhook)
  await watchWebhooks.run(api.app)
  assert.deepEqual(await kindsOf(client), ['webhook-failing'])
  assert.equal((await shown(client, webhook)).status, 'ACTIVE')
  await failForADay(client, webhook)
  assert.equal((await shown(client, webhook)).status, 'INACTIVE')
})

test('a webhook that failed long ago and had nothing to receive since stays active', async () => {
  const { client, webhook } = await makeFailing()
  for (let hours = 0; hours < 12; hours++) {
    api.clock.advance(HOUR_S)
    await delivering.run()
  }
  api.clock.advance(30 * DAY_S)
  await watchWebhooks.run(api.app)
  assert.deepEqual(await kindsOf(client), [])
  assert.equal((await shown(client, webhook)).status, 'ACTIVE')
})

test('one success resets the failures and the warning', async () => {
  const { client, receiver, webhook } = await makeFailing()
  for (let day = 1; day <= 4; day++) await failForADay(client, webhook)
  assert.deepEqual(await kindsOf(client), ['webhook-failing'])
  answerWith(receiver, 200)
  await sendOne(client, webhook)
  assert.equal((await shown(client, webhook)).failingSince, undefined)
  answerWith(receiver, 500)
  for (let day = 5; day <= 8; day++) await failForADay(client, webhook)
  assert.deepEqual(await kindsOf(client), ['webhook-failing'], 'the days are counted anew')
  await failForADay(client, webhook)
  assert.deepEqual(await kindsOf(client), ['webhook-failing', 'webhook-failing'])
})

/** Everything that a webhook's failures have left behind. */
const tracesOf = async ({ id }: Any) =>
  api.rows(
    `select deactivated, failing_since, failures, failed_at, paused_until, warned_at
     from webhooks where id = $1`,
    [id],
  )
const CLEAN = {
  deactivated: null,
  failing_since: null,
  failures: 0,
  failed_at: null,
  paused_until: null,
  warned_at: null,
}

test('a webhook that is activated again has no failures', async () => {
  const { client, receiver, webhook } = await makeFailing()
  for (let day = 1; day <= 5; day++) await failForADay(client, webhook)
  const gone = await shown(client, webhook)
  assert.deepEqual([gone.status, gone.deactivated], ['INACTIVE', 'FAILING'])
  await clearQueue(api.app)
  const { body } = await client.put(`/webhook/${webhook.id}`, { status: 'ACTIVE' })
  const { secret, ...plain } = webhook
  assert.ok(secret)
  assert.deepEqual(body.data, { ...plain, updatedAt: api.clock.now().toISOString() })
  assert.deepEqual(await tracesOf(webhook), [CLEAN])
  answerWith(receiver, 200)
  const replayed = await client.post(`/webhook/${webhook.id}/replay`)
  assert.equal(replayed.body.data.replayed, 6)
  await delivering.run()
  const { body: list } = await client.get(`/webhook/${webhook.id}/deliveries`)
  assert.deepEqual([...new Set(list.data.map(({ status }: Any) => status))], ['DELIVERED'])
})

test('a new address resets the failures, and no other change does', async () => {
  const { client, webhook } = await makeFailing()
  for (let i = 0; i < 10; i++) await sendOne(client, webhook)
  const paused = await shown(client, webhook)
  assert.ok(paused.pausedUntil && paused.failingSince)
  const renamed = await client.put(`/webhook/${webhook.id}`, { name: 'Outra', status: 'ACTIVE' })
  assert.equal(renamed.body.data.pausedUntil, paused.pausedUntil)
  const next = await startReceiver()
  const { body } = await client.put(`/webhook/${webhook.id}`, { url: next.url })
  assert.deepEqual([body.data.pausedUntil, body.data.failingSince], [undefined, undefined])
  assert.deepEqual(await tracesOf(webhook), [CLEAN])
})

test('a company that deactivates its own webhook gets no reason and no mail', async () => {
  const client = await api.client()
  const { webhook } = await makeReceiver(client)
  const { body } = await client.put(`/webhook/${webhook.id}`, { status: 'INACTIVE' })
  assert.deepEqual([body.data.status, body.data.deactivated], ['INACTIVE', undefined])
  await watchWebhooks.run(api.app)
  assert.deepEqual(await kindsOf(client), [])
})

test('ended deliveries are kept as long as configured, and waiting ones until they end', async () => {
  const client = await api.client()
  const { receiver, webhook } = await makeReceiver(client)
  const old = await sendOne(client, webhook)
  api.clock.advance(1)
  const young = await sendOne(client, webhook)
  answerWith(receiver, 500)
  await sendOne(client, webhook)
  api.clock.advance(10 * DAY_S - 1)
  await removeOld(api.app)
  const { body } = await client.get(`/webhook/${webhook.id}/deliveries`)
  assert.deepEqual(
    body.data.map(({ id, status }: Any) => [id === young.id, status]),
    [
      [false, 'PENDING'],
      [true, 'DELIVERED'],
    ],
  )
  const [event] = await api.rows('select id from events where company_id = $1 order by id', [
    client.company.id,
  ])
  assert.ok(event, 'events are kept')
  const lost = await client.post(`/webhook/delivery/${old.id}/redeliver`)
  assert.equal(lost.status, 404)
})

test('rows of a deleted webhook in the log are purged with the rest', async () => {
  const client = await api.client()
  const [one, two] = [await makeReceiver(client), await makeReceiver(client)]
  await sendOne(client, one.webhook)
  await sendOne(client, two.webhook)
  await api.rows('delete from webhooks where id = $1', [one.webhook.id])
  await removeOld(api.app)
  const rows = await api.rows('select webhook_id from delivery_log where company_id = $1', [
    client.company.id,
  ])
  assert.deepEqual(rows, [{ webhook_id: two.webhook.id }])
})

test('the metric for the oldest due delivery leaves out failing webhooks', async () => {
  await clearQueue(api.app)
  await api.rows('delete from deliveries')
  const { client, webhook } = await makeFailing()
  api.clock.advance(DAY_S)
  const age = async () => {
    const { text } = await api.operator('/metrics')
    const oldest = /_due_oldest_seconds\{work="deliver webhooks"\} (\S+)/
    return Number(oldest.exec(text)![1])
  }
  assert.equal(await age(), 0)
  const healthy = await makeReceiver(client)
  await client.post(`/webhook/${healthy.webhook.id}/test`)
  await client.post(`/webhook/${webhook.id}/test`)
  api.clock.advance(7)
  assert.equal(await age(), 7)
})

test('failures at the same time count up to the first pause only, later ones each', async () => {
  const client = await api.client()
  const { webhook } = await makeReceiver(client)
  const key = { companyId: client.company.id, webhookId: webhook.id }
  const first = api.clock.now()
  const fail = async (failures: number) => {
    const [added] = await addFailures(api.app.db, [{ ...key, failures, at: api.clock.now() }])
    return added!.failures
  }
  assert.equal(await fail(3), 3)
  api.clock.advance(1)
  assert.equal(await fail(500), FAILURES_BEFORE_PAUSE)
  assert.equal(await fail(500), FAILURES_BEFORE_PAUSE + 1)
  assert.equal(await fail(1), FAILURES_BEFORE_PAUSE + 2)
  const since = 'select failing_since from webhooks where id = $1'
  assert.deepEqual(await api.rows(since, [webhook.id]), [{ failing_since: first }])
})
