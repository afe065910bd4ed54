import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectBank, disconnectBank } from '../../../src/core/banks/commands.ts'
import { addDays, localDateOf } from '../../../src/pix/local-time.ts'
import { billDue, followDue, generateDue } from '../../../src/worker/due.ts'
import { eventsOf, startApi } from '../../support/api.ts'
import { type Banked, openBanked } from '../../support/bank.ts'
import { chargesOf } from '../../support/billing.ts'
import { makeSubscription, readSubscription } from '../../support/subscriptions.ts'
import { until } from '../../support/until.ts'

const api = await startApi()
const DAY_S = 86_400

async function callbacksProcessed({ bank }: Banked): Promise<void> {
  await bank.callbacksSent()
  await api.app.callbacks.process.idle()
}

/** A subscription whose first charge is scheduled at the bank, and the day on which it is due. */
async function scheduled(shop: Banked) {
  const { id, emv } = await makeSubscription(shop, { price: 4990, dayDue: 5 })
  const dueOn = addDays(localDateOf(api.clock.now()), 5)
  shop.bank.payer.approve(emv)
  await callbacksProcessed(shop)
  await generateDue.run(api.app)
  await billDue.run(api.app)
  const [charge] = await chargesOf(shop, id)
  return { id, dueOn, charge: charge! }
}

const cobrOf = ({ bank }: Banked) => [...bank.state().cobrs.values()][0]!

test('a charge that waits for its day is canceled at the bank too', async () => {
  const shop = await openBanked(api)
  const { charge } = await scheduled(shop)
  const reply = await shop.post(`/charge/${charge.id}/cancel`)
  assert.equal(reply.status, 200, reply.text)
  assert.equal(cobrOf(shop).status, 'CANCELADA')
})

test('a charge that could not be collected is canceled, though the bank takes none back', async () => {
  const shop = await openBanked(api, { callbacks: false })
  const { id, dueOn, charge } = await scheduledWithout(shop)
  api.clock.advance(5 * DAY_S)
  shop.bank.collect(dueOn, () => 'REJEITADA')
  const reply = await shop.post(`/charge/${charge.id}/cancel`)
  assert.equal(reply.status, 200, reply.text)
  api.clock.advance(DAY_S)
  await billDue.run(api.app)
  assert.equal((await chargesOf(shop, id))[0]!.status, 'CANCELED')
  assert.equal(cobrOf(shop).attempts.length, 1, 'nothing more is tried')
})

/** The same without a callback about the payer's decision. */
async function scheduledWithout(shop: Banked) {
  const { id, emv } = await makeSubscription(shop, { price: 4990, dayDue: 5 })
  shop.bank.payer.approve(emv)
  api.clock.advance(15 * 60)
  await followDue.run(api.app)
  assert.equal((await readSubscription(shop, id)).recurrenceAuthStatus, 'APPROVED')
  const dueOn = addDays(localDateOf(api.clock.now()), 5)
  await generateDue.run(api.app)
  await billDue.run(api.app)
  const [charge] = await chargesOf(shop, id)
  return { id, dueOn, charge: charge! }
}

test('an agreement that nobody decided on in time is taken back from the bank', async () => {
  const shop = await openBanked(api)
  const { id } = await makeSubscription(shop)
  api.clock.advance(30 * DAY_S)
  await followDue.run(api.app)
  const [rec] = [...shop.bank.state().recs.values()]
  assert.equal(rec!.status, 'CANCELADA')
  const { status, recurrenceAuthStatus } = await readSubscription(shop, id)
  assert.deepEqual([status, recurrenceAuthStatus], ['EXPIRED', 'EXPIRED'])
  const types = (await eventsOf(api, shop.company.id)).map(({ type }) => type)
  assert.ok(!types.includes('subscription.canceled'), String(types))
})

test('a payer who ends the agreement at their bank ends what is scheduled', async () => {
  const shop = await openBanked(api)
  const { id } = await scheduled(shop)
  shop.bank.payer.cancel([...shop.bank.state().recs.keys()][0]!)
  await callbacksProcessed(shop)
  await billDue.run(api.app)
  const { recurrenceAuthStatus } = await readSubscription(shop, id)
  assert.equal(recurrenceAuthStatus, 'CANCELED')
  assert.equal((await chargesOf(shop, id))[0]!.status, 'CANCELED')
})

test('a bank whose answer is lost makes one agreement, however often it is asked', async () => {
  const shop = await openBanked(api)
  for (const lost of ['POST /rec', 'GET /rec']) {
    shop.bank.faults.next(lost, 'lose answer')
  }
  await makeSubscription(shop)
  assert.equal(shop.bank.state().recs.size, 1)
})

test('a bank that was connected without its account fails no charge, which waits for it', async () => {
  const shop = await openBanked(api, { connection: { account: null } })
  const { id, charge } = await scheduled(shop)
  assert.deepEqual([charge.status, shop.bank.state().cobrs.size], ['OPEN', 0])
  const { id: _, ...given } = shop.bank.connection()
  const fields = { ...given, payouts: 'manual', certificateEndsAt: new Date('2036-01-01') } as const
  const { db, vault, clock } = api.app
  await db.transaction((tx) => connectBank(tx, vault, shop.company.id, fields, clock.now()))
  api.clock.advance(3600)
  await billDue.run(api.app)
  assert.equal((await chargesOf(shop, id))[0]!.status, 'OPEN')
  assert.equal(shop.bank.state().cobrs.size, 1)
})

test('a bank that hangs is not asked about all its agreements, and keeps no other waiting', async () => {
  const [hung, well] = [await openBanked(api), await openBanked(api, { callbacks: false })]
  for (let i = 0; i < 3; i++) await makeSubscription(hung, { price: 4990, dayDue: 5 })
  const { id, emv } = await makeSubscription(well, { price: 4990, dayDue: 5 })
  well.bank.payer.approve(emv)
  api.clock.advance(15 * 60)
  hung.bank.faults.next('GET /rec/{idRec}', 'slow', 9)
  const asked = hung.bank.seen('GET /rec/{idRec}')
  const following = followDue.run(api.app)
  const isApproved = async () =>
    (await readSubscription(well, id)).recurrenceAuthStatus === 'APPROVED'
  await until('the other is asked about', isApproved)
  await until('the one that hangs too', () => hung.bank.seen('GET /rec/{idRec}') > asked)
  assert.equal(hung.bank.seen('GET /rec/{idRec}') - asked, 1)
  hung.bank.faults.clear()
  await following
})

test('a bank that does not answer about one agreement is asked about the others a minute later', async () => {
  const shop = await openBanked(api, { callbacks: false })
  for (let i = 0; i < 3; i++) await makeSubscription(shop, { price: 4990, dayDue: 5 })
  api.clock.advance(15 * 60)
  shop.bank.faults.next('GET /rec/{idRec}', '5xx')
  const before = shop.bank.seen('GET /rec/{idRec}')
  const asked = () => shop.bank.seen('GET /rec/{idRec}') - before
  await followDue.run(api.app)
  assert.equal(asked(), 1)
  api.clock.advance(60)
  await followDue.run(api.app)
  assert.equal(asked(), 3)
})

test('an agreement of a company whose bank is gone keeps nobody else waiting', async () => {
  const [gone, well] = [await openBanked(api, { callbacks: false }), await openBanked(api)]
  await makeSubscription(gone, { price: 4990, dayDue: 5 })
  const { id, emv } = await makeSubscription(well, { price: 4990, dayDue: 5 })
  well.bank.faults.nextCallback('lost')
  well.bank.payer.approve(emv)
  await callbacksProcessed(well)
  await api.app.db.transaction((tx) => disconnectBank(tx, gone.company.id))
  api.clock.advance(15 * 60)
  await followDue.run(api.app)
  assert.equal((await readSubscription(well, id)).recurrenceAuthStatus, 'APPROVED')
})
