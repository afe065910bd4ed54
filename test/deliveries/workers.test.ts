import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { type RegisteredWorker, registerWorker } from '../../src/core/deliveries/workers.ts'
import type { FullApp } from '../../src/core/full-app.ts'
import { createDeliveryWorker } from '../../src/worker/deliver.ts'
import { cloneDatabase } from '../support/database.ts'
import { longTest } from '../support/long.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { delivering } from './crowd.ts'
import { isLong } from './figures.ts'
import { startWorkerProcess } from './process.ts'
import {
  atEnd,
  beginScene,
  commitEvents,
  endedOf,
  type Hook,
  healthOf,
  makeCompany,
  openApp,
  openEngine,
  publicId,
  register,
  registerAll,
  waitingOf,
} from './scene.ts'

beginScene()

const databaseUrl = await cloneDatabase()
const app = openApp(databaseUrl)

/** A company with one webhook, and the receiver it leads to. */
async function scene() {
  const company = await makeCompany(app)
  const receiver = await startReceiver()
  const hook = await register(app, company, receiver.url)
  return {
    company,
    receiver,
    hook,
    commitEvents: (count?: number) => commitEvents(app, company.id, count),
  }
}

/** A receiver whose answers wait until the test gives them. */
async function gated() {
  const all = await scene()
  const gates: ((status: number) => void)[] = []
  all.receiver.answer = (response) => gates.push((status) => response.writeHead(status).end())
  const arrived = (count: number) => until(`request ${count}`, () => gates[count - 1] ?? null)
  return { ...all, arrived }
}

/** To the others this is one more worker. */
async function registerOther(): Promise<RegisteredWorker> {
  const other = await registerWorker(app.db)
  atEnd(() => other.close())
  return other
}

/** Another worker that delivers all that is due and is gone again. */
async function deliverAll(): Promise<void> {
  const engine = createDeliveryWorker(app)
  try {
    await engine.run()
  } finally {
    await engine.close()
  }
}

/** Gives the lease of a webhook to a worker. */
const giveLease = ({ companyId, webhookId }: Hook, worker: number) =>
  app.db.query({
    text: `insert into webhook_leases values ($1, $2, $3, now() + interval '30 seconds')
           on conflict (company_id, webhook_id) do update set worker = excluded.worker`,
    values: [companyId, webhookId, worker],
  })

/** Lets the lease of a webhook expire, as if its worker had not renewed it for long. */
const expire = ({ companyId, webhookId }: Hook) =>
  app.db.query({
    text: `update webhook_leases set until = now() where company_id = $1 and webhook_id = $2`,
    values: [companyId, webhookId],
  })

/** The same app with a sender that counts. */
function counting(app: FullApp): { app: FullApp; sent(): number } {
  let sent = 0
  const post: FullApp['sender']['post'] = (...request) => {
    sent += 1
    return app.sender.post(...request)
  }
  return { app: { ...app, sender: { ...app.sender, post } }, sent: () => sent }
}

test('workers on one database share the deliveries and send none twice', async (t) => {
  const [WEBHOOKS, EVENTS] = [120, isLong ? 30 : 12]
  const [first, second] = [openApp(databaseUrl), openApp(databaseUrl)].map(counting)
  const company = await makeCompany(app)
  const receiver = await startReceiver()
  const urls = Array.from({ length: WEBHOOKS }, (_, n) => `${receiver.url}/${n}`)
  await registerAll(app, company, urls)
  // A worker counts the other workers now and then, and this one is there before either looks.
  await registerOther()
  const events: string[] = []
  const shares = () => [first!.sent(), second!.sent()]
  await delivering(first!.app, () =>
    delivering(second!.app, async () => {
      // A worker that had work looks again later than one that had none, so that each gets a share.
      await until('both have their share', async () => {
        events.push(...(await commitEvents(app, company.id, 3)).map(publicId))
        const all = events.length * WEBHOOKS
        await until('all has arrived', () => receiver.received.length >= all)
        return events.length >= EVENTS && Math.min(...shares()) > 0
      })
      await until('nothing waits', async () => {
        const [row] = await app.db.query<{ count: number }>({
          text: 'select count(*) from deliveries where company_id = $1',
          values: [company.id],
        })
        return row!.count === 0
      })
    }),
  )
  assert.deepEqual(
    receiver.received.map(({ path, headers }) => `${path} ${headers['webhook-id']}`).sort(),
    urls.flatMap((url) => events.map((id) => `${new URL(url).pathname} ${id}`)).sort(),
  )
  t.diagnostic(`${shares().join(' and ')} deliveries`)
  if (isLong) assert.ok(Math.min(...shares()) > 0.1 * Math.max(...shares()), shares().join())
})

test('deliveries of a dead worker are sent at once, those of a live one are left to it', async () => {
  const { receiver, hook, commitEvents } = await scene()
  const DEAD = 4242
  await app.db.query({ text: 'insert into workers (id) values ($1)', values: [DEAD] })
  await giveLease(hook, DEAD)
  await commitEvents()
  await deliverAll()
  assert.equal(receiver.received.length, 1)

  const living = await registerOther()
  await giveLease(hook, living.id)
  await commitEvents()
  await deliverAll()
  assert.equal(receiver.received.length, 1)
  await expire(hook)
  await deliverAll()
  assert.equal(receiver.received.length, 2, 'unless its lease is over')

  await giveLease(hook, living.id)
  await commitEvents()
  await living.close()
  await deliverAll()
  assert.equal(receiver.received.length, 3)
  const rows = await app.db.query({ text: 'select from workers where id = $1', values: [DEAD] })
  assert.equal(rows.length, 0, 'the dead are forgotten')
})

/** So long a worker may keep a webhook without a renewal of its lease. */
const LEASE_MS = 30_000

test('a worker that is killed is noticed by the others within seconds', async (t) => {
  const { receiver, hook, commitEvents } = await scene()
  receiver.answer = () => {}
  const victim = await startWorkerProcess(databaseUrl)
  const [event] = await commitEvents()
  await until('the victim has sent it', () => receiver.received.length === 1)
  await delivering(app, async () => {
    receiver.answer = (response) => response.writeHead(200).end()
    await victim.end('SIGKILL')
    const killed_ms = performance.now()
    const again = await until('another worker has sent it', () => receiver.received[1] ?? null)
    const took_ms = again.at_ms - killed_ms
    t.diagnostic(`${(took_ms / 1000).toFixed(1)} s after the kill`)
    assert.ok(took_ms < (isLong ? 10_000 : LEASE_MS - 5_000), `${took_ms} ms`)
    await until('it is written down', async () => (await waitingOf(app, hook)).length === 0)
  })
  const [first, second] = receiver.received
  assert.equal(first!.headers['webhook-id'], publicId(event!))
  assert.equal(second!.headers['webhook-id'], publicId(event!))
  assert.equal(second!.body, first!.body)
  const [ended] = await endedOf(app, hook)
  assert.deepEqual([ended!.status, ended!.attempts.length], ['DELIVERED', 1])
})

test('a late result of a worker that has lost its lease is ignored', async () => {
  for (const [late, status] of [
    [500, 200],
    [200, 200],
    [200, 500],
  ] as const) {
    const { receiver, hook, commitEvents, arrived } = await gated()
    const [slow, quick] = [openEngine(app), openEngine(openApp(databaseUrl))]
    await commitEvents()
    const running = slow.run()
    const answerLate = await arrived(1)
    await expire(hook)
    const taking = quick.run()
    const answer = await arrived(2)
    answer(status)
    await taking
    answerLate(late)
    await running
    await slow.close()
    assert.equal(receiver.received.length, 2)
    const [ended, waiting] = [await endedOf(app, hook), await waitingOf(app, hook)]
    const kept = [...ended, ...waiting].flatMap(({ attempts }) => attempts)
    assert.deepEqual(
      kept.map((attempt) => attempt.status),
      [status],
    )
    assert.deepEqual(
      ended.map((one) => one.status),
      status === 200 ? ['DELIVERED'] : [],
    )
  }
})

longTest(
  'a worker that has lost a lease sends only what it has read, and nothing twice',
  async () => {
    const { receiver, hook, commitEvents } = await scene()
    const other = await registerOther()
    const events = await commitEvents(2000)
    let lost: Promise<unknown> | null = null
    receiver.answer = async (response) => {
      if (receiver.received.length === 100) lost = giveLease(hook, other.id)
      await lost
      response.writeHead(200).end()
    }
    await deliverAll()
    const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
    assert.equal(new Set(ids).size, ids.length)
    assert.ok(ids.length < 1000, `${ids.length} were sent`)
    await other.close()
    receiver.answer = (response) => response.writeHead(200).end()
    await deliverAll()
    const all = new Set(receiver.received.map(({ headers }) => headers['webhook-id']))
    assert.equal(all.size, events.length)
    assert.equal((await endedOf(app, hook)).length, events.length)
  },
)

test('a worker that stops waits for answers, and leaves the rest as it was', async () => {
  const MANY = 300
  const { receiver, hook, commitEvents, arrived } = await gated()
  const engine = openEngine(app)
  const stopping = new AbortController()
  await commitEvents(MANY)
  const running = engine.run(stopping.signal)
  const answer = await arrived(1)
  receiver.answer = (response) => response.writeHead(200).end()
  stopping.abort()
  answer(200)
  await running
  // One that was just asking the database may have had a few more at hand.
  const sent = receiver.received.length
  assert.ok(sent < MANY, `${sent} were sent`)
  assert.equal((await endedOf(app, hook)).length, sent)
  const waiting = await waitingOf(app, hook)
  assert.equal(waiting.length, MANY - sent)
  assert.ok(waiting.every(({ tries, attempts }) => tries + attempts.length === 0))
  await engine.close()
  await deliverAll()
  assert.equal((await endedOf(app, hook)).length, MANY, 'others go on at once')
  assert.equal(receiver.received.length, MANY)
})

longTest(
  'after SIGTERM a worker stores the answers it has, and frees the rest without losing a try',
  async () => {
    const [slow, hanging] = [await gated(), await scene()]
    hanging.receiver.answer = () => {}
    const worker = await startWorkerProcess(databaseUrl)
    await slow.commitEvents()
    const [event] = await hanging.commitEvents()
    const answer = await slow.arrived(1)
    await until('both are on their way', () => hanging.receiver.received.length === 1)
    const ending = worker.end('SIGTERM')
    answer(200)
    assert.equal(await ending, 0, worker.output())
    assert.equal((await endedOf(app, slow.hook)).length, 1)
    const [waiting] = await waitingOf(app, hanging.hook)
    assert.deepEqual([waiting!.tries, waiting!.attempts], [0, []])
    assert.equal((await healthOf(app, hanging.hook)).failures, 0)
    hanging.receiver.answer = (response) => response.writeHead(200).end()
    await deliverAll()
    assert.equal((await endedOf(app, hanging.hook)).length, 1)
    assert.equal(slow.receiver.received.length, 1)
    assert.deepEqual(
      hanging.receiver.received.map(({ headers }) => headers['webhook-id']),
      [publicId(event!), publicId(event!)],
    )
  },
)

const locks = () =>
  app.db.query<{ pid: number; id: number }>({
    text: `select pid, objid::int8 as id from pg_locks
           where locktype = 'advisory' and classid = 1986621045 and objsubid = 2
             and database = (select oid from pg_database where datname = current_database())`,
  })

test('a worker that loses the connection of its lock takes the lock again and continues', async () => {
  const { receiver, commitEvents } = await scene()
  const before = new Set((await locks()).map(({ id }) => id))
  const own = openApp(databaseUrl)
  const engine = openEngine(own)
  await commitEvents()
  await engine.run()
  const lock = (await locks()).find(({ id }) => !before.has(id))!
  await app.db.query({ text: 'select pg_terminate_backend($1::int)', values: [lock.pid] })
  await until('the lock is held again', async () =>
    (await locks()).some(({ id, pid }) => id === lock.id && pid !== lock.pid),
  )
  await commitEvents()
  await engine.run()
  assert.equal(receiver.received.length, 2)
  await engine.close()
  await until('the lock is gone', async () => (await locks()).every(({ id }) => id !== lock.id))
})

test('a delivery that cannot be signed fails like any other and delays no other', async () => {
  const [broken, fine] = [await scene(), await scene()]
  await app.db.query({
    text: 'update webhooks set secret_sealed = $2 where id = $1',
    values: [broken.hook.webhookId, randomBytes(64)],
  })
  await broken.commitEvents()
  await fine.commitEvents()
  await deliverAll()
  assert.equal(fine.receiver.received.length, 1)
  assert.equal(broken.receiver.received.length, 0)
  const [waiting] = await waitingOf(app, broken.hook)
  assert.deepEqual([waiting!.tries, waiting!.attempts[0]!.error], [1, 'could not be sent'])
})
