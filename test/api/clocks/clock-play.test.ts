import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { createApp } from '../../../src/app.ts'
import { EXPIRING, RELEASING } from '../../../src/core/charges/store.ts'
import { dueOf } from '../../../src/core/clocks/commands.ts'
import { CHANGES, CONFIRMATIONS, LISTENER, QUESTION } from '../../../src/core/companies/announce.ts'
import { findDue } from '../../../src/core/due.ts'
import type { DueTask, FullApp } from '../../../src/core/full-app.ts'
import { createTx, type Tx } from '../../../src/db/database.ts'
import { createLog } from '../../../src/lib/log.ts'
import { advanceTestClocks } from '../../../src/worker/clocks.ts'
import { expireDueCharges } from '../../../src/worker/due.ts'
import { type Client, startApi } from '../../support/api.ts'
import { after, CLOCK } from '../../support/clocks.ts'
import { makeCharge } from '../../support/payments.ts'

// Moves are begun here, and played only when a test says so.
const api = await startApi({ CLOCK_WAIT_SECONDS: '0' })
const { app, clock } = api
const LIVES_S = [10, 20, 30, 40, 50]

/** A company with charges that expire one after the other, on its way past the last of them. */
async function advancing(): Promise<{ client: Client; start: Date }> {
  const client = await api.client()
  const start = clock.now()
  for (const expiresIn of LIVES_S) await makeCharge(client, 700, { expiresIn })
  const { status, body, text } = await client.post(CLOCK, { advance: 60 })
  assert.equal(status, 200, text)
  assert.deepEqual(body.data, {
    now: start.toISOString(),
    target: after(start, 60),
    status: 'ADVANCING',
    running: [],
  })
  return { client, start }
}

/** When its charges were written to be expired. */
async function expiriesOf({ company }: Client): Promise<string[]> {
  const rows = await api.rows<{ created_at: Date }>(
    `select created_at from events where company_id = $1 and type = 'charge.expired' order by id`,
    [company.id],
  )
  return rows.map(({ created_at }) => created_at.toISOString())
}

const all = (start: Date) => LIVES_S.map((seconds) => after(start, seconds))
const clockOf = async (client: Client) => (await client.get(CLOCK)).body.data

/** To the database this is another worker. */
function anotherApp(): FullApp {
  const { config, publicUrl } = app
  const { databaseUrl } = api
  const other = createApp({ config, databaseUrl, clock, log: createLog('silent'), publicUrl })
  api.atEnd(() => other.db.end())
  return other
}

/** The app with an eye on all that is run. */
const watching = (
  watched: FullApp,
  around: (run: () => Promise<void>) => Promise<void>,
): FullApp => ({
  ...watched,
  due: watched.due.map(
    (source): DueTask => ({
      ...source,
      run: (...asked) => around(() => source.run(...asked)),
    }),
  ),
})

test('a move that is interrupted continues where it was, and does nothing twice', async () => {
  const { client, start } = await advancing()
  const stop = new AbortController()
  let runs = 0
  const interrupted = watching(app, async (run) => {
    await run()
    runs += 1
    if (runs === 2) stop.abort()
  })
  await advanceTestClocks(interrupted, stop.signal)
  assert.deepEqual(await expiriesOf(client), all(start).slice(0, 2))
  assert.deepEqual(await clockOf(client), {
    now: after(start, 20),
    target: after(start, 60),
    status: 'ADVANCING',
    running: [],
  })
  await advanceTestClocks(app)
  assert.deepEqual(await expiriesOf(client), all(start))
  const { now, status } = await clockOf(client)
  assert.deepEqual([now, status], [after(start, 60), 'READY'])
})

test('if a worker dies during a move, another continues at once', async () => {
  const { client, start } = await advancing()
  const dying = anotherApp()
  const reached = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const stuck = watching(dying, async () => {
    reached.resolve()
    await released.promise
  })
  const death = advanceTestClocks(stuck)
  await reached.promise
  await advanceTestClocks(app)
  assert.equal((await clockOf(client)).status, 'ADVANCING', 'while it lives nobody else plays')
  await api.rows(
    `select pg_terminate_backend(pid, 10000) from pg_locks
     where locktype = 'advisory' and classid = ${0x76696e76}
       and database = (select oid from pg_database where datname = current_database())`,
  )
  await advanceTestClocks(app)
  assert.deepEqual(await expiriesOf(client), all(start))
  assert.equal((await clockOf(client)).status, 'READY')
  released.resolve()
  await death
  assert.equal((await clockOf(client)).now, after(start, 60))
})

test('two workers never advance the same clock at once, and advance several clocks together', async () => {
  const companies = [await advancing(), await advancing(), await advancing()]
  const [most, running] = [new Map<string, number>(), new Map<string, number>()]
  const counted = (watched: FullApp): FullApp => ({
    ...watched,
    due: watched.due.map(
      (source): DueTask => ({
        ...source,
        async run(own, signal, only) {
          const id = only!
          const now = (running.get(id) ?? 0) + 1
          running.set(id, now)
          most.set(id, Math.max(most.get(id) ?? 0, now))
          await source.run(own, signal, only)
          running.set(id, running.get(id)! - 1)
        },
      }),
    ),
  })
  const workers = [counted(app), counted(anotherApp()), counted(anotherApp())]
  await Promise.all(workers.map((worker) => advanceTestClocks(worker)))
  for (const { client, start } of companies) {
    assert.deepEqual(await expiriesOf(client), all(start))
    assert.equal((await clockOf(client)).status, 'READY')
    assert.equal(most.get(client.company.id), 1)
  }
})

test('while a clock advances, sweeps over all companies skip its company', async () => {
  const { client, start } = await advancing()
  clock.advance(15)
  await expireDueCharges.run(app)
  assert.deepEqual(await expiriesOf(client), [])
  await advanceTestClocks(app)
  assert.deepEqual(
    await expiriesOf(client),
    [after(start, 15), ...all(start).slice(1)],
    'what was due before the play began is done first',
  )
  assert.equal((await clockOf(client)).now, after(start, 60))
})

test('a move is answered when all servers know of it', async () => {
  const client = await api.client()
  // To the others this is a server that is slow to answer.
  const server = new pg.Client({
    connectionString: api.databaseUrl,
    application_name: LISTENER,
  })
  await server.connect()
  api.atEnd(() => server.end())
  await server.query(`listen ${CHANGES}`)
  const received: string[] = []
  server.on('notification', async ({ payload = '' }) => {
    received.push(payload)
    const [, question] = payload.split(QUESTION)
    if (question === undefined) return
    await server.query('select pg_sleep(0.05)')
    received.push('answered')
    await server.query('select pg_notify($1, $2)', [CONFIRMATIONS, question])
  })
  const { status } = await client.post(CLOCK, { advance: 60 })
  assert.equal(status, 200)
  assert.deepEqual([received[0], received.at(-1)], [client.company.id, 'answered'])
})

test('a second move has to wait for the first', async () => {
  const { client, start } = await advancing()
  const reply = await client.post(CLOCK, { advance: 60 })
  assert.deepEqual([reply.status, reply.body.errors[0].code], [409, 'clock_advancing'])
  assert.match(reply.body.errors[0].description, new RegExp(after(start, 60)))
  await advanceTestClocks(app)
  assert.equal((await client.post(CLOCK, { advance: 60 })).body.data.now, after(start, 120))
})

test('work that fails is tried again, and time does not go past it', async () => {
  const { client, start } = await advancing()
  let failures = 0
  const failing: FullApp = {
    ...app,
    due: app.due.map(
      (source): DueTask => ({
        ...source,
        async run(...asked) {
          failures += 1
          if (failures <= 3) throw new Error('out of order')
          await source.run(...asked)
        },
      }),
    ),
  }
  await advanceTestClocks(failing)
  assert.ok(failures > 3)
  assert.deepEqual(await expiriesOf(client), all(start))
})

/** Explains statements instead of executing them. */
function explaining(plans: string[]): Tx {
  return createTx({
    wake: () => {},
    notify: () => {},
    async query({ text, values = [] }) {
      const rows = await app.db.light.query({ text: `explain ${text}`, values })
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
      return []
    },
  })
}

test('what is due for one company is found among its own charges, however many others have', async () => {
  const [{ company: large }, { company: small }] = [await api.client(), await api.client()]
  await api.rows(
    `insert into charges (company_id, id, kind, amount, status, payment_status, dev_mode, br_code,
       created_at, expires_at, end_to_end_id, payment_date, settles_at)
     select case when n > 10 then $1 else $2 end::uuid, gen_random_uuid(), 'PIX', 500,
       case when paid then 'COMPLETED' else 'OPEN' end,
       case when paid then 'PAID' else 'PROCESSING' end, false, 'code', now(),
       now() + interval '1 day', case when paid then 'E' || n end,
       case when paid then now() end, case when paid then now() + interval '1 day' end
     from (select n, n % 2 = 0 as paid from generate_series(1, 20000) n) n`,
    [large.id, small.id],
  )
  await api.rows('analyze charges')
  const plans: string[] = []
  const tx = explaining(plans)
  for (const kind of [EXPIRING, RELEASING]) {
    await findDue(tx, kind, { now: clock.now(), max: 1000, only: small.id, except: [] })
  }
  await assert.rejects(dueOf({ ...app, db: { ...app.db, light: tx } }, small.id, clock.now()))
  assert.equal(plans.length, 3)
  assert.match(plans[2]!, /charges_state.*charges_settling/s)
  for (const plan of plans) {
    assert.match(plan, /charges_(state|settling)/)
    assert.doesNotMatch(plan, /charges_(due|unsettled)|Seq Scan on charges/, plan)
  }
})
