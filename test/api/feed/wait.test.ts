import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LISTENER } from '../../../src/core/companies/announce.ts'
import { type Event, emit, testEvent } from '../../../src/core/events.ts'
import { createFeedWaits } from '../../../src/core/feed/waits.ts'
import { uuids } from '../../../src/db/arrays.ts'
import { newId, toPublic } from '../../../src/lib/ids.ts'
import { removeOld } from '../../../src/worker/retention.ts'
import { type Client, payer, startApi, type TestApi } from '../../support/api.ts'
import { until } from '../../support/until.ts'
import { makeReceiver, openDeliveryWorker } from '../../support/webhooks.ts'

const api = await startApi({ COMPANY_REQUESTS: '1', COMPANY_QUEUE: '20' })
/** Another server of the same database, as another process or machine is. */
const other = await startApi({}, { databaseUrl: api.databaseUrl })

const makeEvent = ({ company }: Client): Event => testEvent(company.id, newId(), api.clock.now())
const write = (...events: Event[]) => api.app.db.transaction((tx) => emit(tx, events))
const PAID = 'charge.paid' as const
const publicId = ({ id }: Event) => toPublic('evt', id)

/** Asks for events, and gives their ids. */
async function ask(client: Client, query: string, options = {}): Promise<string[]> {
  const { status, body, text } = await client.get(`/event?${query}`, options)
  assert.equal(status, 200, text)
  return body.data.map(({ id }: { id: string }) => id)
}

const untilWaiting = (count: number, { app }: TestApi = api) =>
  until(`${count} wait`, () => app.feedWaits.waiting() === count)

/** A company with one event, after which nothing was written. */
async function follower(at: TestApi = api) {
  const client = await at.client()
  const first = makeEvent(client)
  await write(first)
  return { client, after: publicId(first) }
}

/** How many times a connection was taken from a pool while something is done. */
async function queriesDuring({ app }: TestApi, act: () => Promise<unknown>): Promise<number> {
  let count = 0
  const note = () => {
    count += 1
  }
  const pools = Object.values(app.db.pools)
  for (const pool of pools) pool.on('acquire', note)
  await act()
  for (const pool of pools) pool.off('acquire', note)
  return count
}

test('answers at once if there are events, and otherwise when the first is there', async () => {
  const { client, after } = await follower()
  assert.deepEqual(await ask(client, 'wait=30'), [after])
  const asked = ask(client, `wait=30&after=${after}`)
  await untilWaiting(1)
  const event = makeEvent(client)
  await write(event)
  assert.deepEqual(await asked, [publicId(event)])
  await untilWaiting(0)
})

test('answers with an empty list when the time is over', async () => {
  const { client, after } = await follower()
  assert.deepEqual(await ask(client, `wait=1&after=${after}`), [])
  assert.deepEqual(await ask(client, `wait=0&after=${after}`), [])
  for (const wait of ['31', '-1', 'long', '1.5']) {
    const { status, body } = await client.get(`/event?wait=${wait}`)
    assert.equal(status, 400)
    assert.match(body.errors[0].description, /^wait: /)
  }
})

test('an event of which nobody was notified is answered when the time is over', async () => {
  const { client, after } = await follower()
  // Until now the feed was looked at because it is newly followed.
  assert.deepEqual(await ask(client, `wait=1&after=${after}`), [])
  const asked = ask(client, `wait=2&after=${after}`)
  await untilWaiting(1)
  await api.rows('delete from followed_feeds where company_id = $1', [client.company.id])
  const event = makeEvent(client)
  await write(event)
  assert.deepEqual(await asked, [publicId(event)])
})

test('a charge that is created ends the wait of its company, and of no other', async () => {
  const [one, two] = [await follower(), await follower()]
  const asked = ask(one.client, `wait=30&after=${one.after}`)
  const stopped = new AbortController()
  const still = fetch(`${api.url}/event?wait=30&after=${two.after}`, {
    headers: { 'X-API-KEY': two.client.key },
    signal: stopped.signal,
  })
  await untilWaiting(2)
  await one.client.post('/charge/pix', { amount: 500, customer: payer() })
  assert.ok((await asked).length > 0)
  await untilWaiting(1)
  stopped.abort()
  await assert.rejects(still)
  await untilWaiting(0)
})

test('only an event of the wanted type ends the wait', async () => {
  const { client, after } = await follower()
  const asked = ask(client, `wait=30&type=webhook.test&after=${after}`)
  await untilWaiting(1)
  const any = ask(client, `wait=30&after=${after}`)
  await untilWaiting(2)
  await client.post('/charge/pix', { amount: 500, customer: payer() })
  assert.ok((await any).length > 0)
  assert.equal(api.app.feedWaits.waiting(), 1)
  const event = makeEvent(client)
  await write(event)
  assert.deepEqual(await asked, [publicId(event)])
})

test('an event ends the wait although an older transaction is still open', async () => {
  const { client, after } = await follower()
  const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const older = api.app.db.transaction(async (tx) => {
    await tx.query({ text: 'select pg_current_xact_id()' })
    await emit(tx, [makeEvent(client)])
    begun.resolve()
    await released.promise
  })
  await begun.promise
  const asked = ask(client, `wait=30&after=${after}`)
  await untilWaiting(1)
  const event = makeEvent(client)
  await write(event)
  assert.deepEqual(await asked, [publicId(event)])
  const next = ask(client, `wait=30&after=${publicId(event)}`)
  await untilWaiting(1)
  released.resolve()
  await older
  assert.equal((await next).length, 1)
})

test('an event that another server writes ends the wait', async () => {
  const { client, after } = await follower()
  const asked = ask(client, `wait=30&after=${after}`)
  await untilWaiting(1)
  const event = makeEvent(client)
  await other.app.db.transaction((tx) => emit(tx, [event]))
  assert.deepEqual(await asked, [publicId(event)])
})

test('who waits keeps no other request of its company from being worked on', async () => {
  const { client, after } = await follower()
  const asked = ask(client, `wait=30&after=${after}`)
  await untilWaiting(1)
  // One request of a company is worked on at a time.
  assert.equal((await client.get('/company')).status, 200)
  const event = makeEvent(client)
  await write(event)
  assert.deepEqual(await asked, [publicId(event)])
})

test('many who wait cost no query while nothing happens, and one look when something does', async () => {
  const groups = await Promise.all(Array.from({ length: 5 }, () => follower(other)))
  const asked = groups.map(({ client, after }) =>
    Array.from({ length: 40 }, () => ask(client, `wait=30&after=${after}`)),
  )
  await untilWaiting(200, other)
  // A new feed is looked at a few times more, because of transactions that began before.
  const { promise: isQuiet, resolve } = Promise.withResolvers<void>()
  setTimeout(resolve, 1_500)
  await isQuiet
  const idle = await queriesDuring(other, () => ask(groups[0]!.client, 'wait=0&limit=1'))
  assert.ok(idle <= 4, `${idle} queries, of which two are of the request that is no wait`)
  const { client } = groups[0]!
  const event = makeEvent(client)
  const woken = await queriesDuring(other, async () => {
    await write(event)
    for (const ids of await Promise.all(asked[0]!)) assert.deepEqual(ids, [publicId(event)])
  })
  assert.ok(woken <= 60, `${woken} queries for 40 that wait for the same`)
  assert.equal(other.app.feedWaits.waiting(), 160)
  await write(...groups.slice(1).map((group) => makeEvent(group.client)))
  await Promise.all(asked.flat())
  await untilWaiting(0, other)
})

test('a company has 100 seats, and one is free again when its client leaves', async () => {
  const { client, after } = await follower(other)
  const stopped = new AbortController()
  const path = `${other.url}/event?wait=30&after=${after}`
  const headers = { 'X-API-KEY': client.key }
  const one = fetch(path, { headers, signal: stopped.signal })
  const rest = Array.from({ length: 99 }, () => ask(client, `wait=30&after=${after}`))
  await untilWaiting(100, other)
  const refused = await client.get(`/event?wait=30&after=${after}`)
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '5'])
  assert.equal((await client.get(`/event?after=${after}`)).status, 200)
  stopped.abort()
  await assert.rejects(one)
  await untilWaiting(99, other)
  const again = ask(client, `wait=30&after=${after}`)
  await untilWaiting(100, other)
  await write(makeEvent(client))
  await Promise.all([...rest, again])
})

test('events are seen although the connection that receives notifications was lost', async () => {
  const { client, after } = await follower()
  const asked = ask(client, `wait=30&after=${after}`)
  await untilWaiting(1)
  // A failover may lose what was written last.
  await api.rows('delete from followed_feeds where company_id = $1', [client.company.id])
  const gone = 'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1'
  await api.rows(`${gone} and datname = current_database()`, [LISTENER])
  const noted = 'select 1 from followed_feeds where company_id = $1'
  await until('it is followed again', async () => {
    return (await api.rows(noted, [client.company.id])).length === 1
  })
  const event = makeEvent(client)
  await write(event)
  assert.deepEqual(await asked, [publicId(event)])
})

test('who follows by waiting gets every event once, in the order of the feed', async () => {
  const { client, after } = await follower()
  const got: string[] = []
  const writers = Array.from({ length: 4 }, async () => {
    for (let i = 0; i < 10; i += 1) {
      await api.app.db.transaction(async (tx) => {
        await emit(tx, [makeEvent(client)])
        // The later it commits, the more events wait for it.
        if (i % 3 === 0) await write(makeEvent(client))
      })
    }
  })
  const follow = async () => {
    while (got.length < 4 * 14)
      got.push(...(await ask(client, `wait=30&limit=7&after=${got.at(-1) ?? after}`)))
  }
  // If a writer fails, there is no end to wait for.
  await Promise.all([follow(), ...writers])
  assert.deepEqual([after, ...got], await ask(client, 'limit=1000'))
})

test('events that are redelivered or replayed are shown again to those who ask for it', async () => {
  const { client, after } = await follower()
  const { receiver, webhook } = await makeReceiver(client)
  const events = Array.from({ length: 3 }, () => ({ ...makeEvent(client), type: PAID }))
  for (const event of events) await write(event)
  const ids = events.map(publicId)
  await openDeliveryWorker(api).run()
  assert.equal(receiver.received.length, 3)
  const list = async (query: string) => (await client.get(`/event?${query}`)).body.data
  const again = (cursor: string) => list(`wait=30&include=redeliveries&after=${cursor}`)

  const asked = again(ids[2]!)
  await untilWaiting(1)
  const delivery = (await client.get(`/webhook/${webhook.id}/deliveries`)).body.data[1]
  assert.equal((await client.post(`/webhook/delivery/${delivery.id}/redeliver`)).status, 200)
  const [entry, ...others] = await asked
  assert.deepEqual([others, entry.id, entry.type], [[], ids[1], PAID])
  const { id: cursor, ...more } = entry.redelivery
  assert.deepEqual(more, { webhookId: webhook.id, requestedAt: api.clock.now().toISOString() })
  await openDeliveryWorker(api).run()
  assert.equal(receiver.received.length, 4)

  const next = again(cursor)
  await untilWaiting(1)
  const replay = await client.post(`/webhook/${webhook.id}/replay`, { status: 'ALL' })
  assert.equal(replay.body.data.replayed, 3)
  const replayed: { id: string; redelivery: { id: string } }[] = await next
  assert.deepEqual(
    replayed.map(({ id }) => id),
    ids,
  )
  const rest = await list(`include=redeliveries&after=${replayed[0]!.redelivery.id}`)
  assert.deepEqual(rest, replayed.slice(1), 'it continues after each of them')
  assert.deepEqual(await ask(client, `after=${after}`), ids, 'others get every event once')
  const paged = await client.get('/event?limit=5&include=redeliveries')
  assert.match(paged.headers.get('link') ?? '', /after=rdl_\d+_\w{26}/)
  for (const wrong of ['rdl_1', 'rdl_1_x', `rdl_1_${'!'.repeat(26)}`])
    assert.equal((await client.get(`/event?after=${wrong}`)).status, 400)
})

test('a replay shows 10,000 events again, for a week', async () => {
  const { client } = await follower()
  const { webhook } = await makeReceiver(client)
  const companyId = client.company.id
  await api.rows(
    `with event as (
       insert into events (company_id, id, type, payload, created_at, mode, position)
       select $1, gen_random_uuid(), 'charge.paid', '{}', now(), 'sandbox', 1
       from generate_series(1, 10001) returning id
     )
     insert into delivery_log
       (company_id, webhook_id, event_id, status, attempts, created_at, finished_at)
     select $1, $2, id, 'FAILED', '[]', now(), now() from event`,
    [companyId, webhook.id],
  )
  await api.app.feedWaits.take(companyId).then((seat) => seat.leave())
  const replay = await client.post(`/webhook/${webhook.id}/replay`, { status: 'ALL' })
  assert.equal(replay.body.data.replayed, 10_001)
  const count = async (table: string) => {
    const text = `select count(*) from ${table} where company_id = $1`
    return (await api.rows<{ count: number }>(text, [companyId]))[0]!.count
  }
  assert.deepEqual([await count('redeliveries'), await count('followed_feeds')], [10_000, 1])
  await removeOld(api.app)
  assert.deepEqual([await count('redeliveries'), await count('followed_feeds')], [10_000, 1])
  const older = "set written_at = now() - interval '7 days 1 s' where company_id = $1"
  await api.rows(`update redeliveries ${older}`, [companyId])
  await api.rows('update followed_feeds set until = now() where company_id = $1', [companyId])
  await removeOld(api.app)
  assert.deepEqual([await count('redeliveries'), await count('followed_feeds')], [0, 0])
})

test('a server that stops answers those who wait at once', async () => {
  const third = await startApi({}, { databaseUrl: api.databaseUrl })
  const { client, after } = await follower(third)
  const asked = ask(client, `wait=30&after=${after}`)
  await untilWaiting(1, third)
  const start_ms = performance.now()
  const closed = third.service.close()
  assert.deepEqual(await asked, [])
  await closed
  assert.ok(performance.now() - start_ms < 25_000)
})

test('an event that is written between the read and the wait ends the wait', async () => {
  const [{ client }, { client: barrier }] = [await follower(), await follower()]
  const { db, limits, log } = api.app
  const looks: unknown[] = []
  const light: typeof db.light = {
    ...db.light,
    query: (query) => {
      if (query.name === 'look_at_feeds') looks.push(query.values?.[0])
      return db.light.query(query)
    },
  }
  // No look but those that an event brings about.
  const waits = createFeedWaits({ ...db, light }, limits, log, [])
  let receive = (_: string | null) => {}
  waits.attach({
    on: (_, own) => {
      receive = own
    },
    notify() {},
    alive: () => true,
    close: async () => {},
  })
  const [seat, other] = [await waits.take(client.company.id), await waits.take(barrier.company.id)]
  const { signal: closed } = new AbortController()
  const wanted = { type: null, redeliveries: false, closed }
  const next = (from: number, at = seat) =>
    at.next({ ...wanted, from, deadline_ms: performance.now() + 60_000 })
  const writeOne = async (one: Client) => {
    await write(makeEvent(one))
    receive(one.company.id)
  }
  const looksAt = (...clients: Client[]) => clients.map(({ company }) => uuids([company.id]))
  // Here the request reads the feed, and finds nothing after the first event.
  await writeOne(client)
  assert.equal(await next(2), 'there')
  assert.deepEqual(looks, looksAt(client), 'the feed is looked at once more')
  const second = next(3)
  await writeOne(barrier)
  assert.equal(await next(2, other), 'there')
  assert.deepEqual(looks, looksAt(client, barrier), 'nothing was written since')
  await writeOne(client)
  assert.equal(await second, 'there')
  assert.deepEqual(looks, looksAt(client, barrier, client))
  seat.leave()
  other.leave()
  waits.close()
})
