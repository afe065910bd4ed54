import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { waitUntilAppliedAt } from '../../src/core/companies/announce.ts'
import { openDatabase } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { openProbe } from '../../src/db/probe.ts'
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

/** Stops what receives changes at the standby, and gives what lets it go on. */
async function stopReceiving(): Promise<() => void> {
  const rows = await at<{ pid: number }>(
    replicas.standby(),
    'select pid from pg_stat_wal_receiver',
    'postgres',
  )
  const { pid } = rows[0]!
  process.kill(pid, 'SIGSTOP')
  return () => process.kill(pid, 'SIGCONT')
}

/** Cancels each commit that waits for the standby, as a time limit or an operator would. */
async function whileCanceling<R>(work: Promise<R>): Promise<R> {
  const state = { isOver: false }
  work.finally(() => {
    state.isOver = true
  })
  await until('all that waited was canceled', async () => {
    await at(
      replicas.primary(),
      `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`,
    )
    return state.isOver
  })
  return work
}

test('a commit that the standby has not confirmed is unknown, and keeps requests out until it is', async () => {
  const proceed = await stopReceiving()
  try {
    let runs = 0
    const inTransaction = db.transaction(async (tx) => {
      runs += 1
      await tx.query({ text: `insert into written values ('transaction')` })
    })
    const alone = db.query({ text: `insert into written values ('alone') on conflict do nothing` })
    for (const outcome of await whileCanceling(Promise.allSettled([inTransaction, alone]))) {
      assert.equal(outcome.status, 'rejected')
      assert.equal((outcome as PromiseRejectedResult).reason.code, 'service_unavailable')
    }
    assert.equal(runs, 1)
    const probe = openProbe(url, 600_000)
    const fault = await whileCanceling(probe.fault())
    assert.equal(fault, 'No standby confirms what is written to the database.')
    await probe.close()
    assert.equal(db.heartbeat.isUnresponsive(), true)
  } finally {
    proceed()
  }
  await until('the standby confirms again', () => !db.heartbeat.isUnresponsive())
  assert.equal((await db.query({ text: 'select from written' })).length, 2)
})
