import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RETRY_S } from '../../../src/core/deliveries/rules.ts'
import { newId, packPair } from '../../../src/lib/ids.ts'
import { type Client, payer, type Reply, startApi } from '../../support/api.ts'
import type { Receiver } from '../../support/receiver.ts'
import { makeReceiver, openDeliveryWorker, register } from '../../support/webhooks.ts'
import { stored } from '../storage.ts'

const api = await startApi()
const delivering = openDeliveryWorker(api)

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
type Any = any

const answer = ({ status, body }: Reply) => [status, body.errors[0]?.code]
const nowText = () => api.clock.now().toISOString()

async function listed(client: Client, { id }: Any, query = ''): Promise<Any[]> {
  const { status, body, text } = await client.get(`/webhook/${id}/deliveries${query}`)
  assert.equal(status, 200, text)
  return body.data
}

async function tried(client: Client, { id }: Any): Promise<Any> {
  const { status, body, text } = await client.post(`/webhook/${id}/test`)
  assert.equal(status, 201, text)
  return body.data
}

const redeliver = (client: Client, id: string) => client.post(`/webhook/delivery/${id}/redeliver`)

const fail = (receiver: Receiver, text = '') => {
  receiver.answer = (response) => response.writeHead(500).end(text)
}
const succeed = (receiver: Receiver) => {
  receiver.answer = (response) => response.end('ok')
}

/** Lets every try of what is pending fail, to the end. */
async function failToTheEnd(): Promise<void> {
  await delivering.run()
  for (const seconds of RETRY_S) {
    api.clock.advance(seconds)
    await delivering.run()
  }
}

test('a delivery is shown with every attempt: when, what was answered, and what is next', async () => {
  const client = await api.client()
  const { receiver, webhook } = await makeReceiver(client, ['charge.pending'])
  const made = await client.post('/charge/pix', { amount: 700, customer: payer() })
  const [waiting] = await listed(client, webhook)
  const { id, eventId } = waiting
  const event = { webhookId: webhook.id, eventId, event: 'charge.pending', createdAt: nowText() }
  assert.deepEqual(waiting, {
    id,
    ...event,
    status: 'PENDING',
    attempts: [],
    nextAttemptAt: nowText(),
  })
  fail(receiver, 'é'.repeat(600))
  await delivering.run()
  const [failed] = await listed(client, webhook)
  const first = { at: nowText(), status: 500, response: 'é'.repeat(512) }
  const next = new Date(api.clock.now().getTime() + 60_000).toISOString()
  assert.deepEqual(latencyAside(failed), {
    id,
    ...event,
    status: 'PENDING',
    attempts: [first],
    nextAttemptAt: next,
  })
  succeed(receiver)
  api.clock.advance(60)
  await delivering.run()
  const second = { at: nowText(), status: 200, response: 'ok' }
  assert.deepEqual((await listed(client, webhook)).map(latencyAside), [
    { id, ...event, status: 'DELIVERED', attempts: [first, second], finishedAt: nowText() },
  ])
  const { headers, body } = receiver.received[1]!
  assert.equal(headers['x-webhook-delivery'], id)
  assert.equal(headers['webhook-id'], eventId)
  assert.equal(JSON.parse(body).charge.id, made.body.data.id)
})

function latencyAside({ attempts, ...delivery }: Any): Any {
  const compared = attempts.map(({ latencyMs, ...attempt }: Any) => {
    assert.ok(Number.isInteger(latencyMs) && latencyMs >= 0)
    return attempt
  })
  return { ...delivery, attempts: compared }
}

test('an attempt without an answer says why instead of a status', async () => {
  const client = await api.client()
  const { receiver, webhook } = await makeReceiver(client)
  await receiver.close()
  await tried(client, webhook)
  await delivering.run()
  const [{ attempts }] = await listed(client, webhook)
  assert.deepEqual(latencyAside({ attempts }).attempts, [
    { at: nowText(), error: 'connection refused', response: '' },
  ])
})

test('waiting and ended deliveries are one list, newest first, in pages and by status', async () => {
  const client = await api.client()
  const { receiver, webhook } = await makeReceiver(client)
  const other = await register(client, receiver.url, ['charge.paid'])
  const ids: string[] = []
  // What was delivered and what is to be tried again alternate, and so do the two tables.
  for (const isTaken of [true, false, false, true, true, false, true, false]) {
    if (isTaken) succeed(receiver)
    else fail(receiver)
    ids.unshift((await tried(client, webhook)).id)
    await delivering.run()
  }
  ids.unshift((await tried(client, webhook)).id)
  await tried(client, other)
  assert.deepEqual(
    (await listed(client, webhook)).map(({ id }) => id),
    ids,
  )
  const pages: string[][] = []
  for (let path: string | undefined = `/webhook/${webhook.id}/deliveries?limit=4`; path; ) {
    const { body, headers }: Reply = await client.get(path)
    pages.push(body.data.map(({ id }: Any) => id))
    path = /<http:\/\/vintem\.test([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
  }
  assert.deepEqual(pages, [ids.slice(0, 4), ids.slice(4, 8), ids.slice(8)])
  const byStatus = async (status: string) =>
    (await listed(client, webhook, `?status=${status}`)).map(({ id }) => ids.indexOf(id))
  assert.deepEqual(await byStatus('DELIVERED'), [2, 4, 5, 8])
  assert.deepEqual(await byStatus('PENDING'), [0, 1, 3, 6, 7])
  assert.deepEqual(await byStatus('FAILED'), [])
  assert.deepEqual(
    (await listed(client, webhook, `?status=DELIVERED&after=${ids[4]}`)).map(({ id }) => id),
    [ids[5], ids[8]],
  )
  const [foreign] = await listed(client, other)
  for (const after of [foreign.id, 'x', foreign.eventId]) {
    const reply = await client.get(`/webhook/${webhook.id}/deliveries?after=${after}`)
    assert.deepEqual(answer(reply), [400, 'invalid_value'], after)
  }
})

test('a delivery that failed for good can be sent again, with its history and all its tries', async () => {
  const client = await api.client()
  const { receiver, webhook } = await makeReceiver(client)
  fail(receiver)
  const { id } = await tried(client, webhook)
  await failToTheEnd()
  const [failed] = await listed(client, webhook, '?status=FAILED')
  assert.deepEqual([failed.id, failed.attempts.length], [id, 1 + RETRY_S.length])
  api.clock.advance(3600)
  const again = await redeliver(client, id)
  assert.equal(again.status, 200, again.text)
  const { finishedAt, ...history } = failed
  assert.ok(finishedAt)
  assert.deepEqual(again.body.data, { ...history, status: 'PENDING', nextAttemptAt: nowText() })
  await failToTheEnd()
  const [twice] = await listed(client, webhook)
  assert.deepEqual([twice.status, twice.attempts.length], ['FAILED', 2 * (1 + RETRY_S.length)])
  succeed(receiver)
  await redeliver(client, id)
  await delivering.run()
  const [done] = await listed(client, webhook)
  assert.deepEqual([done.status, done.attempts.at(-1).status], ['DELIVERED', 200])
  const sent = new Set(receiver.received.map(({ headers, body }) => headers['webhook-id'] + body))
  assert.equal(sent.size, 1, 'the same id and bytes each time')
})

test('a delivery that succeeded can be sent again', async () => {
  const client = await api.client()
  const { receiver, webhook } = await makeReceiver(client)
  const { id } = await tried(client, webhook)
  await delivering.run()
  assert.equal((await redeliver(client, id)).body.data.status, 'PENDING')
  await delivering.run()
  assert.equal(receiver.received.length, 2)
  const [{ status, attempts }] = await listed(client, webhook)
  assert.deepEqual([status, attempts.length], ['DELIVERED', 2])
})

test('if a delivery is in the log already, its new result replaces the old one', async () => {
  const client = await api.client()
  const { receiver, webhook } = await makeReceiver(client)
  await tried(client, webhook)
  await delivering.run()
  await api.rows(
    `insert into deliveries (company_id, webhook_id, event_id, next_attempt_at, created_at)
     select company_id, webhook_id, event_id, created_at, created_at from delivery_log
     where webhook_id = $1`,
    [webhook.id],
  )
  fail(receiver)
  await failToTheEnd()
  const all = await listed(client, webhook)
  assert.deepEqual(
    all.map(({ status, attempts }) => [status, attempts.length]),
    [['FAILED', 1 + RETRY_S.length]],
  )
})

test('a waiting delivery is made due, and one that is due is not changed', async () => {
  const client = await api.client()
  const { receiver, webhook } = await makeReceiver(client)
  fail(receiver)
  const { id } = await tried(client, webhook)
  await delivering.run()
  api.clock.advance(1)
  assert.equal((await redeliver(client, id)).body.data.nextAttemptAt, nowText())
  const { activity: _asked, ...before } = await stored(api)
  const due = await redeliver(client, id)
  assert.deepEqual([due.status, due.body.data.nextAttemptAt], [200, nowText()])
  const { activity: _askedAgain, ...after } = await stored(api)
  assert.deepEqual(after, before)
  await delivering.run()
  const [{ attempts, nextAttemptAt }] = await listed(client, webhook)
  assert.equal(attempts.length, 2)
  assert.equal(Date.parse(nextAttemptAt) - api.clock.now().getTime(), RETRY_S[0]! * 1000)
})

test('twenty requests to send one delivery again send it once', async () => {
  const client = await api.client()
  const { receiver, webhook } = await makeReceiver(client)
  const { id } = await tried(client, webhook)
  await delivering.run()
  const replies = await Promise.all(Array.from({ length: 20 }, () => redeliver(client, id)))
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200])
  await delivering.run()
  assert.equal(receiver.received.length, 2)
})

test('a history keeps its last fifty attempts, however often a delivery is sent again', async () => {
  const client = await api.client()
  const { webhook } = await makeReceiver(client)
  const { id } = await tried(client, webhook)
  await delivering.run()
  await api.rows(
    `update delivery_log set attempts = (select jsonb_agg(attempts -> 0 || jsonb_build_object(
       'latencyMs', n)) from generate_series(1, 70) n) where webhook_id = $1`,
    [webhook.id],
  )
  const { body } = await redeliver(client, id)
  const kept = body.data.attempts.map(({ latencyMs }: Any) => latencyMs)
  assert.deepEqual([kept.length, kept[0], kept.at(-1)], [50, 21, 70])
})

test('a request to send again ends the pause of a webhook that failed', async () => {
  const client = await api.client()
  const { receiver, webhook } = await makeReceiver(client)
  fail(receiver)
  const ids: string[] = []
  for (let i = 0; i < 10; i++) {
    ids.push((await tried(client, webhook)).id)
    await delivering.run()
  }
  const paused = (await client.get(`/webhook/${webhook.id}`)).body.data
  assert.ok(Date.parse(paused.pausedUntil) > api.clock.now().getTime())
  assert.equal(paused.failingSince, nowText())
  succeed(receiver)
  await redeliver(client, ids[0]!)
  await delivering.run()
  const { pausedUntil, failingSince } = (await client.get(`/webhook/${webhook.id}`)).body.data
  assert.deepEqual([pausedUntil, failingSince], [undefined, undefined])
  const [done] = await listed(client, webhook, '?status=DELIVERED')
  assert.equal(done.id, ids[0])
})

test('a delivery that does not exist, or is another company’s, cannot be sent', async () => {
  const [client, stranger] = [await api.client(), await api.client()]
  const { webhook } = await makeReceiver(client)
  const { id } = await tried(client, webhook)
  const before = await stored(api)
  const replies = [
    await redeliver(stranger, id),
    await redeliver(client, packPair(webhook.id, newId())),
    await redeliver(client, packPair(newId(), newId())),
    await redeliver(client, 'x'),
  ]
  for (const reply of replies) assert.deepEqual(answer(reply), [404, 'webhook_not_found'])
  assert.equal(new Set(replies.map(({ text }) => text)).size, 1)
  assert.deepEqual(await stored(api), before)
})

test('an inactive webhook is sent nothing, and says what to do', async () => {
  const client = await api.client()
  const { webhook } = await makeReceiver(client)
  const { id } = await tried(client, webhook)
  await client.put(`/webhook/${webhook.id}`, { status: 'INACTIVE' })
  const before = await stored(api)
  for (const path of [`delivery/${id}/redeliver`, `${webhook.id}/test`, `${webhook.id}/replay`]) {
    const reply = await client.post(`/webhook/${path}`)
    assert.deepEqual(answer(reply), [400, 'invalid_value'], path)
    assert.match(reply.body.errors[0].description, /^status: .*ACTIVE first/)
  }
  assert.deepEqual(await stored(api), before)
})

test('a test event goes to its webhook alone, which need not subscribe to it', async () => {
  const client = await api.client()
  const [one, two] = [await makeReceiver(client), await makeReceiver(client)]
  const { status, event, attempts } = await tried(client, one.webhook)
  assert.deepEqual([status, event, attempts], ['PENDING', 'webhook.test', []])
  await delivering.run()
  assert.equal(two.receiver.received.length, 0)
  const [{ headers, body } = assert.fail()] = one.receiver.received
  assert.equal(headers['x-webhook-event'], 'webhook.test')
  assert.equal(
    body,
    `{"event":"Webhook.Test","webhook":{"id":"${one.webhook.id}"},"externalId":null}`,
  )
  const hook = { url: one.receiver.url, name: 'x', events: ['webhook.test'] }
  assert.deepEqual(answer(await client.post('/webhook', hook)), [400, 'invalid_value'])
})

test('the deliveries of a deleted webhook are deleted with it', async () => {
  const client = await api.client()
  const { webhook } = await makeReceiver(client)
  const kept = await makeReceiver(client)
  await tried(client, webhook)
  await tried(client, kept.webhook)
  await delivering.run()
  await tried(client, webhook)
  assert.equal((await client.delete(`/webhook/${webhook.id}`)).status, 200)
  const rows = await api.rows<{ webhook_id: string }>(
    `select webhook_id from deliveries where company_id = $1
     union all select webhook_id from delivery_log where company_id = $1`,
    [client.company.id],
  )
  assert.deepEqual(rows, [{ webhook_id: kept.webhook.id }])
  assert.equal((await client.get(`/webhook/${webhook.id}/deliveries`)).status, 404)
})
