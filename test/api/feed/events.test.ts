import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Event, emit, testEvent } from '../../../src/core/events.ts'
import { keepPositions, notePosition, requireSameSecret } from '../../../src/core/installation.ts'
import { newId, toPublic } from '../../../src/lib/ids.ts'
import { type Client, eventsOf, payer, startApi } from '../../support/api.ts'
import { feedCaughtUp } from '../../support/webhooks.ts'

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

/** Writes an event in a transaction that stays open until the test commits it. */
async function hold(event: Event): Promise<() => Promise<void>> {
  const [written, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const done = db.transaction(async (tx) => {
    await emit(tx, [event])
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
  await feedCaughtUp(api)
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
  await feedCaughtUp(api)
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
  await feedCaughtUp(api)
  assert.deepEqual(idsOf(await read(client, `?after=${ids[6]}`)), publicIds([next]))
})

test('the feed can be asked for one type', async () => {
  const client = await api.client()
  await client.post('/charge/pix', { amount: 1990, customer: payer() })
  const event = makeEvent(client)
  await write(event)
  await client.post('/charge/pix', { amount: 700, customer: payer() })
  await feedCaughtUp(api)
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
  await feedCaughtUp(api)
  // Its id is the smaller one: only the order of the transactions can put it behind the other.
  const [fast, slow] = [makeEvent(client), makeEvent(client)]
  const commit = await hold(slow)
  await write(fast)
  const [last] = publicIds([seen])
  assert.deepEqual(
    await read(client, `?after=${last}`),
    [],
    'the faster one waits for the slower one',
  )
  await commit()
  await feedCaughtUp(api)
  assert.deepEqual(idsOf(await read(client, `?after=${last}`)), publicIds([slow, fast]))
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
  await feedCaughtUp(api)
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
  await feedCaughtUp(api)
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

test('positions go on growing in a database that was restored into a new cluster', async () => {
  await requireSameSecret(db, api.app.vault)
  const client = await api.client()
  const [before, after] = [makeEvent(client), makeEvent(client)]
  await write(before)
  await notePosition(db)
  await keepPositions(db)
  const offset = async () =>
    (await api.rows<{ position_offset: number }>('select position_offset from installation'))[0]!
      .position_offset
  assert.equal(await offset(), 0, 'nothing is done in the same cluster')
  // As if the numbers had been that high in the cluster where the dump was made.
  const high = 4_000_000_000_000
  await api.rows('update events set position = $2 where company_id = $1', [client.company.id, high])
  await api.rows('update installation set last_position = $1', [high])
  await keepPositions(db)
  assert.equal(await offset(), high + 1_000_000_000)
  await keepPositions(db)
  assert.equal(await offset(), high + 1_000_000_000, 'once is enough')
  await write(after)
  await feedCaughtUp(api)
  assert.deepEqual(idsOf(await read(client)), publicIds([before, after]))
  await notePosition(db)
  const [noted] = await api.rows<{ last_position: number }>(
    'select last_position from installation',
  )
  assert.ok(noted!.last_position > high + 1_000_000_000)
})
