import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { payer } from '../support/api.ts'
import { vintemIn } from '../support/cli.ts'
import { readSandbox, temporaryFolder } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { openStream, SECRET_KEY, type Several, send, startSeveral, untilGone } from './several.ts'

const DATA_DIR = join(temporaryFolder(), 'data')
const server: Several = await startSeveral({ DATA_DIR })
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

test('after kill -9 a process is started again, and nothing is lost or doubled', async () => {
  const load = startLoad(4)
  const { acknowledged } = load
  await until('charges are made', () => acknowledged.length > 20)
  const victims = ['api 1', 'worker']
  for (const name of victims) process.kill(server.pidOf(name), 'SIGKILL')
  for (const name of victims) await server.untilStarted(name, 2)
  const before = acknowledged.length
  await until('charges are made again', () => acknowledged.length > before + 20)
  load.isOver = true
  await load.all
  assert.ok(server.lines().some(({ msg }) => /has ended and is started again/.test(msg ?? '')))

  const events = new Map<string, string>()
  const pages = acknowledged.length / 100 + 2
  let after = ''
  for (let page = 0; page < pages; page++) {
    const { body } = await call('GET', `/event?type=charge.pending&limit=100${after}`)
    for (const event of body.data) {
      assert.ok(!events.has(event.data.charge.id), 'a charge has one such event')
      events.set(event.data.charge.id, event.id)
    }
    if (body.data.length > 0) after = `&after=${body.data.at(-1).id}`
  }
  for (const id of acknowledged) assert.ok(events.has(id), `${id} is kept`)
  assert.equal(events.size, acknowledged.length + 1, 'a charge that was tried again is one')
  await until('all are delivered', () => {
    const received = receivedBy('Charge.Pending')
    return acknowledged.every((id) => received.has(id))
  })
  for (const [id, ids] of receivedBy('Charge.Pending')) {
    assert.deepEqual([...ids], [events.get(id)], 'a delivery that was repeated has the same id')
  }
})

test('a revoked key is refused by every process', async () => {
  const vintem = vintemIn(temporaryFolder())
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

test('SIGTERM to the first process answers what is under way and ends them all', async () => {
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
