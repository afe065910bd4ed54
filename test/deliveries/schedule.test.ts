import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../support/api.ts'
import { startReceiver } from '../support/receiver.ts'
import {
  assertSigned,
  beginScene,
  commitEvents,
  endedOf,
  healthOf,
  openEngine,
  publicId,
  register,
  waitingOf,
} from './scene.ts'

beginScene()

const MINUTE_S = 60
const HOUR_S = 3600
const WAITS_S = [1 * MINUTE_S, 5 * MINUTE_S, 15 * MINUTE_S, 1 * HOUR_S, 6 * HOUR_S]

const api = await startApi()
const { app, clock } = api
const engine = openEngine(app)

/** A company with one webhook, and the receiver it leads to. */
async function scene() {
  const { company } = await api.client()
  const receiver = await startReceiver()
  const hook = await register(app, company, receiver.url)
  return {
    company,
    receiver,
    hook,
    commitEvents: (count?: number) => commitEvents(app, company.id, count),
  }
}

test('a failing receiver is tried at once, then 1, 5, 15 min, 1 and 6 h after each failure, not a second earlier', async () => {
  const { receiver, hook, commitEvents } = await scene()
  const THINKING_S = 7
  receiver.answer = (response) => {
    clock.advance(THINKING_S)
    response.writeHead(500).end('out of order')
  }
  const sent: Date[] = [clock.now()]
  const [event] = await commitEvents()
  await engine.run()
  assert.equal(receiver.received.length, 1)
  for (const [n, wait_s] of WAITS_S.entries()) {
    clock.advance(wait_s - 1)
    await engine.run()
    assert.equal(receiver.received.length, n + 1, `a second before ${wait_s} s nothing is sent`)
    clock.advance(1)
    sent.push(clock.now())
    await engine.run()
    assert.equal(receiver.received.length, n + 2, `${wait_s} s after the failure it is sent`)
  }
  assert.deepEqual(await waitingOf(app, hook), [])
  const [ended = assert.fail()] = await endedOf(app, hook)
  assert.deepEqual([ended.event_id, ended.status], [event!.id, 'FAILED'])
  assert.deepEqual(
    ended.attempts.map(({ at, status, error, response }) => [at, status, error, response]),
    sent.map((at) => [
      new Date(at.getTime() + THINKING_S * 1000).toISOString(),
      500,
      null,
      'out of order',
    ]),
  )
  clock.advance(7 * 24 * HOUR_S)
  await engine.run()
  assert.equal(receiver.received.length, 6, 'what has failed is not tried again')
})

test('every attempt has the same id and the same bytes, and a signature with its own time', async () => {
  const { receiver, hook, commitEvents } = await scene()
  receiver.answer = (response) => response.writeHead(503).end()
  const [event] = await commitEvents()
  const sent: Date[] = []
  for (const wait_s of [0, ...WAITS_S]) {
    clock.advance(wait_s)
    sent.push(clock.now())
    await engine.run()
  }
  const { received } = receiver
  assert.equal(received.length, 6)
  for (const [n, request] of received.entries()) {
    const { headers, body } = request
    assert.equal(body, event!.payload)
    assert.equal(headers['webhook-id'], publicId(event!))
    assert.equal(headers['x-webhook-event'], 'charge.paid')
    assert.equal(headers['x-webhook-delivery'], received[0]!.headers['x-webhook-delivery'])
    assert.equal(headers['x-webhook-timestamp'], sent[n]!.toISOString())
    assert.equal(headers['webhook-timestamp'], String(Math.floor(sent[n]!.getTime() / 1000)))
    assertSigned(request, hook.secret)
  }
})

test('only answers of 2xx are a success', async () => {
  const { receiver, hook, commitEvents } = await scene()
  for (const status of [200, 201, 202, 203, 204, 206, 226, 299]) {
    receiver.answer = (response) => response.writeHead(status).end()
    const [event] = await commitEvents()
    await engine.run()
    const ended = await endedOf(app, hook)
    const last = ended.find(({ event_id }) => event_id === event!.id)
    assert.deepEqual([last?.status, last?.attempts.length], ['DELIVERED', 1], `${status}`)
  }
  for (const status of [300, 301, 302, 304, 307, 400, 401, 404, 408, 429, 500, 503]) {
    const { receiver, hook, commitEvents } = await scene()
    receiver.answer = (response) => response.writeHead(status, { location: receiver.url }).end()
    await commitEvents()
    await engine.run()
    const [waiting = assert.fail()] = await waitingOf(app, hook)
    assert.deepEqual([waiting.tries, waiting.attempts[0]!.status], [1, status])
    assert.equal(receiver.received.length, 1)
  }
})

test('a receiver that answers 410 is never called again, and its webhook is inactive', async () => {
  const { receiver, hook, commitEvents } = await scene()
  const [welcome] = await commitEvents()
  await engine.run()
  receiver.answer = (response) => response.writeHead(410).end('moved away')
  const [gone] = await commitEvents()
  await engine.run()
  assert.deepEqual(
    (await endedOf(app, hook)).map(({ event_id, status }) => [event_id, status]),
    [
      [welcome!.id, 'DELIVERED'],
      [gone!.id, 'FAILED'],
    ],
  )
  const { status, deactivated } = await healthOf(app, hook)
  assert.deepEqual([status, deactivated], ['INACTIVE', 'GONE'])
  await commitEvents()
  assert.deepEqual(await waitingOf(app, hook), [], 'events of later have no delivery')
  clock.advance(24 * HOUR_S)
  await engine.run()
  assert.equal(receiver.received.length, 2)
})

test('a fast receiver that answers 410 gets few more of its waiting deliveries', async () => {
  const { receiver, hook, commitEvents } = await scene()
  receiver.answer = (response) => {
    response.writeHead(receiver.received.length > 500 ? 410 : 200).end()
  }
  await commitEvents(2000)
  await engine.run()
  // What is on its way when the first answer of this kind comes cannot be taken back.
  const late = receiver.received.length - 500
  assert.ok(late <= 32, `${late} requests after it was gone`)
  const waiting = await waitingOf(app, hook)
  assert.equal(waiting.length, 2000 - receiver.received.length)
  assert.ok(waiting.every(({ tries }) => tries === 0))
})

test('after ten failures in a row a webhook is paused, and waiting deliveries lose no tries', async () => {
  const { receiver, hook, commitEvents } = await scene()
  receiver.answer = (response) => response.writeHead(500).end()
  const events = await commitEvents(40)
  await engine.run()
  assert.equal(receiver.received.length, 10)
  const waiting = await waitingOf(app, hook)
  assert.equal(waiting.length, 40)
  assert.equal(waiting.filter(({ tries, attempts }) => tries + attempts.length === 0).length, 30)
  const pauses_s: number[] = []
  for (let n = 1; n <= 7; n++) {
    const { paused_until } = await healthOf(app, hook)
    const pause_s = (paused_until!.getTime() - clock.now().getTime()) / 1000
    pauses_s.push(pause_s)
    clock.advance(pause_s - 1)
    await engine.run()
    assert.equal(receiver.received.length, 9 + n, 'nothing is sent during a pause')
    clock.advance(1)
    await engine.run()
    assert.equal(receiver.received.length, 10 + n, 'then one delivery asks how it is')
  }
  assert.deepEqual(pauses_s, [15, 30, 60, 120, 240, 300, 300])
  const tried = (await waitingOf(app, hook)).reduce((sum, { tries }) => sum + tries, 0)
  assert.equal(tried, 17, 'only what was sent has lost a try')

  receiver.received.length = 0
  receiver.answer = (response) => response.writeHead(200).end()
  clock.advance(6 * HOUR_S)
  await engine.run()
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers['webhook-id']).sort(),
    events.map(publicId).sort(),
    'recovered, it gets all that waited',
  )
  assert.deepEqual(await waitingOf(app, hook), [])
  const ended = await endedOf(app, hook)
  assert.ok(ended.length === 40 && ended.every(({ status }) => status === 'DELIVERED'))
  const { failures, failing_since, paused_until } = await healthOf(app, hook)
  assert.deepEqual([failures, failing_since, paused_until], [0, null, null])
})

test('a fast receiver that begins to fail loses few tries before it is paused', async () => {
  const { receiver, hook, commitEvents } = await scene()
  receiver.answer = (response) => {
    response.writeHead(receiver.received.length > 500 ? 500 : 200).end()
  }
  await commitEvents(2000)
  await engine.run()
  // At most those that were on their way together, and then one by one.
  const failed = receiver.received.length - 500
  assert.ok(failed <= 32 + 10, `${failed} failures`)
  const untouched = (await waitingOf(app, hook)).filter(({ tries }) => tries === 0)
  assert.equal(untouched.length, 2000 - receiver.received.length)
  const { paused_until } = await healthOf(app, hook)
  assert.ok(paused_until! > clock.now())
})

test('the next success resets the count of failures', async () => {
  const { receiver, hook, commitEvents } = await scene()
  for (let n = 0; n < 30; n++) {
    receiver.answer = (response) => response.writeHead(n % 3 === 2 ? 200 : 500).end()
    await commitEvents()
    await engine.run()
  }
  assert.equal(receiver.received.length, 30, 'never ten in a row')
  const { failures, paused_until } = await healthOf(app, hook)
  assert.deepEqual([failures, paused_until], [0, null])
})
