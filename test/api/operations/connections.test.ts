import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatabase } from '../../../src/db/database.ts'
import { cloneDatabase } from '../../support/database.ts'

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
      if (options) assert.equal(rows[0].memory, '5MB', 'other settings of the operator stay')
    }
    await db.end()
  }
})
