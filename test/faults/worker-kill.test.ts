import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as endOfTick } from 'node:timers/promises'
import type { Event } from '../../src/core/events.ts'
import { startWorkerProcess, type WorkerProcess } from '../deliveries/process.ts'
import {
  assertSigned,
  beginScene,
  commitEvents,
  makeCompany,
  openApp,
  publicId,
  registerAll,
} from '../deliveries/scene.ts'
import { cloneDatabase } from '../support/database.ts'
import { isLong } from '../support/long.ts'
import { type Received, startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

beginScene()

/**
 * A few kills with every test run; `KILLS=20 EVENTS=5000 node test/run.ts FILE` for what is
 * promised.
 */
const { SEED = '1', KILLS = '2', EVENTS = isLong ? '300' : '100' } = process.env
const [kills, total] = [Number(KILLS), Number(EVENTS)]
const WEBHOOKS = 3
/** So many events may wait for delivery before the next are written. */
const OUTSTANDING = 150
const MAX_AT_ONCE = 10
/** Receivers take their time, so that a kill meets deliveries on their way. */
const THINKING_MS = 12

/** Choices that the same seed makes again (Mulberry32). */
function createRandom(seed: number): (end: number) => number {
  let state = seed >>> 0
  return (end) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end)
  }
}
const below = createRandom(Number(SEED))

const databaseUrl = await cloneDatabase()
const app = openApp(databaseUrl)
const company = await makeCompany(app)
const receiver = await startReceiver()
const { received } = receiver
const urls = Array.from({ length: WEBHOOKS }, (_, n) => `${receiver.url}/${n}`)
const hooks = await registerAll(app, company, urls)

type Arrival = Received & {
  /** Which of the workers, one after the other, has sent it. */
  life: number
}
const arrivals: Arrival[] = []
const workers: WorkerProcess[] = []
let life = 0
receiver.answer = (response, request) => {
  arrivals.push({ ...request, life })
  setTimeout(() => response.writeHead(200).end(), below(THINKING_MS))
}

const nameOf = ({ path, headers }: Received) => `${path} ${headers['webhook-id']}`

async function startNext(): Promise<void> {
  // What the one before has sent is in our sockets, and is read in a tick or two.
  for (let ticks = 0; ticks < 5; ticks++) await endOfTick()
  life += 1
  workers.push(await startWorkerProcess(databaseUrl))
}

/** Commits one event after the other, as fast as they arrive. */
async function commitAll(): Promise<Event[]> {
  const events: Event[] = []
  const seen = new Set<string>()
  let looked = 0
  while (events.length < total) {
    const count = Math.min(1 + below(MAX_AT_ONCE), total - events.length)
    events.push(...(await commitEvents(app, company.id, count)))
    await until('deliveries keep up', () => {
      for (; looked < received.length; looked += 1) seen.add(nameOf(received[looked]!))
      return seen.size >= (events.length - OUTSTANDING) * WEBHOOKS
    })
  }
  return events
}

/** Strikes while a delivery arrives, after about as many of them each time. */
async function killAgainAndAgain(): Promise<void> {
  const between = (total * WEBHOOKS) / (kills + 1)
  for (let n = 1; n <= kills; n++) {
    const least = between * (n - 1) + below(between)
    await until(`enough for kill ${n}`, () => received.length >= least)
    const strike = received.length + 1
    await until('a delivery arrives', () => received.length >= strike)
    await workers.at(-1)!.end('SIGKILL')
    await startNext()
  }
}

const countWaiting = async () => {
  const [row] = await app.db.query<{ count: number }>({ text: 'select count(*) from deliveries' })
  return row!.count
}

test(`a worker that is killed ${kills} times loses no event and doubles only what was on its way`, {
  timeout: 600_000 + kills * 10_000,
}, async (t) => {
  await startNext()
  const [events] = await Promise.all([commitAll(), killAgainAndAgain()])
  await until('nothing waits', async () => (await countWaiting()) === 0)
  assert.equal(await workers.at(-1)!.end('SIGTERM'), 0)

  const byName = Map.groupBy(arrivals, nameOf)
  const expected = hooks.flatMap((_, n) =>
    events.map((event) => `${new URL(urls[n]!).pathname} ${publicId(event)}`),
  )
  assert.deepEqual([...byName.keys()].sort(), expected.sort(), 'every event has arrived')
  const payloads = new Map(events.map((event) => [publicId(event), event.payload]))
  for (const same of byName.values()) {
    for (const { headers, body } of same) {
      assert.equal(body, payloads.get(String(headers['webhook-id'])))
      assert.equal(headers['x-webhook-delivery'], same[0]!.headers['x-webhook-delivery'])
    }
    const lives = new Set(same.map(({ life }) => life))
    assert.equal(lives.size, same.length, 'no worker has sent anything twice')
  }
  for (const arrival of arrivals.slice(-100)) {
    assertSigned(arrival, hooks[Number(arrival.path.at(-1))]!.secret)
  }
  const log = await app.db.query<{ status: string; count: number }>({
    text: 'select status, count(*) from delivery_log group by status',
  })
  assert.deepEqual(log, [{ status: 'DELIVERED', count: total * WEBHOOKS }])
  const complaints = workers.flatMap(({ output }) => output().match(/"level":[56]0,.*/g) ?? [])
  assert.deepEqual(complaints, [])
  const doubled = arrivals.length - expected.length
  t.diagnostic(`seed ${SEED}: ${expected.length} deliveries, ${doubled} of them came twice`)
  assert.ok(kills === 0 || doubled > 0, 'kills have met deliveries on their way')
})
