import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatabase } from '../../../src/db/database.ts'
import { createClient } from '../../../src/db/servers.ts'
import { cloneDatabase } from '../../support/database.ts'

/** What lets the server notice that whoever has connected to it is gone. */
const LOST = `select current_setting('idle_in_transaction_session_timeout') as transaction,
  current_setting('tcp_keepalives_idle')::int as idle,
  current_setting('tcp_keepalives_interval')::int as interval,
  current_setting('tcp_keepalives_count')::int as count,
  current_setting('tcp_user_timeout') as unanswered`
const NOTICED = {
  transaction: '15s',
  idle: 5,
  interval: 3,
  count: 3,
  unanswered: process.platform === 'linux' ? '15000' : '0',
}

test('a server notices within seconds that a connection of its own has lost its other end', async () => {
  const client = createClient(await cloneDatabase(), {})
  await client.connect()
  assert.deepEqual((await client.query(LOST)).rows, [NOTICED])
  await client.end()
})

test('no connection of a pool compiles statements, whatever DATABASE_URL and the server ask for', async () => {
  const url = new URL(await cloneDatabase())
  for (const options of [null, '-c jit=on -c work_mem=5MB']) {
    if (options) url.searchParams.set('options', options)
    const db = openDatabase(url.href, 2)
    for (const [name, pool] of Object.entries(db.pools)) {
      const { rows } = await pool.query(
        `select current_setting('jit') as jit, current_setting('work_mem') as memory,
           current_setting('lock_timeout') as lock, current_setting('statement_timeout') as long`,
      )
      assert.deepEqual([rows[0].lock, rows[0].long], ['3s', '30s'], 'nobody is waited for longer')
      assert.equal(rows[0].jit, 'off', name)
      assert.deepEqual((await pool.query(LOST)).rows, [NOTICED], name)
      if (options) assert.equal(rows[0].memory, '5MB', 'other settings of the operator stay')
    }
    await db.end()
  }
})
