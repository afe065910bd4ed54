import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditDue } from '../../../src/core/audits/commands.ts'
import type { DueTask } from '../../../src/core/full-app.ts'
import { receiveCallback } from '../../../src/core/payments/callbacks.ts'
import { claimDueRefunds } from '../../../src/core/refunds/store.ts'
import {
  billDue,
  carryOutRefunds,
  followDue,
  generateDue,
  processDueCallbacks,
  removeOrphans,
} from '../../../src/worker/due.ts'
import { startApi } from '../../support/api.ts'
import { type Banked, charged, openBanked, pixBody, read } from '../../support/bank.ts'
import { dueNow } from '../../support/requests.ts'
import { makeSubscription, readSubscription } from '../../support/subscriptions.ts'
import { until } from '../../support/until.ts'

const api = await startApi()

async function paid(shop: Banked, count: number): Promise<string[]> {
  const charges = await Promise.all(Array.from({ length: count }, () => charged(shop)))
  for (const { brCode } of charges) shop.bank.payer.pay(brCode)
  await shop.bank.callbacksSent()
  await api.app.callbacks.process.idle()
  return charges.map(({ id }) => id)
}

async function refund(shop: Banked, id: string): Promise<void> {
  const { status, text } = await shop.post(`/refund/${id}`, {})
  assert.equal(status, 201, text)
}

test('refunds that a bank did not answer about come after new ones of others', async () => {
  const [hung, well] = [await openBanked(api), await openBanked(api)]
  for (const id of await paid(hung, 12)) await refund(hung, id)
  const [id] = await paid(well, 1)
  hung.bank.faults.next(/devolucao/, '5xx', 100)
  await carryOutRefunds.run(api.app)
  api.clock.advance(3600)
  await refund(well, id!)
  const claims = await claimDueRefunds(api.app.db, dueNow(api.app, 10))
  assert.equal(claims.length, 10)
  assert.ok(claims.some(({ order: { companyId } }) => companyId === well.company.id))
  hung.bank.faults.clear()
})

/** Starts a task, and waits until the bank that hangs has a request of it. */
async function startAt(hung: Banked, task: DueTask) {
  const before = hung.bank.state().requests.length
  hung.bank.faults.next('*', 'slow', 100)
  const ended = task.run(api.app)
  await until('the bank has a request', () => hung.bank.state().requests.length > before)
  return {
    async release() {
      hung.bank.faults.clear()
      await ended
    },
  }
}

test('a refund that comes while a bank hangs is carried out at once', async () => {
  const [hung, well] = [await openBanked(api), await openBanked(api)]
  const [[first], [second]] = [await paid(hung, 1), await paid(well, 1)]
  await refund(hung, first!)
  const run = await startAt(hung, carryOutRefunds)
  await refund(well, second!)
  await until('the other is refunded', async () => {
    return (await read(well, second!)).paymentStatus === 'REFUNDED'
  })
  await run.release()
  assert.equal((await read(hung, first!)).paymentStatus, 'REFUNDED')
})

test('a callback that is due while a bank hangs is processed at once', async () => {
  const [hung, well] = [await openBanked(api), await openBanked(api)]
  const charges = [await charged(hung), await charged(well)]
  for (const [i, { bank }] of [hung, well].entries()) {
    bank.faults.next('GET /pix/{e2eid}', '5xx', 10)
    bank.payer.pay(charges[i].brCode)
    await bank.callbacksSent()
    await api.app.callbacks.process.idle()
    bank.faults.clear()
    if (i === 0) api.clock.advance(20)
  }
  api.clock.advance(11)
  const run = await startAt(hung, processDueCallbacks)
  assert.equal((await read(well, charges[1].id)).status, 'OPEN', 'its lease is not over')
  api.clock.advance(20)
  await until('the other is paid', async () => {
    return (await read(well, charges[1].id)).status === 'COMPLETED'
  })
  await run.release()
  assert.equal((await read(hung, charges[0].id)).status, 'COMPLETED')
})

test('of very many callbacks for a bank that hangs the later ones wait in the database alone', async () => {
  const hung = await openBanked(api)
  const [first, last] = [await charged(hung), await charged(hung)]
  const before = hung.bank.state().requests.length
  hung.bank.faults.next('GET /pix/{e2eid}', 'slow', 100)
  hung.bank.payer.pay(first.brCode)
  await until('the bank is asked', () => hung.bank.state().requests.length > before)
  // The bank is not asked about these: they have not the form of a payment's id.
  const named = Array.from({ length: 1100 }, (_, n) => ({ pix: [{ endToEndId: `X${n}` }] }))
  const { name } = api.app.providers.bacen
  await Promise.all(named.map((body) => receiveCallback(api.app, hung.company.id, name, body)))
  hung.bank.payer.pay(last.brCode)
  await hung.bank.callbacksSent()
  hung.bank.faults.clear()
  await api.app.callbacks.process.idle()
  assert.equal((await read(hung, first.id)).status, 'COMPLETED')
  assert.equal((await read(hung, last.id)).status, 'OPEN', 'it was stored')
  api.clock.advance(31)
  await processDueCallbacks.run(api.app)
  assert.equal((await read(hung, last.id)).status, 'COMPLETED')
})

const SUBSCRIPTION = { price: 4990, dayDue: 5 }

async function approve({ bank }: Banked, emv: string): Promise<void> {
  bank.payer.approve(emv)
  await bank.callbacksSent()
  await api.app.callbacks.process.idle()
  await generateDue.run(api.app)
}

test('a charge that is due while a bank hangs is collected at once', async () => {
  const [hung, well] = [await openBanked(api), await openBanked(api)]
  await approve(hung, (await makeSubscription(hung, SUBSCRIPTION)).emv)
  const { emv } = await makeSubscription(well, SUBSCRIPTION)
  const run = await startAt(hung, billDue)
  await approve(well, emv)
  await until('the other has its order', () => well.bank.state().cobrs.size === 1)
  await run.release()
  assert.equal(hung.bank.state().cobrs.size, 1)
})

test('an agreement that is due while a bank hangs is asked about at once', async () => {
  const [hung, well] = [await openBanked(api), await openBanked(api)]
  await makeSubscription(hung, SUBSCRIPTION)
  api.clock.advance(60)
  const { id, emv } = await makeSubscription(well, SUBSCRIPTION)
  well.bank.faults.nextCallback('lost')
  well.bank.payer.approve(emv)
  const isApproved = async () =>
    (await readSubscription(well, id)).recurrenceAuthStatus === 'APPROVED'
  api.clock.advance(14 * 60)
  const run = await startAt(hung, followDue)
  assert.equal(await isApproved(), false, 'its bank is not asked yet')
  api.clock.advance(60)
  await until('the other is approved', isApproved)
  await run.release()
})

test('a bank that hangs keeps the books of others from no audit', async () => {
  const [hung, well] = [await openBanked(api), await openBanked(api)]
  await paid(hung, 1)
  await paid(well, 1)
  api.clock.advance(3600)
  hung.bank.faults.next('*', 'slow', 100)
  const audited = async ({ company }: Banked) =>
    (await api.rows('select 1 from audits where company_id = $1', [company.id])).length === 1
  const auditing = auditDue(api.app)
  await until('the other is audited', () => audited(well))
  assert.equal(await audited(hung), false)
  hung.bank.faults.clear()
  await auditing
})

test('a bank that hangs keeps no other from taking charges back', async () => {
  const [hung, well] = [await openBanked(api), await openBanked(api)]
  for (const { bank, post } of [hung, hung, well]) {
    bank.faults.next('PUT /cob/{txid}', 'lose answer')
    bank.faults.next('GET /cob/{txid}', '5xx')
    assert.equal((await post('/charge/pix', pixBody())).status, 503)
  }
  api.clock.advance(61)
  hung.bank.faults.next('*', 'slow', 100)
  const taking = removeOrphans.run(api.app)
  const isRemoved = async () =>
    [...well.bank.state().charges.values()].every(({ status }) => status.startsWith('REMOVIDA'))
  await until('the other has taken it back', isRemoved)
  hung.bank.faults.clear()
  await taking
})
