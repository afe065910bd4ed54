import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LATEST } from '../../../src/versions/history.ts'
import { startApi } from '../../support/api.ts'
import { charged, openBanked } from '../../support/bank.ts'
import { makeCode, pay } from '../../support/payments.ts'
import { watchStatements } from '../../support/strangers.ts'
import { runTasks } from '../../support/tasks.ts'
import { watchTransactions } from '../../support/transactions.ts'
import { tryAll } from '../every-route.ts'

// Nothing moves the clock here, so nobody is to wait for it.
const api = await startApi({ CLOCK_WAIT_SECONDS: '0' })
const HOUR_S = 3600

/** Every operation and every task once, while both watch: what they do takes long. */
async function doEverything() {
  const transactions = watchTransactions()
  const statements = await watchStatements(api.databaseUrl)
  try {
    await tryAll(api, LATEST.name)
    const banked = await openBanked(api, { payouts: 'bank' })
    const { id } = await charged(banked)
    await charged(banked, { externalId: 'order 1' })
    await banked.post(`/charge/${id}/cancel`)
    // A sale through a static code, and a clock of a company's own.
    const shop = await api.client()
    const code = await makeCode(shop, 700)
    await pay(api, code.brCode)
    await shop.post('/sandbox/clock', { advance: 60 })
    for (const hours of [0, 1, 24, 24, 24, 24, 24 * 30]) {
      api.clock.advance(hours * HOUR_S)
      await runTasks(api)
    }
  } finally {
    await statements.stop()
    transactions.stop()
  }
  return { statements, transactions }
}

const { statements, transactions } = await doEverything()

test('no statement that names a company finds or changes anything of another', () => {
  assert.deepEqual(statements.leaks, [])
  assert.ok(statements.tried().length > 100, 'most statements have found something')
})

test('who reads a row in order to change it has locked it', () => {
  assert.deepEqual(transactions.unlocked, [])
  assert.ok(transactions.writes.size >= 8, 'rows of most tables are read and written')
})
