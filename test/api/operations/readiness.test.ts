import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { startEmbedded } from '../../../src/db/embedded/embedded.ts'
import { migrate } from '../../../src/db/migrate.ts'
import { expireChargesAtBanks, expireDueCharges } from '../../../src/worker/due.ts'
import { payer, type Reply, startApi, type TestApi } from '../../support/api.ts'
import { temporaryFolder } from '../../support/process.ts'

/** With several places a fault of one is a warning: see test/places/place-down.test.ts. */
const ALONE = { places: 1 } as const

const newCharge = () => ({ amount: 1000, customer: payer() })

test('a read-only database makes the server not ready, and clients are answered 503', async () => {
  const api = await startApi({}, ALONE)
  const client = await api.client()
  const name = new URL(api.databaseUrl).pathname.slice(1)
  const admin = new pg.Client({ connectionString: api.databaseUrl })
  await admin.connect()
  const set = async (value: 'on' | 'off') => {
    await admin.query(`alter database ${name} set default_transaction_read_only = ${value}`)
    await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    )
  }
  await set('on')
  const { status, body } = await api.operator('/ready')
  assert.deepEqual([status, body.status], [503, 'not ready'])
  assert.deepEqual(body.faults, ['The database is read-only: nothing can be written.'])
  assert.equal((await api.call('GET', '/ready')).status, 503)
  for (const [method, path, json] of [
    ['POST', '/charge/pix', newCharge()],
    ['POST', '/client', { ...payer(), status: 'ACTIVE' }],
    ['POST', '/product', { name: 'Café', description: 'x', price: 100, type: 'ONE_TIME' }],
  ] as const) {
    const reply = await client.call(method, path, { json })
    assert.deepEqual(
      [path, reply.status, reply.body.errors[0].code],
      [path, 503, 'service_unavailable'],
    )
  }
  assert.equal((await client.get('/company')).status, 200, 'reading goes on')
  // Even a session of the database's owner is read-only until it says otherwise.
  await admin.query('set default_transaction_read_only = off')
  await set('off')
  await admin.end()
  assert.equal((await client.post('/charge/pix', newCharge())).status, 201)
})

test('a full disk shows as soon as one write fails of it', async () => {
  const api = await startApi({}, ALONE)
  const client = await api.client()
  await api.rows(`create function is_full() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file' using errcode = '53100'; end $$`)
  await api.rows(
    'create trigger full_disk before insert on charges for each row execute function is_full()',
  )
  assert.equal((await api.operator('/ready')).status, 200)
  const reply = await client.post('/charge/pix', newCharge())
  assert.deepEqual([reply.status, reply.body.errors[0].code], [503, 'service_unavailable'])
  const { status, body } = await api.operator('/ready')
  assert.equal(status, 503)
  assert.deepEqual(body.faults, ['The disk of the database is full: nothing can be written.'])
})

test('a server is ready while a newer version adds to its database, and not when it takes away', async () => {
  const api = await startApi({}, ALONE)
  const client = await api.client()
  await api.rows(
    `insert into schema_migrations (version, name, checksum) values (9999, '9999_later.sql', 'x')`,
  )
  assert.equal((await api.operator('/ready')).status, 200)
  await api.rows('update schema_migrations set needs = 9998 where version = 9999')
  const { status, body } = await api.operator('/ready')
  assert.deepEqual([status, body.status], [503, 'not ready'])
  assert.deepEqual(body.faults, [
    'The database is newer than this version of Vintém (it has migration 9999_later.sql). Start the newer version here too.',
  ])
  assert.equal((await api.call('GET', '/ready')).status, 503)
  assert.equal((await client.post('/charge/pix', newCharge())).status, 201)
  await api.rows('delete from schema_migrations where version = 9999')
  assert.equal((await api.operator('/ready')).status, 200)
})

/** All processes of a PostgreSQL, the one that starts the others first. */
async function processesOf(url: string, dataDir: string): Promise<number[]> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query(
    'select pid from pg_stat_activity where pid <> pg_backend_pid()',
  )
  await client.end()
  const [postmaster] = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')
  return [Number(postmaster), ...rows.map(({ pid }) => pid as number)]
}

test('with a frozen database readiness is answered in two seconds, and requests are refused', async () => {
  const dataDir = join(temporaryFolder(), 'data')
  const settings = { fsync: 'off', shared_buffers: '16MB' }
  const database = await startEmbedded({ dataDir, settings })
  await migrate(database.url)
  const api = await startApi({}, { databaseUrl: database.url, ...ALONE })
  after(() => database.stop())
  const client = await api.client()
  const link = await client.post('/charge/payment-link', { total: 1000, customer: payer() })
  const page = new URL(link.body.data.url).pathname
  const once = { headers: { 'Idempotency-Key': 'once' } }
  const post = () => client.post('/charge/pix', newCharge(), once)
  const ask = () => [client.get('/account-balance'), post(), api.call('GET', page)]
  assert.equal((await api.operator('/ready')).status, 200)
  const frozen = await processesOf(database.url, dataDir)
  const signal = (name: NodeJS.Signals) => {
    for (const pid of frozen) process.kill(pid, name)
  }
  signal('SIGSTOP')
  try {
    const waiting = ask()
    await assertUnready(api)
    // Less than the time after which a single statement is given up. In the tests of
    // src/db/heartbeat.ts the time is its own, and ten seconds are enough.
    await assertRefused(waiting, 30_000)
    await assertRefused(ask(), 10_000)
    assert.equal((await api.call('GET', '/health')).status, 200)
  } finally {
    signal('SIGCONT')
  }
  let made = await post()
  while (made.status !== 201) {
    await pause(50)
    made = await post()
  }
  assert.deepEqual((await api.operator('/ready')).body.faults, [])
  const { body } = await client.get('/charge?kind=PIX')
  assert.deepEqual(
    body.data.map(({ id }: { id: string }) => id),
    [made.body.data.id],
    'what was refused while it waited is done once at most',
  )
})

async function assertUnready(api: TestApi): Promise<void> {
  const faults = ['The database does not answer.']
  // The first finds a connection that was open, the second none.
  for (let n = 0; n < 2; n += 1) {
    // On a busy machine both timers are late, and their order stays.
    const late = pause(2_000, 'no answer within two seconds')
    const both = Promise.all([api.operator('/ready'), api.operator('/ready')])
    const found = await Promise.race([both, late])
    assert.ok(typeof found !== 'string', `${found}`)
    assert.deepEqual(
      found.map(({ status, body }) => [status, body.faults]),
      [
        [503, faults],
        [503, faults],
      ],
    )
  }
}

async function assertRefused(asking: Promise<Reply>[], within_ms: number): Promise<void> {
  const late = pause(within_ms, null, { ref: false })
  const replies = await Promise.race([Promise.all(asking), late])
  assert.ok(replies, `not answered within ${within_ms} ms`)
  for (const { status, headers } of replies) {
    assert.equal(status, 503)
    assert.match(headers.get('retry-after') ?? '', /^\d+$/)
  }
}

test('charges do not expire while the clock of the machine is not that of the database', async () => {
  const shift = { ms: 0 }
  const api = await startApi(
    {},
    {
      databaseTime: async () => new Date(api.clock.now().getTime() - shift.ms),
    },
  )
  const client = await api.client()
  const { data } = (await client.post('/charge/pix', { ...newCharge(), expiresIn: 900 })).body
  const statusIn = async () =>
    (await api.rows('select status from charges where id is not null'))[0]!.status
  // The machine's clock jumps by a day; the database's stays.
  shift.ms = 86_400_000
  api.clock.advance(86_400)
  await expireDueCharges.run(api.app)
  await expireChargesAtBanks.run(api.app)
  assert.equal(await statusIn(), 'OPEN')
  const { body } = await api.operator('/ready')
  assert.equal(body.status, 'degraded')
  assert.match(body.warnings[0], /clocks of this machine and of the database differ/)
  const { text } = await api.operator('/metrics')
  const [, ahead_s] = /^vintem_clock_ahead_seconds (.*)$/m.exec(text)!
  assert.equal(Math.round(Number(ahead_s)), 86_400)
  // It is set right, and the charge can be paid.
  api.clock.advance(-86_400)
  shift.ms = 0
  await expireDueCharges.run(api.app)
  assert.equal((await client.get(`/charge/${data.id}`)).body.data.status, 'OPEN')
  api.clock.advance(86_400)
  await expireDueCharges.run(api.app)
  assert.equal(await statusIn(), 'EXPIRED')
})
