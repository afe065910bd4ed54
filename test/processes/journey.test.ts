import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { Agent, request } from 'undici'
import { mostConnections } from '../../src/db/connection-counts.ts'
import { attachEmbedded } from '../../src/db/embedded/embedded.ts'
import { payer } from '../support/api.ts'
import { hostedVintemIn } from '../support/cli.ts'
import { cloneDatabase } from '../support/database.ts'
import { longTest } from '../support/long.ts'
import { freePort, readSandbox, startServer, temporaryFolder } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { serve } from '../support/servers.ts'
import { until } from '../support/until.ts'
import { openStream, SECRET_KEY, type Several, send, startSeveral, untilGone } from './several.ts'

const DATA_DIR = join(temporaryFolder(), 'data')
const OPERATOR_PORT = String(await freePort())
const server: Several = await startSeveral({ DATA_DIR, OPERATOR_PORT })
const { apiKey, companyId } = readSandbox(DATA_DIR)
const receiver = await startReceiver()

const call = (method: string, path: string, json?: unknown, headers?: Record<string, string>) =>
  send(server.url, apiKey, [method, path], json, headers)

const newCharge = () => ({ amount: 1000, customer: payer(), devMode: true })

/** The ids of the events of a type that the receiver has got, by charge. */
function receivedBy(event: string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  for (const { headers, body } of receiver.received) {
    const sent = JSON.parse(body) as { event: string; charge: { id: string } }
    if (sent.event !== event) continue
    const ids = found.get(sent.charge.id) ?? new Set()
    found.set(sent.charge.id, ids.add(String(headers['webhook-id'])))
  }
  return found
}

test('a charge that one process has made is read, paid, shown and delivered by others', async () => {
  const events = ['charge.pending', 'charge.paid']
  const hook = await call('POST', '/webhook', { url: receiver.url, name: 'Loja', events })
  assert.equal(hook.status, 201)
  const made = await call('POST', '/charge/pix', newCharge())
  assert.equal(made.status, 201)
  const { id } = made.body.data
  const readers = new Set<string>()
  while (readers.size < 2) {
    const read = await call('GET', `/charge/${id}`)
    assert.equal(read.status, 200)
    readers.add(await server.answeredBy(read.reply))
  }
  assert.deepEqual([...readers].sort(), ['api 1', 'api 2'])

  const page = `${server.url}${new URL(made.body.data.url).pathname}/events`
  const streams = await Promise.all(Array.from({ length: 8 }, () => openStream(page)))
  const paid = await call('POST', `/charge/${id}/simulate-payment`)
  assert.equal(paid.status, 200, JSON.stringify(paid.body))
  for (const stream of streams) {
    await stream.ended
    assert.match(stream.text(), /"state":"paid"/i)
  }
  const ids = await until(
    'the payment is delivered',
    () => receivedBy('Charge.Paid').get(id) ?? null,
  )
  assert.equal(ids.size, 1)
})

/** The value of a metric, over all its labels or over those that are named. */
function sumOf(metrics: string, name: string, labels = ''): number {
  const lines = metrics.split('\n').filter((line) => line.startsWith(name) && line.includes(labels))
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

type Ready = { status: string; faults: string[]; warnings: string[] }
/** Enough to use all connections at once. */
const ASKED = 150
const COUNT = 'vintem_http_request_seconds_count{method="POST",route="/charge/pix"'

/** The most connections that were there until something has ended. */
async function mostSeen(ended: Promise<unknown>): Promise<number> {
  const { url } = await attachEmbedded({ dataDir: DATA_DIR })
  const client = new pg.Client({ connectionString: url, application_name: 'test' })
  await client.connect()
  let [most, isOver] = [0, false]
  const over = ended.then(() => {
    isOver = true
  })
  while (!isOver) {
    const { rows } = await client.query(
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and application_name <> 'test'`,
    )
    most = Math.max(most, rows[0].count)
  }
  await over
  await client.end()
  return most
}

const operator = `http://127.0.0.1:${OPERATOR_PORT}`
const metrics = async () => (await fetch(`${operator}/metrics`)).text()
const ready = async () => (await (await fetch(`${operator}/ready`)).json()) as Ready
const created = async () => sumOf(await metrics(), COUNT, 'status="201"')

test('operators get one answer for all processes', async () => {
  const before = await created()
  const list = () => call('GET', '/charge')
  const make = () => call('POST', '/charge/pix', newCharge())
  const asked = Array.from({ length: ASKED }, (_, n) => (n % 2 === 0 ? make() : list()))
  const [most, ...answers] = await Promise.all([mostSeen(Promise.all(asked)), ...asked])
  assert.ok(most <= mostConnections(10, 2), `${most} connections`)
  // Of so many at once, one process may have more than a company may let wait there, or than it can
  // answer in time.
  const refused = answers.filter(({ status }) => status >= 400)
  for (const { status, body } of refused)
    assert.ok([429, 503].includes(status), JSON.stringify(body))
  const made = before + answers.filter(({ status }) => status === 201).length
  assert.ok(made > before)
  // An answer is counted after it was sent.
  await until('all answers are counted', async () => (await created()) === made)
  assert.deepEqual(await ready(), { status: 'ready', faults: [], warnings: [] })

  const stopped = server.pidOf('worker')
  process.kill(stopped, 'SIGSTOP')
  const { status, warnings } = await ready()
  assert.deepEqual([status, warnings], ['degraded', ['The process worker does not answer.']])
  process.kill(stopped, 'SIGCONT')
  await until('all answer', async () => (await ready()).status === 'ready')
})

/** Between two charges of a client. The rest of the processor is left to processes that start. */
const PACE_MS = 100

/** Makes charges until it is ended, each with a key of its own with which it is tried again. */
function startLoad(clients: number) {
  const acknowledged: string[] = []
  const load = { isOver: false, acknowledged, all: Promise.resolve<unknown>(null) }
  async function makeOne(): Promise<void> {
    const headers = { 'Idempotency-Key': randomUUID() }
    for (;;) {
      const made = await call('POST', '/charge/pix', newCharge(), headers).catch(() => null)
      if (made?.status === 201) return void acknowledged.push(made.body.data.id)
      if (made) assert.ok([409, 503].includes(made.status), JSON.stringify(made.body))
      await pause(PACE_MS)
    }
  }
  const client = async () => {
    while (!load.isOver) {
      await makeOne()
      await pause(PACE_MS)
    }
  }
  load.all = Promise.all(Array.from({ length: clients }, client))
  return load
}

/** The ids of the first events of all charges, each of which has one, by charge. */
async function pendingEvents(): Promise<Map<string, string>> {
  const events = new Map<string, string>()
  for (let after = ''; ; ) {
    const { body } = await call('GET', `/event?type=charge.pending&limit=100${after}`)
    if (body.data.length === 0) return events
    for (const event of body.data) {
      assert.ok(!events.has(event.data.charge.id), 'a charge has one such event')
      events.set(event.data.charge.id, event.id)
    }
    after = `&after=${body.data.at(-1).id}`
  }
}

test('after kill -9 a process is started again, and nothing is lost or doubled', async () => {
  const [before, counted] = [await pendingEvents(), await created()]
  const load = startLoad(4)
  const { acknowledged } = load
  await until('charges are made', () => acknowledged.length > 20)
  const victims = ['api 1', 'worker']
  for (const name of victims) process.kill(server.pidOf(name), 'SIGKILL')
  for (const name of victims) await server.untilStarted(name, 2)
  const enough = acknowledged.length + 20
  await until('charges are made again', () => acknowledged.length > enough)
  load.isOver = true
  await load.all
  assert.ok(server.lines().some(({ msg }) => /has ended and is started again/.test(msg ?? '')))
  assert.ok((await created()) >= counted, 'what a process has counted stays')

  const events = await pendingEvents()
  for (const id of acknowledged) assert.ok(events.has(id), `${id} is kept`)
  const made = events.size - before.size
  assert.equal(made, acknowledged.length, 'a charge that was tried again is one')
  await until('all are delivered', () => {
    const received = receivedBy('Charge.Pending')
    return acknowledged.every((id) => received.has(id))
  })
  for (const [id, ids] of receivedBy('Charge.Pending')) {
    assert.deepEqual([...ids], [events.get(id)], 'a delivery that was repeated has the same id')
  }
})

test('a revoked key is refused by every process', async () => {
  const vintem = hostedVintemIn(temporaryFolder())
  const env = { DATA_DIR, SECRET_KEY }
  const created = await vintem(['key', 'create', '--company', companyId, '--json'], env)
  assert.equal(created.code, 0, created.stderr)
  const { keyId, apiKey: key } = JSON.parse(created.stdout)
  const ask = async () => (await send(server.url, key, ['GET', '/company'])).status
  for (let n = 0; n < 10; n++) assert.equal(await ask(), 200)
  const revoked = await vintem(['key', 'revoke', keyId, '--company', companyId], env)
  assert.equal(revoked.code, 0, revoked.stderr)
  for (let n = 0; n < 10; n++) assert.equal(await ask(), 401)
})

test('kill -9 of the first process leaves none of the others', async () => {
  server.child.kill('SIGKILL')
  await server.ended
  await untilGone(server.pids())
  // The database outlives them. Who comes next takes it over, and stops it.
  await (await attachEmbedded({ dataDir: DATA_DIR })).stop()
  assert.ok(!existsSync(join(DATA_DIR, 'postgres', 'postmaster.pid')))
})

longTest('SIGTERM to the first process answers what is under way and ends them all', async () => {
  const DATA_DIR = join(temporaryFolder(), 'data')
  const server = await startSeveral({ DATA_DIR })
  const { apiKey } = readSandbox(DATA_DIR)
  // A connection that no process has accepted yet would be reset, so these exist before.
  const dispatcher = new Agent({ connections: 8, pipelining: 1 })
  const ask = async (method: 'GET' | 'POST', path: string, json?: unknown) => {
    const { statusCode, body } = await request(server.url + path, {
      dispatcher,
      method,
      headers: { 'X-API-KEY': apiKey, 'Content-Type': 'application/json' },
      body: json === undefined ? null : JSON.stringify(json),
    })
    await body.dump()
    return statusCode
  }
  const eight = (act: () => Promise<number>) => Promise.all(Array.from({ length: 8 }, act))
  await eight(() => ask('GET', '/company'))
  const underWay = eight(() => ask('POST', '/charge/pix', newCharge()))
  server.child.kill('SIGTERM')
  for (const status of await underWay) assert.equal(status, 201)
  assert.equal(await server.ended, 0)
  await dispatcher.close()
  await untilGone(server.pids())
  assert.ok(!existsSync(join(DATA_DIR, 'postgres', 'postmaster.pid')), 'PostgreSQL has stopped')
  assert.ok(!existsSync(join(DATA_DIR, 'server.json')))
})

longTest(
  'a port that is taken and a database that refuses are reported in a sentence',
  async () => {
    const { port } = await serve(() => {})
    const DATABASE_URL = await cloneDatabase()
    const nowhere = new URL(DATABASE_URL)
    nowhere.port = String(await freePort())
    const cases: [Record<string, string>, RegExp, code: number][] = [
      [{ DATABASE_URL, PORT: String(port) }, /^The port is taken: something listens on/, 2],
      [{ DATABASE_URL: nowhere.href }, /refuses connections. Start PostgreSQL/, 1],
    ]
    const refused = cases.map(async ([environment, expected, code]) => {
      const server = await startServer({ SECRET_KEY, PROCESSES: '2', ...environment })
      assert.equal(await server.ended, code)
      assert.match(server.output(), expected)
      assert.equal(server.output().trim().split('\n').length, 1, server.output())
    })
    await Promise.all(refused)
  },
)
