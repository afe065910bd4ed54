import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Event, emit, testEvent } from '../../../src/core/events.ts'
import { newId, toPublic } from '../../../src/lib/ids.ts'
import { type Client, eventsOf, payer, startApi } from '../../support/api.ts'
import { until } from '../../support/until.ts'

const api = await startApi()
const { db } = api.app

type Entry = { id: string; type: string; createdAt: string; data: unknown }

async function read(client: Client, query = ''): Promise<Entry[]> {
  const { status, body, text } = await client.get(`/event${query}`)
  assert.equal(status, 200, text)
  return body.data
}

const idsOf = (entries: { id: string }[]) => entries.map(({ id }) => id)
const publicIds = (events: Event[]) => events.map(({ id }) => toPublic('evt', id))

const makeEvent = ({ company }: Client): Event => testEvent(company.id, newId(), api.clock.now())

const write = (...events: Event[]) => db.transaction((tx) => emit(tx, events))

/**
 * Writes an event in a transaction that stays open until the test commits it, before or after the
 * event has its position.
 */
async function hold(event: Event, hasPosition = false): Promise<() => Promise<void>> {
  const [written, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const done = db.transaction(async (tx) => {
    await emit(tx, [event])
    if (hasPosition) await tx.flush()
    written.resolve()
    await released.promise
  })
  await written.promise
  return () => {
    released.resolve()
    return done
  }
}

test('the feed shows every event with the body that receivers get, the oldest first', async () => {
  const client = await api.client()
  const made = await client.post('/charge/pix', { amount: 1990, customer: payer(), devMode: true })
  api.clock.advance(1)
  await client.post(`/charge/${made.body.data.id}/simulate-payment`)
  const entries = await read(client)
  const written = await eventsOf(api, client.company.id)
  assert.deepEqual(
    entries.map(({ type, data }) => ({ type, payload: data })),
    written,
  )
  assert.deepEqual(
    entries.map(({ type }) => type),
    ['charge.pending', 'charge.processing', 'charge.paid'],
  )
  const { id } = made.body.data
  assert.deepEqual(entries[2], {
    id: entries[2]!.id,
    type: 'charge.paid',
    createdAt: api.clock.now().toISOString(),
    devMode: true,
    data: { event: 'Charge.Paid', charge: { id, status: 'PAID', total: 1990 } },
  })
  assert.match(entries[2]!.id, /^evt_[0-9a-z]{26}$/)
})

test('a reader that continues from the last event gets each event once, page by page', async () => {
  const client = await api.client()
  const events = Array.from({ length: 7 }, () => makeEvent(client))
  await write(...events)
  const pages: string[][] = []
  for (let path: string | undefined = '/event?limit=3'; path; ) {
    const { body, headers }: Awaited<ReturnType<Client['get']>> = await client.get(path)
    pages.push(idsOf(body.data))
    path = /<http:\/\/vintem\.test([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
  }
  const ids = publicIds(events)
  assert.deepEqual(pages, [ids.slice(0, 3), ids.slice(3, 6), ids.slice(6)])
  assert.deepEqual(await read(client, `?after=${ids[6]}`), [], 'nothing new yet')
  const next = makeEvent(client)
  await write(next)
  assert.deepEqual(idsOf(await read(client, `?after=${ids[6]}`)), publicIds([next]))
})

test('the feed can be asked for one type', async () => {
  const client = await api.client()
  await client.post('/charge/pix', { amount: 1990, customer: payer() })
  const event = makeEvent(client)
  await write(event)
  await client.post('/charge/pix', { amount: 700, customer: payer() })
  assert.deepEqual(idsOf(await read(client, '?type=webhook.test')), publicIds([event]))
  const pending = await read(client, '?type=charge.pending')
  assert.equal(pending.length, 2)
  const rest = await read(client, `?type=charge.pending&after=${publicIds([event])}`)
  assert.deepEqual(rest, pending.slice(1))
  const unknown = await client.get('/event?type=charge.nope')
  assert.equal(unknown.status, 400)
})

test('an event of a transaction that commits late is not missed', async () => {
  const client = await api.client()
  const seen = makeEvent(client)
  await write(seen)
  // Its id is the smaller one: only the order of the transactions can put it behind the other.
  const [fast, slow] = [makeEvent(client), makeEvent(client)]
  const commit = await hold(slow, true)
  const written = write(fast)
  const [last] = publicIds([seen])
  await until('the faster one waits for the slower one', async () => {
    const waiting = await api.rows(
      `select 1 from pg_stat_activity where datname = current_database()
         and wait_event_type = 'Lock' and query like '%into feeds%'`,
    )
    return waiting.length === 1
  })
  assert.deepEqual(await read(client, `?after=${last}`), [])
  await commit()
  await written
  assert.deepEqual(idsOf(await read(client, `?after=${last}`)), publicIds([slow, fast]))
})

test('a transaction that stays open holds up nobody, but for the events it has written', async () => {
  const [client, neighbour] = [await api.client(), await api.client()]
  const [late, early, other] = [makeEvent(client), makeEvent(client), makeEvent(neighbour)]
  const commit = await hold(late)
  await write(early)
  assert.deepEqual(idsOf(await read(client)), publicIds([early]))
  await commit()
  assert.deepEqual(idsOf(await read(client)), publicIds([early, late]))
  const commitOther = await hold(makeEvent(client), true)
  await write(other)
  assert.deepEqual(idsOf(await read(neighbour)), publicIds([other]))
  await commitOther()
})

test('transactions that write events of the same companies never deadlock', async () => {
  const clients = [await api.client(), await api.client(), await api.client()]
  const writers = Array.from({ length: 8 }, async (_, n) => {
    for (let i = 0; i < 10; i += 1) {
      const events = clients.map(makeEvent)
      await db.transaction(async (tx) => {
        for (const event of n % 2 === 0 ? events : events.toReversed()) await emit(tx, [event])
      })
    }
  })
  await Promise.all(writers)
  const [stats] = await api.rows<{ deadlocks: number }>(
    'select deadlocks from pg_stat_database where datname = current_database()',
  )
  assert.equal(stats!.deadlocks, 0)
  for (const client of clients) assert.equal((await read(client, '?limit=1000')).length, 80)
})

test('a transaction that is rolled back does not stop the feed', async () => {
  const client = await api.client()
  const [lost, kept] = [makeEvent(client), makeEvent(client)]
  await assert.rejects(
    db.transaction(async (tx) => {
      await emit(tx, [lost])
      await write(kept)
      throw new Error('changed its mind')
    }),
    /changed its mind/,
  )
  assert.deepEqual(idsOf(await read(client)), publicIds([kept]))
})

test('a reader that polls while many write gets every event once, in the order of the feed', async () => {
  const client = await api.client()
  const got: string[] = []
  const poll = async () => {
    const entries = await read(
      client,
      got.length === 0 ? '?limit=5' : `?limit=5&after=${got.at(-1)}`,
    )
    got.push(...idsOf(entries))
    return entries.length
  }
  let writing = true
  const writers = Array.from({ length: 6 }, async () => {
    for (let i = 0; i < 20; i++) {
      // Every second one stays open while others come and go.
      const commit = await hold(makeEvent(client))
      if (i % 2 === 0) await write(makeEvent(client))
      await commit()
    }
  })
  const polling = (async () => {
    while (writing) await poll()
  })()
  await Promise.all(writers)
  writing = false
  await polling
  while ((await poll()) > 0);
  assert.equal(got.length, 6 * 30)
  assert.equal(new Set(got).size, got.length)
  assert.deepEqual(got, idsOf(await read(client, '?limit=1000')))
})

test('an unknown event, or one of another company, is refused as a start of the feed', async () => {
  const [one, two] = [await api.client(), await api.client()]
  const event = makeEvent(one)
  await write(event)
  const foreign = await two.get(`/event?after=${publicIds([event])}`)
  const unknown = await two.get(`/event?after=${toPublic('evt', newId())}`)
  assert.equal(foreign.status, 400)
  assert.equal(foreign.text, unknown.text)
  assert.match(foreign.body.errors[0].description, /^after: /)
})
