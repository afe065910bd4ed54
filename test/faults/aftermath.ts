import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditCompany } from '../../src/core/audits/commands.ts'
import * as expected from './expected.ts'
import type { Disputed, Paid } from './journal.ts'
import type { Aftermath } from './kill.ts'
import * as stored from './stored.ts'

const SAME: expected.Difference = { missing: [], unexpected: [] }

/** A static code has no payer to mail to, and money that pays no charge has no receipt. */
const isPaidCharge = ({ state, atCounter }: Paid) => state === 'MATCHED' && !atCounter

/** Who accepts a dispute gets no mail, and of a lost one the mail about the return tells. */
const isTold = ({ state }: Disputed) => state === 'WON' || state === 'CANCELED'

/** Tests that database, bank and mailbox are as clients were answered. */
export function checkAftermath(aftermath: Aftermath): void {
  const { app, shops, journal, mailbox } = aftermath
  const { charges, staticCodes, payments, refunds, withdrawals, disputes } = journal

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

  test('every refund, withdrawal and dispute is there once, in the state that it had to reach', async () => {
    assert.deepEqual(
      expected.compare(expected.expectedOrders(disputes), await stored.storedDisputes(app)),
      SAME,
    )
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
    const { keys, batches } = journal
    const kept = { kept: keys + batches, empty: batches }
    assert.deepEqual(await stored.keptAnswers(app), kept)
  })

  test('no work is left, and every mail was sent', async () => {
    assert.deepEqual(aftermath.leftovers, [])
    const ends = (state: string) => withdrawals.filter((one) => one.state === state).length
    const mails = [
      ['withdrawal-code', withdrawals.length + journal.resent],
      ['receipt', payments.filter(isPaidCharge).length],
      ['withdrawal-completed', ends('COMPLETED')],
      ['withdrawal-failed', ends('FAILED')],
      ['dispute', disputes.length + disputes.filter(isTold).length],
      ['bank-return', disputes.filter(({ state }) => state === 'LOST').length],
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
}
