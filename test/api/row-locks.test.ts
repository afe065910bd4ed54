import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LATEST } from '../../src/versions/history.ts'
import { startApi } from '../support/api.ts'
import { runTasks } from '../support/tasks.ts'
import { watchTransactions } from '../support/transactions.ts'
import { tryAll } from './every-route.ts'

const api = await startApi()
const DAY_S = 24 * 3600

test('who reads a row in order to change it has locked it', async () => {
  const transactions = watchTransactions()
  try {
    await tryAll(api, LATEST.name)
    for (const days of [0, 1, 1, 1, 1, 30]) {
      api.clock.advance(days * DAY_S)
      await runTasks(api)
    }
  } finally {
    transactions.stop()
  }
  assert.deepEqual(transactions.unlocked, [])
  assert.ok(transactions.writes.size >= 8, 'rows of most tables are read and written')
})
