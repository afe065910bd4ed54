import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DueDelivery, Reading, WebhookKey } from '../core/deliveries/store.ts'
import { newId, type Uuid } from '../lib/ids.ts'
import { createLines, give, type Landing, noteDue, wantedOf } from './lines.ts'

const webhook = (): WebhookKey => ({ companyId: newId(), webhookId: newId() })

function readingOf(key: WebhookKey, events: Uuid[], failing = false): Reading {
  const sealed = Buffer.alloc(0)
  const receiver = {
    ...{ ...key, url: 'http://127.0.0.1/hook', failing, clockAhead_ms: 0 },
    ...{ secretSealed: sealed, previousSecretSealed: null },
  }
  const deliveries = events.map((eventId): DueDelivery => {
    return {
      receiver,
      eventId,
      place: '',
      tries: 0,
      type: 'charge.paid',
      mode: 'live',
      payload: '',
    }
  })
  return { deliveries, last: { dueAt: new Date(0), eventId: events.at(-1)! } }
}

type Under = { eventId: Uuid; land(landing: Landing): Promise<void> }

/** Lines whose deliveries end when the test says so. */
function openLines() {
  const underWay: Under[] = []
  const lines = createLines((delivery, landed) => {
    const { promise, resolve } = Promise.withResolvers<'go on'>()
    const one: Under = {
      eventId: delivery.eventId,
      async land(landing) {
        underWay.splice(underWay.indexOf(one), 1)
        landed(landing)
        resolve('go on')
        await promise.then(() => {})
      },
    }
    underWay.push(one)
    return promise
  })
  const read = (key: WebhookKey, events: Uuid[], failing = false) => {
    noteDue(lines, [key])
    give(lines, wantedOf(lines), [readingOf(key, events, failing)])
  }
  return { lines, underWay, read }
}

const WELL: Landing = { kind: 'delivered', latency_ms: 5 }
const BADLY: Landing = { kind: 'failed', latency_ms: 5 }

test('a delivery that is read twice while it is under way is sent once', async () => {
  const { underWay, lines } = openLines()
  const [key, event, next] = [webhook(), newId(), newId()]
  noteDue(lines, [key])
  const wishes = wantedOf(lines)
  give(lines, wishes, [readingOf(key, [event])])
  give(lines, wishes, [readingOf(key, [event, next])])
  assert.deepEqual(
    underWay.map(({ eventId }) => eventId),
    [event],
  )
  await underWay[0]!.land(WELL)
  assert.deepEqual(
    underWay.map(({ eventId }) => eventId),
    [next],
  )
  await underWay[0]!.land(WELL)
  assert.equal(underWay.length, 0)
})

test('a receiver that answers well gets more at once, and one by one when it fails', async () => {
  const { underWay, read } = openLines()
  const key = webhook()
  read(
    key,
    Array.from({ length: 16 }, () => newId()),
  )
  const sizes = [underWay.length]
  for (const _ of [1, 2]) {
    for (const one of [...underWay]) await one.land(WELL)
    sizes.push(underWay.length)
  }
  assert.deepEqual(sizes.slice(0, 2), [1, 2])
  assert.ok(sizes[2]! > 4, `${sizes}`)
  for (const one of [...underWay]) await one.land(BADLY)
  for (let failures = 0; failures < 3; failures++) {
    assert.equal(underWay.length, 1, 'tried one by one')
    await underWay[0]!.land(BADLY)
  }
})

test('a receiver that failed last time begins among those that fail', () => {
  const { lines, read } = openLines()
  const [failing, fresh] = [webhook(), webhook()]
  read(failing, [newId()], true)
  read(fresh, [newId()])
  assert.deepEqual(
    [...lines.byName.values()].map(({ standing }) => standing),
    ['troubled', 'unproven'],
  )
})
