import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { countLiveWorkers } from '../../src/core/deliveries/workers.ts'
import { migrate } from '../../src/db/migrate.ts'
import { createService } from '../../src/service.ts'
import {
  atEnd,
  beginScene,
  commitEvents,
  makeCompany,
  openApp,
  openWorker,
  publicId,
  registerAll,
} from '../deliveries/scene.ts'
import { type Client, caller, makeClient, payer } from '../support/api.ts'
import { arrived, CLOCK } from '../support/clocks.ts'
import { type Received, startReceiver } from '../support/receiver.ts'
import { at, startReplicas } from '../support/replicas.ts'
import { until } from '../support/until.ts'

/** What has to go on as if nothing had happened when a standby becomes the primary. */
beginScene()
const replicas = await startReplicas()
await migrate(replicas.url)
const app = openApp(replicas.url)
const service = await createService(app, replicas.url)
atEnd(() => service.close())
const call = caller(await service.server.listen({ host: '127.0.0.1', port: 0 }))
openWorker(app)
const receiver = await startReceiver()

const newClient = (): Promise<Client> => makeClient(app, call)
/** Asks the primary, whatever the service is told. */
const rows = <R>(text: string) => at<R>(replicas.primary(), text)

async function promote(): Promise<void> {
  await replicas.kill()
  await replicas.promote()
}

const succeeds = (act: () => Promise<{ status: number }>): Promise<true> =>
  until('it is done', async () => (await act()).status < 300 || null)

let charges = 0
/** Makes a charge that is paid at once, however often that has to be asked. */
async function sell(client: Client): Promise<void> {
  const headers = { 'Idempotency-Key': `charge ${charges++}` }
  const json = { amount: 1000, customer: payer(), devMode: true }
  await succeeds(() => client.post('/charge/pix', json, { headers }))
}

type Followed = { ids: string[]; cursor: string }

/** Reads the feed from a cursor to its end. */
async function follow(client: Client, { ids, cursor }: Followed): Promise<Followed> {
  const found = [...ids]
  let after = cursor
  for (;;) {
    const query = after === '' ? '' : `&after=${after}`
    const { body } = await until('the feed is answered', async () => {
      const reply = await client.get(`/event?limit=100${query}`)
      assert.ok([200, 503].includes(reply.status), reply.text)
      return reply.status === 200 && reply
    })
    if (body.data.length === 0) return { ids: found, cursor: after }
    found.push(...body.data.map(({ id }: { id: string }) => id))
    after = found.at(-1)!
  }
}

const BEGINNING: Followed = { ids: [], cursor: '' }

test('a cursor of the feed goes on after a promotion, also past what was never confirmed', async () => {
  const client = await newClient()
  for (let n = 0; n < 5; n += 1) await sell(client)
  const before = await follow(client, BEGINNING)
  const { drop } = await replicas.stopReceiving()
  const lost = client.post('/charge/pix', { amount: 1000, customer: payer() })
  await until('its events wait for the standby', async () => {
    const found = await rows(`select 1 from pg_stat_activity where wait_event = 'SyncRep'`)
    return found.length > 0
  })
  assert.deepEqual(await follow(client, before), before, 'nobody sees them')
  await replicas.kill()
  drop()
  await replicas.promote()
  // It was sent again if the promotion was quick.
  assert.ok([201, 503].includes((await lost).status))
  for (let n = 0; n < 5; n += 1) await sell(client)
  const later = await follow(client, before)
  const all = await follow(client, BEGINNING)
  assert.deepEqual(later, all, 'whoever has followed it has all, in the same order')
  assert.ok(later.ids.length >= 2 * before.ids.length)
  const events = await rows<{ position: string }>(
    `select position from events where company_id = '${client.company.id}' order by position, id`,
  )
  const positions = [...new Set(events.map(({ position }) => Number(position)))]
  assert.deepEqual(
    positions,
    positions.map((_, n) => positions[0]! + n),
    'no position is left out',
  )
  await replicas.rejoin()
})

test('a delivery that is under way during a promotion comes again with the same identity, and none is lost', async () => {
  const client = await newClient()
  const url = `${receiver.url}/deliveries`
  const hook = { url, name: 'test', events: ['charge.pending'] }
  assert.equal((await client.post('/webhook', hook)).status, 201)
  const held: ServerResponse[] = []
  let isHeld = true
  receiver.answer = (response) => {
    if (isHeld) held.push(response)
    else response.writeHead(200).end()
  }
  for (let n = 0; n < 10; n += 1) await sell(client)
  await until('deliveries are under way', () => held.length > 0)
  await promote()
  isHeld = false
  for (const response of held) response.writeHead(200).end()
  for (let n = 0; n < 10; n += 1) await sell(client)
  await until('nothing waits', async () => (await rows('select 1 from deliveries')).length === 0)
  const arrivals = receiver.received.filter(({ path }) => path === '/hook/deliveries')
  const byId = Map.groupBy(arrivals, ({ headers }) => String(headers['webhook-id']))
  const { ids } = await follow(client, BEGINNING)
  const stored = new Set(ids)
  assert.deepEqual(
    [...byId.keys()].filter((id) => !stored.has(id)),
    [],
    'nothing else was sent',
  )
  assert.equal(byId.size, 20, 'each has arrived')
  for (const same of byId.values()) assertSame(same)
  await replicas.rejoin()
})

/** They are one delivery, which was sent again. */
function assertSame(same: Received[]): void {
  const identity = ({ headers, body }: Received) => [headers['x-webhook-delivery'], body]
  for (const one of same) assert.deepEqual(identity(one), identity(same[0]!))
}

test('a clock of the sandbox does not go back in a promotion, and arrives where it was sent', async () => {
  const client = await newClient()
  for (let n = 1; n <= 20; n += 1) {
    const json = { amount: 1000, customer: payer(), expiresIn: 600 * n }
    assert.equal((await client.post('/charge/pix', json)).status, 201)
  }
  const start = new Date((await client.get(CLOCK)).body.data.now)
  assert.equal((await client.post(CLOCK, { advance: 86_400 })).status, 200)
  const seen: Date[] = []
  const look = async () => {
    const { status, body } = await client.get(CLOCK)
    if (status === 200) seen.push(new Date(body.data.now))
  }
  await until('it has left', async () => {
    await look()
    return seen.at(-1)! > start
  })
  await promote()
  await until('it has gone on', async () => {
    const before = seen.length
    await look()
    return seen.length > before
  })
  seen.push(await arrived(client))
  assert.deepEqual(
    seen,
    seen.toSorted((a, b) => a.getTime() - b.getTime()),
    'it never goes back',
  )
  assert.ok(seen.at(-1)!.getTime() >= start.getTime() + 86_400_000)
  const { ids } = await follow(client, BEGINNING)
  assert.equal(new Set(ids).size, ids.length)
  const expired = await rows(
    `select 1 from events where company_id = '${client.company.id}' and type = 'charge.expired'`,
  )
  assert.equal(expired.length, 20, 'each has expired once')
  await replicas.rejoin()
})

test('workers have their locks again after a promotion, and each webhook one worker', async () => {
  openWorker(openApp(replicas.url))
  const company = await makeCompany(app)
  const urls = Array.from({ length: 4 }, (_, n) => `${receiver.url}/workers/${n}`)
  await registerAll(app, company, urls)
  const arrivalsOf = (name: string) =>
    receiver.received.filter(
      ({ path, headers }) => path.startsWith('/hook/workers') && headers['webhook-id'] === name,
    )
  const deliver = async (count: number) => {
    const events = await commitEvents(app, company.id, count)
    for (const event of events) {
      await until('it has arrived everywhere', () => arrivalsOf(publicId(event)).length >= 4)
    }
    return events
  }
  await deliver(10)
  const both = async () => (await countLiveWorkers(app.db).catch(() => 0)) === 2
  await until('both have their locks', both)
  await promote()
  await until('both have their locks again', both)
  const events = await deliver(50)
  await until('nothing waits', async () => (await rows('select 1 from deliveries')).length === 0)
  for (const event of events) assert.equal(arrivalsOf(publicId(event)).length, 4, 'each came once')
})
