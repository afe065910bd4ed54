import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { readConfig } from '../../src/config.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/lib/log.ts'
import { createReadiness } from '../../src/readiness.ts'
import { createApp } from '../../src/service.ts'
import { createExpiringAtBanks, expireDueCharges } from '../../src/worker/charges.ts'
import { payer, startApi } from '../support/api.ts'
import { secretOf, temporaryFolder } from '../support/process.ts'

const newCharge = () => ({ amount: 1000, customer: payer() })

test('a read-only database makes the server not ready, and clients are told 503', async () => {
  const api = await startApi()
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
  const api = await startApi()
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

test('with a frozen database the question for readiness is answered within two seconds', async () => {
  const dataDir = join(temporaryFolder(), 'data')
  const settings = { fsync: 'off', shared_buffers: '16MB' }
  const database = await startEmbedded({ dataDir, settings })
  let frozen: number[] = []
  const signal = (name: NodeJS.Signals) => {
    for (const pid of frozen) process.kill(pid, name)
  }
  after(async () => {
    await readiness.close()
    await app.db.end()
    await database.stop()
  })
  await migrate(database.url)
  const config = readConfig({ DATABASE_URL: database.url, SECRET_KEY: secretOf('frozen') })
  const [log, publicUrl] = [createLog('silent'), 'http://vintem.test']
  const app = createApp({
    config,
    databaseUrl: database.url,
    clock: systemClock,
    log,
    publicUrl,
  })
  const readiness = createReadiness(app, database.url, () => false)
  assert.deepEqual(await readiness.check(), { faults: [], warnings: [] })
  frozen = await processesOf(database.url, dataDir)
  signal('SIGSTOP')
  try {
    const silent = { faults: ['The database does not answer.'], warnings: [] }
    // The first finds a connection that was open, the second none.
    for (let n = 0; n < 2; n += 1) {
      // On a busy machine both timers are late, and their order stays.
      const late = pause(2_000, 'no answer within two seconds')
      const check = Promise.all([readiness.check(), readiness.check()])
      assert.deepEqual(await Promise.race([check, late]), [silent, silent])
    }
  } finally {
    signal('SIGCONT')
  }
  assert.deepEqual((await readiness.check()).faults, [])
})

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
  await expireDueCharges(api.app)
  await createExpiringAtBanks(api.app).run()
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
  await expireDueCharges(api.app)
  assert.equal((await client.get(`/charge/${data.id}`)).body.data.status, 'OPEN')
  api.clock.advance(86_400)
  await expireDueCharges(api.app)
  assert.equal(await statusIn(), 'EXPIRED')
})
