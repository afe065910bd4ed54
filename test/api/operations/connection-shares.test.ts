import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { type Client, payer, startApi } from '../../support/api.ts'
import { CLOCK } from '../../support/clocks.ts'
import { until } from '../../support/until.ts'

const SIZE = 10
const AT_ONCE = 64
/** Each move is followed by a rest. */
const MOVES = 12
const api = await startApi({ DATABASE_POOL_SIZE: String(SIZE) })

/** A connection of somebody else, which holds a lock until it lets go. */
async function holding(
  t: TestContext,
  text: string,
  values: unknown[],
): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: api.databaseUrl })
  await client.connect()
  t.after(() => client.end())
  await client.query('begin')
  await client.query(text, values)
  return async () => {
    await client.query('commit')
  }
}

/** How many connections wait for a lock in the database. */
async function countWaiting(): Promise<number> {
  const [row] = await api.rows<{ waiting: number }>(
    `select count(*)::int as waiting from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return row!.waiting
}

/** A neighbour is served as if it were alone. */
async function assertServed(neighbour: Client): Promise<void> {
  const made = await neighbour.post('/client', { ...payer(), status: 'ACTIVE' })
  const [read, listed] = await Promise.all([
    neighbour.get('/account-balance'),
    neighbour.get('/charge'),
  ])
  assert.deepEqual([made.status, read.status, listed.status], [201, 200, 200])
}

test('requests of a company that wait for a lock leave connections to others and to tasks', async (t) => {
  const [attacker, neighbour] = [await api.client(), await api.client()]
  const { id } = attacker.company
  const letGo = await holding(t, 'select from companies where id = $1 for update', [id])
  const all = Array.from({ length: AT_ONCE }, () =>
    attacker.put('/company', { name: 'Loja de teste' }),
  )
  await until(
    'waiting requests',
    async () => (await countWaiting()) > 1 && api.app.db.waiting().requests > 0,
  )
  await assertServed(neighbour)
  await api.app.db.tasks.transaction((tx) => tx.query({ text: 'select 1' }))
  assert.ok((await countWaiting()) <= SIZE / 2, 'it has half of the connections at most')
  await letGo()
  const statuses = new Set((await Promise.all(all)).map(({ status }) => status))
  assert.ok(![...statuses].some((status) => status >= 500 && status !== 503), `${[...statuses]}`)
})

test('a company that moves its clock many times at once takes one connection', async (t) => {
  const [attacker, neighbour] = [await api.client(), await api.client()]
  const { id } = attacker.company
  await attacker.post(CLOCK, { advance: 1 })
  const letGo = await holding(t, 'select from test_clocks where company_id = $1 for update', [id])
  const all = Array.from({ length: MOVES }, () => attacker.post(CLOCK, { advance: 60 }))
  await until(
    'waiting requests',
    async () => (await countWaiting()) === 1 && api.app.clockMoves.waiting() > 1,
  )
  await assertServed(neighbour)
  const moved = await neighbour.post(CLOCK, { advance: 60 })
  assert.equal(moved.status, 200, 'a neighbour moves its own clock meanwhile')
  assert.equal(await countWaiting(), 1)
  await letGo()
  const statuses = (await Promise.all(all)).map(({ status }) => status)
  assert.ok(statuses.includes(200))
  assert.deepEqual(
    statuses.filter((status) => ![200, 409, 429, 503].includes(status)),
    [],
  )
})

test('requests that hold every connection keep no task waiting', async () => {
  const { db } = api.app
  const { promise: over, resolve: end } = Promise.withResolvers<void>()
  const held = Array.from({ length: SIZE }, () => db.transaction(() => over))
  await until('open connections', () => db.pools.requests.totalCount === SIZE)
  assert.deepEqual(await db.tasks.query({ text: 'select 1 as one' }), [{ one: 1 }])
  const next = db.query({ text: 'select 1 as one' })
  assert.equal(db.waiting().requests, 1)
  end()
  await Promise.all(held)
  assert.deepEqual(await next, [{ one: 1 }])
})

test('what strangers ask for keeps no key from being looked up', async () => {
  const company = await api.client()
  const strangers = api.app.db.of('')
  const { promise: over, resolve: end } = Promise.withResolvers<void>()
  const held = Array.from({ length: SIZE / 2 }, () => strangers.transaction(() => over))
  const waiting = strangers.query({ text: 'select 1' })
  const count = api.app.db.waiting().requests
  const { status } = await company.get('/company')
  end()
  await Promise.all([...held, waiting])
  assert.ok(count > 0, 'strangers have all that they may')
  assert.equal(status, 200)
})
