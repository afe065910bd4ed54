import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { waitUntilAppliedAt } from '../../src/core/companies/announce.ts'
import { openDatabase } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { openProbe } from '../../src/db/probe.ts'
import { serversOf } from '../../src/db/servers.ts'
import { vintemIn } from '../support/cli.ts'
import { freePort, secretOf, startServer, temporaryFolder } from '../support/process.ts'
import { at, startReplicas } from '../support/replicas.ts'
import { until } from '../support/until.ts'

// Registered before the end of the servers, and so over before it.
after(() => db.end())
const replicas = await startReplicas()
const SECRET_KEY = secretOf('standby')
const hosts = (...ports: number[]) => {
  const { host } = new URL(replicas.primary().url)
  return replicas.primary().url.replace(host, ports.map((port) => `127.0.0.1:${port}`).join(','))
}
const primary = replicas.primary().port
const standby = replicas.standby().port
const url = hosts(standby, primary)
await migrate(`${url}?target_session_attrs=read-write`)
const db = openDatabase(url, 2)
await db.query({ text: 'create table written (text text primary key)' })

test('of several servers the one that accepts writes is used, by whoever connects', async () => {
  for (const pool of Object.values(db.pools)) {
    const { rows } = await pool.query('select pg_is_in_recovery() as is_standby')
    assert.deepEqual(rows, [{ is_standby: false }])
  }
  const probe = openProbe(url, 60_000)
  assert.equal(await probe.fault(), null)
  await probe.close()
  assert.equal(await waitUntilAppliedAt(url), true)
  const { client, release } = await db.tasks.connect()
  assert.deepEqual((await client.query('select pg_is_in_recovery() as s')).rows, [{ s: false }])
  release()
  const vintem = vintemIn(temporaryFolder())
  const { code, stderr } = await vintem(['company', 'list'], { DATABASE_URL: url, SECRET_KEY })
  assert.deepEqual([code, stderr], [0, ''])
})

test('a standby takes no connection, and is reported as such', async () => {
  const probe = openProbe(hosts(standby), 60_000)
  assert.equal(await probe.fault(), 'The database is read-only: nothing can be written.')
  await probe.close()
  const closed = await freePort()
  const both = openProbe(hosts(standby, closed), 60_000)
  assert.equal(await both.fault(), 'None of the database servers accepts writes.')
  await both.close()
  for (const [DATABASE_URL, expected] of [
    [
      hosts(standby),
      `The database server at 127.0.0.1:${standby} is a standby and accepts no writes. Name the primary in DATABASE_URL, or all servers with commas between them.`,
    ],
    [
      hosts(standby, closed),
      `None of the database servers accepts writes: 127.0.0.1:${standby} is a standby, 127.0.0.1:${closed} refuses connections. Start or promote one of them, or correct DATABASE_URL.`,
    ],
  ] as const) {
    const server = await startServer({ SECRET_KEY, DATABASE_URL, ALLOW: 'http,mail-files' })
    assert.equal(await server.ended, 1)
    assert.equal(server.output().trim(), expected)
  }
})

const waiting = () =>
  at(replicas.primary(), `select 1 from pg_stat_activity where wait_event = 'SyncRep'`)

const NOT_CONFIRMED = 'No standby confirms what is written to the database.'

test('a commit that the standby does not confirm is unknown, and keeps requests out', async () => {
  const { proceed } = await replicas.stopReceiving()
  try {
    let runs = 0
    const inTransaction = db.transaction(async (tx) => {
      runs += 1
      await tx.query({ text: `insert into written values ('transaction')` })
    })
    const alone = db.query({ text: `insert into written values ('alone') on conflict do nothing` })
    const probe = openProbe(url, 1_500)
    assert.equal(await probe.fault(), NOT_CONFIRMED)
    assert.equal(await probe.fault(), NOT_CONFIRMED, 'also while the first one still waits')
    for (const outcome of await Promise.allSettled([inTransaction, alone])) {
      assert.equal(outcome.status, 'rejected')
      assert.equal((outcome as PromiseRejectedResult).reason.code, 'service_unavailable')
    }
    assert.equal(runs, 1)
    assert.equal(db.heartbeat.isUnresponsive(), true)
    await assert.rejects(db.query({ text: 'select from written' }), { code: 'service_unavailable' })
    assert.deepEqual(await at(replicas.primary(), 'select from written'), [], 'nobody sees them')
    await probe.close()
  } finally {
    proceed()
  }
  await until('the standby confirms again', () => !db.heartbeat.isUnresponsive())
  assert.equal((await db.query({ text: 'select from written' })).length, 2)
})

test('a commit whose connection is lost while it waits is in doubt, and leaves nothing behind', async () => {
  const { proceed } = await replicas.stopReceiving()
  const began_ms = performance.now()
  try {
    const lost = db.transaction((tx) => tx.query({ text: `insert into written values ('lost')` }))
    const again = db.query({ text: `insert into written values ('again') on conflict do nothing` })
    const both = Promise.allSettled([lost, again])
    await until('both wait for the standby', async () => (await waiting()).length >= 2)
    serversOf(url).cutBefore(performance.now())
    await assert.rejects(lost, { code: 'service_unavailable' })
    assert.ok(performance.now() - began_ms < 10_000, 'nothing waits for a lost connection')
    const reading = db.query({ text: 'select from written' })
    await assert.rejects(reading, { code: 'service_unavailable' })
    await both
  } finally {
    proceed()
  }
  await until('the standby confirms again', async () => isReadable())
  await until('no connection is left behind', async () => (await waiting()).length === 0)
})

const isReadable = () =>
  db.query({ text: 'select' }).then(
    () => true,
    () => false,
  )

test('what is tried while the standby is away does not add up at the server', async () => {
  const { proceed } = await replicas.stopReceiving()
  try {
    for (let n = 0; n < 3; n += 1) {
      const lost = db.transaction((tx) =>
        tx.query({ text: `insert into written values ('n${n}')` }),
      )
      lost.catch(() => {})
      await until('it or a commit that changes nothing waits', async () => {
        return (await waiting()).length > n
      })
      serversOf(url).cutBefore(performance.now())
      await assert.rejects(lost)
    }
    await until('only the first is left', async () => {
      const rows = await at<{ query: string }>(
        replicas.primary(),
        `select query from pg_stat_activity
         where wait_event = 'SyncRep' and query_start < now() - interval '12 seconds'`,
      )
      return rows.length === 1 && rows[0]!.query === 'commit'
    })
  } finally {
    proceed()
  }
  await until('the standby confirms again', async () => isReadable())
  const rows = await db.query<{ text: string }>({
    text: `select text from written where text like 'n%' order by text`,
  })
  assert.deepEqual(rows, [{ text: 'n0' }], 'and its rows are there once it is confirmed')
})
