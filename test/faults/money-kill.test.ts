import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { cloneDatabase } from '../support/database.ts'
import { isLong } from '../support/long.ts'
import { checkAftermath } from './aftermath.ts'
import { killAgainAndAgain, killServer, type Plan } from './kill.ts'
import { takenUpAgain } from './stored.ts'

/** A few kills with every test run; `npm run test:faults` asks for more. */
const { SEED = '1', KILLS = isLong ? '6' : '1', LOAD = '30', REPORT } = process.env
const plan: Plan = {
  seed: Number(SEED),
  kills: Number(KILLS),
  answersPerKill: Number(LOAD),
  companies: isLong ? 48 : 16,
  sellers: isLong ? 16 : 8,
  treasurers: isLong ? 8 : 4,
}

const aftermath = await killAgainAndAgain(plan, await cloneDatabase(), killServer)
const { app, journal, caller } = aftermath
const { charges, splits, payments, refunds, withdrawals, disputes } = journal

test('kills hit in the middle of the work, and every request is answered in the end', async (t) => {
  const { tally } = caller
  const report = {
    ...plan,
    seconds: Math.round(aftermath.seconds),
    requests: tally,
    done: {
      charges: charges.length,
      batches: journal.batches,
      splits: splits.length,
      disputes: disputes.length,
      payments: payments.length,
      refunds: refunds.length,
      withdrawals: withdrawals.length,
      codesSentAgain: journal.resent,
    },
    refusals: journal.refusals,
    takenUpAgain: await takenUpAgain(app),
    complaints: aftermath.complaints,
  }
  t.diagnostic(JSON.stringify(report))
  if (REPORT) writeFileSync(REPORT, `${JSON.stringify(report, null, 2)}\n`)
  assert.ok(tally.cut > 0, 'requests were cut off')
  assert.equal(tally.resolved, tally.unknown)
  assert.deepEqual(aftermath.complaints, [])
  assert.equal(aftermath.exitCode, 0, 'the last server stops as it should')
})

checkAftermath(aftermath)
