import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { auditCompany } from '../../src/core/audits/commands.ts'
import * as expected from './expected.ts'
import type { Paid } from './journal.ts'
import { killAgainAndAgain, type Plan } from './kill.ts'
import * as stored from './stored.ts'

/** A few kills with every test run; `npm run test:faults` asks for more. */
const { SEED = '1', KILLS = '6', LOAD = '30', REPORT } = process.env
const plan: Plan = {
  seed: Number(SEED),
  kills: Number(KILLS),
  answersPerKill: Number(LOAD),
  companies: 48,
  sellers: 16,
  treasurers: 8,
}

const aftermath = await killAgainAndAgain(plan)
const { app, shops, journal, caller, mailbox } = aftermath
const { charges, staticCodes, payments, refunds, withdrawals } = journal

const SAME: expected.Difference = { missing: [], unexpected: [] }

test('kills hit in the middle of the work, and every request is answered in the end', async (t) => {
  const { tally } = caller
  const report = {
    ...plan,
    seconds: Math.round(aftermath.seconds),
    requests: tally,
    done: {
      charges: charges.length,
      payments: payments.length,
      refunds: refunds.length,
      withdrawals: withdrawals.length,
      codesSentAgain: journal.resent,
    },
    refusals: journal.refusals,
    takenUpAgain: await stored.takenUpAgain(app),
    complaints: aftermath.complaints,
  }
  t.diagnostic(JSON.stringify(report))
  if (REPORT) writeFileSync(REPORT, `${JSON.stringify(report, null, 2)}\n`)
  assert.ok(tally.cut > 0, 'requests were cut off')
  assert.equal(tally.resolved, tally.unknown)
  assert.deepEqual(aftermath.complaints, [])
  assert.equal(aftermath.exitCode, 0, 'the last server stops as it should')
})

test('every charge that was acknowledged is there with its amount, and no other', async () => {
  assert.deepEqual(
    expected.compare(expected.expectedCharges(charges), await stored.storedCharges(app)),
    SAME,
  )
  assert.deepEqual(
    expected.compare(expected.expectedCharges(staticCodes), await stored.storedCodes(app)),
    SAME,
  )
})

test('every payment is there once, and has become what the merchant has decided', async () => {
  assert.deepEqual(
    expected.compare(expected.expectedPayments(journal), await stored.storedPayments(app)),
    SAME,
  )
  assert.deepEqual(
    expected.compare(expected.expectedSales(journal), await stored.storedSales(app)),
    SAME,
  )
})

test('every refund and every withdrawal is there once, in the state that it had to reach', async () => {
  assert.deepEqual(
    expected.compare(expected.expectedOrders(refunds), await stored.storedRefunds(app)),
    SAME,
  )
  assert.deepEqual(
    expected.compare(expected.expectedOrders(withdrawals), await stored.storedWithdrawals(app)),
    SAME,
  )
})

test('the bank has moved all of it exactly once', async () => {
  assert.deepEqual(
    expected.compare(expected.expectedMoves(journal), await stored.movedByBank(app)),
    SAME,
  )
})

test('every event was written exactly once', async () => {
  const { due, possible } = await expected.expectedEvents(app, journal)
  const once = new Set(possible)
  const events = await stored.storedEvents(app)
  assert.deepEqual(
    expected.compare(
      due,
      events.filter((event) => !once.delete(event)),
    ),
    SAME,
  )
})

test('balances are what the clients have done, to the cent', async () => {
  assert.deepEqual(
    expected.compare(expected.expectedBalances(shops, journal), await stored.storedBalances(app)),
    SAME,
  )
})

test('the whole audit is clean: books, records and bank agree', async () => {
  for (const { company } of shops) {
    const { faults, bank } = await auditCompany(app, company, { whole: true })
    assert.deepEqual([faults, bank], [[], 'asked'])
  }
})

test('a key that is sent once more has kept its first answer', async () => {
  assert.ok(journal.sample.length > 0)
  assert.deepEqual(aftermath.changed, [])
  assert.deepEqual(await stored.keptAnswers(app), { kept: journal.keys, empty: 0 })
})

/** A static code has no payer to mail to, and money that pays no charge has no receipt. */
const isPaidCharge = ({ state, atCounter }: Paid) => state === 'MATCHED' && !atCounter

test('no work is left, and every mail was sent', async () => {
  assert.deepEqual(aftermath.leftovers, [])
  const ends = (state: string) => withdrawals.filter((one) => one.state === state).length
  const mails = [
    ['withdrawal-code', withdrawals.length + journal.resent],
    ['receipt', payments.filter(isPaidCharge).length],
    ['withdrawal-completed', ends('COMPLETED')],
    ['withdrawal-failed', ends('FAILED')],
  ] as const
  const expectedMails = mails.flatMap(([kind, count]) =>
    count > 0 ? [`${kind} SENT ${count}`] : [],
  )
  assert.deepEqual(expected.compare(expectedMails, await stored.storedMails(app)), SAME)
  assert.equal(
    await mailbox.count(),
    mails.reduce((total, [, count]) => total + count, 0),
  )
})
