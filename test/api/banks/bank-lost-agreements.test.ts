import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { connectBank } from '../../../src/core/banks/commands.ts'
import { billDue, followDue, generateDue } from '../../../src/worker/due.ts'
import { type Bank, startBank } from '../../bank/bank.ts'
import { eventsOf, startApi } from '../../support/api.ts'
import { type Banked, openBanked } from '../../support/bank.ts'
import { chargesOf } from '../../support/billing.ts'
import { makeSubscription, readSubscription } from '../../support/subscriptions.ts'

const api = await startApi()
const { app } = api
const DAY_S = 86_400
const QUARTER_S = 15 * 60

/** Connects a company to another bank, in the place of its own. */
async function move({ company }: Banked): Promise<Bank> {
  const bank = await startBank({ clock: api.clock })
  after(async () => {
    await bank.close()
    assert.deepEqual(bank.violations(), [])
  })
  api.clock.advance(QUARTER_S)
  const { id: _, ...connection } = bank.connection()
  const fields = { ...connection, payouts: 'manual', certificateEndsAt: FAR } as const
  const { db, vault, clock } = app
  await db.transaction((tx) => connectBank(tx, vault, company.id, fields, clock.now()))
  api.clock.advance(1)
  return bank
}

const FAR = new Date('2036-01-01T00:00:00Z')

/** A subscription that its payer has approved. */
async function approved(shop: Banked): Promise<string> {
  const { id, emv } = await makeSubscription(shop, { price: 4990, frequency: 'WEEKLY', dayDue: 5 })
  shop.bank.payer.approve(emv)
  await shop.bank.callbacksSent()
  await app.callbacks.process.idle()
  assert.equal((await readSubscription(shop, id)).recurrenceAuthStatus, 'APPROVED')
  return id
}

const stateOf = async (shop: Banked, id: string) => {
  const { status, recurrenceAuthStatus } = await readSubscription(shop, id)
  return [status, recurrenceAuthStatus]
}

/** The bodies of the events that subscriptions of a company were canceled. */
const canceledOf = async ({ company }: Banked) =>
  (await eventsOf(api, company.id)).flatMap(({ type, payload }) =>
    type === 'subscription.canceled' ? [payload.subscription] : [],
  )

const lost = (id: string) => ({
  id,
  status: 'CANCELED',
  value: 4990,
  reason: 'UNKNOWN_TO_BANK',
})

test('after a change of bank no charge is generated for an agreement of the former one', async () => {
  const shop = await openBanked(api)
  const id = await approved(shop)
  await move(shop)
  await generateDue.run(app)
  assert.deepEqual(await chargesOf(shop, id), [])
  assert.deepEqual(await stateOf(shop, id), ['CANCELED', 'CANCELED'])
  assert.deepEqual(await canceledOf(shop), [lost(id)])
  api.clock.advance(7 * DAY_S)
  await generateDue.run(app)
  assert.deepEqual(await chargesOf(shop, id), [])
  assert.equal((await canceledOf(shop)).length, 1, 'said once')
})

test('while the next bank does not answer, nothing is generated and nothing ends', async () => {
  const shop = await openBanked(api)
  const id = await approved(shop)
  const bank = await move(shop)
  bank.faults.next('GET /rec', '5xx', 100)
  await generateDue.run(app)
  assert.deepEqual([await chargesOf(shop, id), await canceledOf(shop)], [[], []])
  bank.faults.clear()
  await generateDue.run(app)
  assert.deepEqual(await canceledOf(shop), [], 'it is asked again a minute later')
  api.clock.advance(61)
  await generateDue.run(app)
  assert.deepEqual(await canceledOf(shop), [lost(id)])
})

test('an agreement that the bank does know is charged, though the connection is newer', async () => {
  const shop = await openBanked(api)
  const id = await approved(shop)
  const bank = await move(shop)
  for (const [name, rec] of shop.bank.state().recs) bank.state().recs.set(name, rec)
  for (const [place, location] of shop.bank.state().locations)
    bank.state().locations.set(place, location)
  await generateDue.run(app)
  assert.equal((await chargesOf(shop, id)).length, 1)
  assert.deepEqual(await canceledOf(shop), [])
})

test('a charge that was generated before the change is canceled with its subscription', async () => {
  const shop = await openBanked(api)
  const id = await approved(shop)
  await generateDue.run(app)
  await billDue.run(app)
  assert.equal((await chargesOf(shop, id)).length, 1)
  await move(shop)
  api.clock.advance(6 * DAY_S)
  await billDue.run(app)
  const [charge] = await chargesOf(shop, id)
  assert.equal(charge!.status, 'CANCELED')
  assert.deepEqual(await canceledOf(shop), [lost(id)])
})

test('one unknown agreement does not hold up the others of its company', async () => {
  const shop = await openBanked(api, { callbacks: false })
  const made = []
  for (let i = 0; i < 3; i++) made.push(await makeSubscription(shop, { price: 4990 }))
  shop.bank.state().recs.delete(made[0].externalRecurrenceId)
  for (const { emv } of made.slice(1)) shop.bank.payer.approve(emv)
  api.clock.advance(QUARTER_S)
  await followDue.run(app)
  assert.deepEqual(await stateOf(shop, made[0].id), ['CANCELED', 'CANCELED'])
  for (const { id } of made.slice(1)) {
    assert.deepEqual(await stateOf(shop, id), ['OPEN', 'APPROVED'])
  }
  assert.deepEqual(await canceledOf(shop), [lost(made[0].id)])
})

test('an agreement that was made a moment ago is not given up', async () => {
  const shop = await openBanked(api)
  const { id, externalRecurrenceId: name } = await makeSubscription(shop, { price: 4990 })
  const rec = shop.bank.state().recs.get(name)!
  shop.bank.state().recs.delete(name)
  const forged = { recs: [{ idRec: name }] }
  await shop.bank.callbacks.forge(`${shop.callback}/rec`, forged)
  await app.callbacks.process.idle()
  assert.deepEqual(await stateOf(shop, id), ['OPEN', 'CREATED'])
  shop.bank.state().recs.set(name, rec)
})

test('a merchant can cancel a subscription that the bank does not know', async () => {
  const shop = await openBanked(api)
  const id = await approved(shop)
  await move(shop)
  const reply = await shop.post(`/pix-automatic/recurrences/${id}/cancel`)
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(await stateOf(shop, id), ['CANCELED', 'CANCELED'])
  assert.equal((await canceledOf(shop)).length, 1)
})
