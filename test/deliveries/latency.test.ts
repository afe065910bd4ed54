import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { TASK } from '../../src/core/tasks.ts'
import { TASKS } from '../../src/worker/worker.ts'
import { cloneDatabase } from '../support/database.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { isLong, median } from './figures.ts'
import { beginScene, commitEvents, makeCompany, openApp, openWorker, register } from './scene.ts'

beginScene()

const EVENTS = isLong ? 50 : 20
/** Of the distances from 0 to 50 ms between two events, in the short version one in so many. */
const STEP_MS = isLong ? 1 : 3

/**
 * The worker's task. In the short version it looks by itself only every ten minutes: what arrives
 * has been rung for.
 */
const DELIVER = TASKS.filter(({ name }) => name === TASK.deliver).map((task) =>
  isLong ? task : { ...task, every_ms: 600_000 },
)

function report(t: TestContext, latencies_ms: number[]) {
  const figures = { median_ms: median(latencies_ms), max_ms: Math.max(...latencies_ms) }
  t.diagnostic(
    `commit to arrival: median ${figures.median_ms.toFixed(1)} ms, ` +
      `at most ${figures.max_ms.toFixed(1)} ms over ${latencies_ms.length}`,
  )
  return figures
}

/** An app with a webhook and its receiver. */
async function scene(databaseUrl: string) {
  const app = openApp(databaseUrl)
  const company = await makeCompany(app)
  const receiver = await startReceiver()
  await register(app, company, receiver.url)
  const arrived = (count: number) =>
    until(`request ${count}`, () => receiver.received[count - 1] ?? null)
  return { app, company, receiver, arrived }
}

test('in one process the first attempt comes within 100 ms of the commit', async (t) => {
  const { app, company, arrived } = await scene(await cloneDatabase())
  const worker = openWorker(app, DELIVER)
  const latencies_ms: number[] = []
  for (let n = 1; n <= EVENTS; n++) {
    await commitEvents(app, company.id)
    const committed_ms = performance.now()
    latencies_ms.push((await arrived(n)).at_ms - committed_ms)
  }
  await worker.stop()
  const { median_ms, max_ms } = report(t, latencies_ms)
  if (!isLong) return
  assert.ok(median_ms < 50, `${median_ms} ms`)
  assert.ok(max_ms < 1000, `${max_ms} ms`)
})

test('an event is sent at once, however soon it follows another', async (t) => {
  const { app, company, receiver, arrived } = await scene(await cloneDatabase())
  // The second event often comes while the receiver still thinks about the first.
  receiver.answer = (response) => setTimeout(() => response.writeHead(200).end(), 15)
  const worker = openWorker(app, DELIVER)
  await commitEvents(app, company.id)
  await arrived(1)
  const latencies_ms: number[] = []
  for (let distance_ms = 0; distance_ms < 50; distance_ms += STEP_MS) {
    const before = receiver.received.length
    const first_ms = performance.now()
    await commitEvents(app, company.id)
    await until('the distance', () => performance.now() - first_ms >= distance_ms)
    await commitEvents(app, company.id)
    const committed_ms = performance.now()
    latencies_ms.push((await arrived(before + 2)).at_ms - committed_ms)
  }
  await worker.stop()
  report(t, latencies_ms)
  // A ring that is lost costs half a second, and would be lost again and again.
  if (isLong) assert.ok(latencies_ms.filter((ms) => ms > 250).length <= 3, latencies_ms.join())
})

test('across processes the first attempt comes within a second of the commit', async (t) => {
  const databaseUrl = await cloneDatabase()
  const { app, company, arrived } = await scene(databaseUrl)
  // To the worker this is another process: nothing that is committed here wakes it.
  const worker = openWorker(openApp(databaseUrl))
  const latencies_ms: number[] = []
  for (let n = 1; n <= (isLong ? 20 : 3); n++) {
    await commitEvents(app, company.id)
    const committed_ms = performance.now()
    latencies_ms.push((await arrived(n)).at_ms - committed_ms)
  }
  await worker.stop()
  const { max_ms } = report(t, latencies_ms)
  if (isLong) assert.ok(max_ms < 1000, `${max_ms} ms`)
})
