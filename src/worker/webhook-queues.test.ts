import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DueDelivery, ReadResult } from '../core/deliveries/store.ts'
import type { WebhookKey } from '../core/webhooks/rules.ts'
import { newId, type Uuid } from '../lib/ids.ts'
import {
  type AttemptEnd,
  addRead,
  createWebhookQueues,
  markDue,
  readRequests,
} from './webhook-queues.ts'

const webhook = (): WebhookKey => ({ companyId: newId(), webhookId: newId() })

function resultOf(key: WebhookKey, events: Uuid[], failing = false): ReadResult {
  const sealed = Buffer.alloc(0)
  const receiver = {
    ...key,
    url: 'http://127.0.0.1/hook',
    failing,
    clockAhead_ms: 0,
    secretSealed: sealed,
    previousSecretSealed: null,
  }
  const deliveries = events.map((eventId): DueDelivery => {
    return {
      receiver,
      eventId,
      ctid: '',
      tries: 0,
      type: 'charge.paid',
      mode: 'live',
      payload: '',
      cause: null,
    }
  })
  return { deliveries, last: { dueAt: new Date(0), eventId: events.at(-1)! } }
}

type Sent = { eventId: Uuid; end(end: AttemptEnd): Promise<void> }

/** Queues whose attempts end when the test says so. */
function openQueues() {
  const inProgress: Sent[] = []
  const queues = createWebhookQueues((delivery, onAnswered) => {
    const { promise, resolve } = Promise.withResolvers<'continue'>()
    const one: Sent = {
      eventId: delivery.eventId,
      async end(end) {
        inProgress.splice(inProgress.indexOf(one), 1)
        onAnswered(end)
        resolve('continue')
        await promise.then(() => {})
      },
    }
    inProgress.push(one)
    return promise
  })
  const read = (key: WebhookKey, events: Uuid[], failing = false) => {
    markDue(queues, [key])
    addRead(queues, readRequests(queues), [resultOf(key, events, failing)])
  }
  return { queues, inProgress, read }
}

const WELL: AttemptEnd = { kind: 'delivered', latency_ms: 5 }
const BADLY: AttemptEnd = { kind: 'failed', latency_ms: 5 }

test('a delivery that is read twice while it is in progress is sent once', async () => {
  const { inProgress, queues } = openQueues()
  const [key, event, next] = [webhook(), newId(), newId()]
  markDue(queues, [key])
  const requests = readRequests(queues)
  addRead(queues, requests, [resultOf(key, [event])])
  addRead(queues, requests, [resultOf(key, [event, next])])
  assert.deepEqual(
    inProgress.map(({ eventId }) => eventId),
    [event],
  )
  await inProgress[0]!.end(WELL)
  assert.deepEqual(
    inProgress.map(({ eventId }) => eventId),
    [next],
  )
  await inProgress[0]!.end(WELL)
  assert.equal(inProgress.length, 0)
})

test('a receiver that answers well gets more at once, and one at a time when it fails', async () => {
  const { inProgress, read } = openQueues()
  const key = webhook()
  read(
    key,
    Array.from({ length: 16 }, () => newId()),
  )
  const sizes = [inProgress.length]
  for (const _ of [1, 2]) {
    for (const one of [...inProgress]) await one.end(WELL)
    sizes.push(inProgress.length)
  }
  assert.deepEqual(sizes.slice(0, 2), [1, 2])
  assert.ok(sizes[2]! > 4, `${sizes}`)
  for (const one of [...inProgress]) await one.end(BADLY)
  for (let failures = 0; failures < 3; failures++) {
    assert.equal(inProgress.length, 1, 'one at a time')
    await inProgress[0]!.end(BADLY)
  }
})

test('a receiver that failed last time is unhealthy at first', () => {
  const { queues, read } = openQueues()
  const [failing, fresh] = [webhook(), webhook()]
  read(failing, [newId()], true)
  read(fresh, [newId()])
  assert.deepEqual(
    [...queues.byKey.values()].map(({ health }) => health),
    ['unhealthy', 'unknown'],
  )
})
