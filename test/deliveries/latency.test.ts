import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { App } from '../../src/core/app.ts'
import { createKey } from '../../src/core/companies/commands.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { payer } from '../support/api.ts'
import { cloneDatabase } from '../support/database.ts'
import { startServer } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { median } from './figures.ts'
import { startWorkerProcess } from './process.ts'
import { environmentOf, makeCompany, openApp, register, tell } from './scene.ts'
import { until } from './until.ts'

const EVENTS = 50

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

test('in one process the first try comes within 100 ms of the commit', async (t) => {
  const { app, company, arrived } = await scene(await cloneDatabase())
  const worker = startWorker(app)
  const latencies_ms: number[] = []
  for (let n = 1; n <= EVENTS; n++) {
    await tell(app, company.id)
    const committed_ms = performance.now()
    latencies_ms.push((await arrived(n)).at_ms - committed_ms)
  }
  await worker.stop()
  const { median_ms, max_ms } = report(t, latencies_ms)
  assert.ok(median_ms < 50, `${median_ms} ms`)
  assert.ok(max_ms < 1000, `${max_ms} ms`)
})

test('an event that follows another at any distance waits for nothing', async (t) => {
  const { app, company, receiver, arrived } = await scene(await cloneDatabase())
  // The second event often comes while the receiver still thinks about the first.
  receiver.answer = (response) => setTimeout(() => response.writeHead(200).end(), 15)
  const worker = startWorker(app)
  await tell(app, company.id)
  await arrived(1)
  const latencies_ms: number[] = []
  for (let distance_ms = 0; distance_ms < 50; distance_ms++) {
    const before = receiver.received.length
    const first_ms = performance.now()
    await tell(app, company.id)
    await until('the distance', () => performance.now() - first_ms >= distance_ms)
    await tell(app, company.id)
    const committed_ms = performance.now()
    latencies_ms.push((await arrived(before + 2)).at_ms - committed_ms)
  }
  await worker.stop()
  report(t, latencies_ms)
  // A ring that is lost costs half a second, and would be lost again and again.
  assert.ok(latencies_ms.filter((ms) => ms > 250).length <= 3, latencies_ms.join())
})

async function makeKey(app: App, company: Awaited<ReturnType<typeof makeCompany>>) {
  const now = app.clock.now()
  const { text } = await app.db.transaction((tx) =>
    createKey(tx, app.vault, company, { name: 'test' }, now),
  )
  return text
}

test('across processes the first try comes within a second of the answer', async (t) => {
  const databaseUrl = await cloneDatabase()
  const { app, company, receiver } = await scene(databaseUrl)
  const apiKey = await makeKey(app, company)
  await app.db.query({ text: `update webhooks set events = '{charge.processing}'` })
  const api = await startServer(environmentOf(databaseUrl), ['--role', 'api'])
  const worker = await startWorkerProcess(databaseUrl)
  const latencies_ms: number[] = []
  for (let n = 0; n < 6; n++) {
    const reply = await fetch(`${api.url}/charge/pix`, {
      method: 'POST',
      headers: { 'X-API-KEY': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ amount: 1990, customer: payer() }),
    })
    const answered_ms = performance.now()
    const { data } = (await reply.json()) as { data: { id: string } }
    assert.equal(reply.status, 201)
    const { at_ms } = await until('the delivery', () => {
      return receiver.received.find(({ body }) => body.includes(data.id)) ?? null
    })
    latencies_ms.push(at_ms - answered_ms)
  }
  const { max_ms } = report(t, latencies_ms.slice(1))
  assert.ok(max_ms < 1500, `${max_ms} ms`)
  assert.equal(await worker.end('SIGTERM'), 0, worker.output())
})
