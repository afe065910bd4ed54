import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  end as endBillings,
  find as findBilling,
  makeDueNow,
  update as updateBilling,
} from '../../../src/core/billings/store.ts'
import { findCompany } from '../../../src/core/companies/store.ts'
import type { FullApp } from '../../../src/core/full-app.ts'
import { followAgreement } from '../../../src/core/recurrences/agreements.ts'
import { openBillingJobs, stepBilling } from '../../../src/core/recurrences/billing-jobs.ts'
import { find as findRecurrence } from '../../../src/core/recurrences/store.ts'
import { fromPublic } from '../../../src/lib/ids.ts'
import { toCents } from '../../../src/lib/money.ts'
import type { Collection, Provider } from '../../../src/provider/port.ts'
import { chargeTxid } from '../../../src/provider/txid.ts'
import { billDue, generateDue } from '../../../src/worker/due.ts'
import { startApi } from '../../support/api.ts'
import { approvedSubscription, chargesOf, feedOf } from '../../support/billing.ts'
import { balancesOf } from '../../support/payments.ts'
import { makeSubscription } from '../../support/subscriptions.ts'

const api = await startApi()
const { app } = api
const { simulator } = app.providers

/** The app with a bank that does otherwise than the simulated one. */
const withBank = (change: Partial<Provider>): FullApp => ({
  ...app,
  providers: { ...app.providers, of: () => ({ ...simulator, ...change }) },
})

/** A charge that the bank was ordered to collect. */
async function scheduled() {
  const client = await api.client()
  const { id } = await approvedSubscription(api, client)
  await generateDue.run(app)
  await billDue.run(app)
  const [charge] = await chargesOf(client, id)
  const chargeId = fromPublic('charge', charge!.id)!
  const company = (await findCompany(app.db, client.company.id))!
  const billing = async () => (await findBilling(app.db, company.id, chargeId))!
  const step = async (by: FullApp) => {
    const [open] = await openBillingJobs(by, company, [await billing()])
    return stepBilling(open!)
  }
  return { client, id, chargeId, billing, step }
}

test('if the bank does not say whether it has a collection, it gets no second order', async () => {
  const { billing, step } = await scheduled()
  let orders = 0
  const silent = withBank({
    findCollection: async () => ({ kind: 'unknown', reason: 'no answer' }),
    scheduleCollection: async () => {
      orders += 1
      return { kind: 'unknown', reason: 'no answer' }
    },
  })
  assert.equal(await step(silent), false)
  assert.equal(orders, 0)
  assert.equal((await billing()).unanswered, 1)
})

test('who has read a billing before its order does not undo that it was ordered', async () => {
  const { billing, step } = await scheduled()
  const read = { ...(await billing()), ordered: false }
  await updateBilling(app.db, { ...read, unanswered: 7 })
  const { ordered, unanswered } = await billing()
  assert.deepEqual([ordered, unanswered], [true, 7])
  let orders = 0
  const counting = withBank({
    scheduleCollection: async (...given) => {
      orders += 1
      return simulator.scheduleCollection(...given)
    },
  })
  await step(counting)
  assert.equal(orders, 0, 'the bank is asked, and has it')
})

test('who has read a billing before its end does not begin it again', async () => {
  const { client, chargeId, billing } = await scheduled()
  const { id } = client.company
  const read = await billing()
  await endBillings(app.db, id, [chargeId], 'CANCELED')
  const ended = await billing()
  await updateBilling(app.db, read)
  await endBillings(app.db, id, [chargeId], 'FAILED')
  await endBillings(app.db, id, [chargeId], 'PAID')
  const known = await makeDueNow(app.db, id, [chargeId], api.clock.now())
  assert.deepEqual([await billing(), known.size], [ended, 1])
})

test('a callback makes a billing due earlier, never later', async () => {
  const { client, chargeId, billing } = await scheduled()
  const { nextAt } = await billing()
  const later = new Date(nextAt!.getTime() + 60_000)
  await makeDueNow(app.db, client.company.id, [chargeId], later)
  assert.deepEqual((await billing()).nextAt, nextAt)
  await makeDueNow(app.db, client.company.id, [chargeId], api.clock.now())
  assert.deepEqual((await billing()).nextAt, api.clock.now())
})

test('a collection whose payment does not match ends, and nothing more is collected', async () => {
  const { client, id, chargeId, billing, step } = await scheduled()
  await client.put('/reminder', { failedCharges: { enabled: true, channel: 'EMAIL' } })
  const endToEndId = 'E99999999202608231100aaaaaaaaaaa'
  const attempts = [{ on: (await billing()).dueOn, status: 'PAID' as const, endToEndId }]
  const collection: Collection = { status: 'PAID', attempts }
  const pix = { endToEndId, txid: chargeTxid(chargeId), amount: toCents(1), receivedAt: new Date() }
  const other = withBank({
    findCollection: async () => ({ kind: 'accepted', value: collection }),
    findReceived: async () => ({ kind: 'accepted', value: [pix] }),
  })
  assert.equal(await step(other), true)
  const { status, nextAt } = await billing()
  assert.deepEqual([status, nextAt], ['FAILED', null])
  assert.equal((await balancesOf(api, client)).unmatched, 1)
  assert.notEqual((await chargesOf(client, id))[0]!.status, 'OPEN')
  const told = (await feedOf(client)).map(({ type }) => type)
  assert.ok(!told.includes('charge.reminder'), 'whose money has gone is not told that it has not')
})

test('an agreement expires by its company’s clock, and is then canceled at the bank', async () => {
  const client = await api.client()
  const { id } = await makeSubscription(client)
  const recurrence = (await findRecurrence(app.db, client.company.id, fromPublic('rec', id)!))!
  let canceled = 0
  const bank = withBank({
    findAgreement: async () => ({
      kind: 'accepted',
      value: {
        externalId: recurrence.externalId!,
        brCode: '',
        status: 'CREATED',
        decidedAt: null,
      },
    }),
    cancelAgreement: async () => {
      canceled += 1
      return { kind: 'accepted', value: null }
    },
  })
  const at = (ms: number): FullApp => ({
    ...bank,
    clock: { now: () => new Date(recurrence.expiresAt!.getTime() + ms) },
  })
  assert.equal(await followAgreement(at(-1), client.company, recurrence), true)
  assert.equal(canceled, 0)
  assert.equal(await followAgreement(at(0), client.company, recurrence), true)
  assert.equal(canceled, 1)
})
