import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditCompany } from '../../../src/core/audits/commands.ts'
import { expireChargesAtBanks, expireDueCharges, reconcileDue } from '../../../src/worker/due.ts'
import { type Client, startApi } from '../../support/api.ts'
import { type Banked, charged, openBanked, pixBody, read } from '../../support/bank.ts'
import { balancesOf } from '../../support/payments.ts'

const api = await startApi()

const LIFETIME_S = 600
const GRACE_S = 120
const TXID_AT = 'charge_'.length

const stateOf = async (shop: Banked, id: string) => {
  const { status, paymentStatus } = await read(shop, id)
  return [status, paymentStatus]
}
const PAID = ['COMPLETED', 'PAID']
const EXPIRED = ['EXPIRED', 'EXPIRED']

/** The events about money and ends, in the order in which a receiver gets them, with their time. */
async function eventsOf({ company }: Client) {
  return api.rows<{ type: string; at: Date }>(
    `select type, created_at as at from events
     where company_id = $1 and type not in ('charge.pending', 'charge.processing')
     order by position, id`,
    [company.id],
  )
}
const typesOf = async (shop: Client) => (await eventsOf(shop)).map(({ type }) => type)

/** Runs the task anew, because it leaves a bank that did not answer alone for a while. */
const expire = () => expireChargesAtBanks.run(api.app)

async function callbacksProcessed({ bank }: Banked): Promise<void> {
  await bank.callbacksSent()
  await api.app.callbacks.process.idle()
}

/** Pays a charge without a callback. */
function payInSilence({ bank }: Banked, { brCode }: { brCode: string }, fields: object = {}) {
  bank.faults.nextCallback('lost')
  return bank.payer.pay(brCode, fields)
}

async function requireCleanAudit({ company }: Banked): Promise<void> {
  const { bank, faults } = await auditCompany(api.app, company.id, { whole: true })
  assert.deepEqual([bank, faults], ['asked', []])
}

test('readers see the end at once, its event waits until the bank was asked after the grace', async () => {
  const shop = await openBanked(api)
  const { id } = await charged(shop)
  api.clock.advance(LIFETIME_S)
  assert.deepEqual(await stateOf(shop, id), EXPIRED)
  api.clock.advance(GRACE_S - 1)
  await expire()
  assert.deepEqual(await typesOf(shop), [])
  assert.equal(shop.bank.seen('GET /cob/{txid}'), 0)
  api.clock.advance(1)
  await expire()
  assert.deepEqual(await typesOf(shop), ['charge.expired'])
  assert.equal(shop.bank.seen('GET /cob/{txid}'), 1)
  await expire()
  assert.deepEqual(await typesOf(shop), ['charge.expired'])
})

test('the task of other companies leaves charges at real banks to the one that asks the bank', async () => {
  const shop = await openBanked(api)
  const other = await api.client()
  const [paid] = [await charged(shop), await charged(shop), await charged(other)]
  payInSilence(shop, paid)
  api.clock.advance(LIFETIME_S + GRACE_S)
  await expireDueCharges.run(api.app)
  assert.deepEqual(await typesOf(shop), [])
  assert.deepEqual(await typesOf(other), ['charge.expired'])
  await expire()
  assert.deepEqual((await typesOf(shop)).sort(), ['charge.expired', 'charge.paid'])
  assert.deepEqual(await stateOf(shop, paid.id), PAID)
  assert.deepEqual(await typesOf(other), ['charge.expired'])
})

test('the operator is not alarmed by charges in their grace', async () => {
  const own = await startApi()
  const { company: _, ...shop } = await openBanked(own)
  assert.equal((await shop.post('/charge/pix', pixBody())).status, 201)
  const due_s = async () => {
    const { text } = await own.operator('/metrics')
    return Number(/^vintem_due_oldest_seconds\{work="expire charges"\} (\S+)$/m.exec(text)![1])
  }
  own.clock.advance(LIFETIME_S + GRACE_S)
  assert.equal(await due_s(), 0)
  own.clock.advance(70)
  assert.equal(await due_s(), 70)
})

test('a charge that the bank does not know has no grace', async () => {
  const shop = await openBanked(api)
  const link = { total: 700, customer: pixBody().customer, expiresIn: LIFETIME_S }
  assert.equal((await shop.post('/charge/payment-link', link)).status, 201)
  await charged(shop, { devMode: true })
  api.clock.advance(LIFETIME_S)
  await expire()
  assert.deepEqual(await typesOf(shop), ['charge.expired', 'charge.expired'])
})

test('a payment in time that we learn of in the grace is no expiry', async () => {
  const shop = await openBanked(api)
  const charge = await charged(shop)
  api.clock.advance(LIFETIME_S)
  shop.bank.faults.nextCallback('held')
  shop.bank.payer.pay(charge.brCode)
  api.clock.advance(60)
  shop.bank.callbacks.releaseHeld()
  await callbacksProcessed(shop)
  assert.deepEqual(await stateOf(shop, charge.id), PAID)
  api.clock.advance(GRACE_S)
  await expire()
  assert.deepEqual(await typesOf(shop), ['charge.paid'])
})

test('a callback after the expiry event about a payment in time completes the charge, once', async () => {
  const shop = await openBanked(api)
  const charge = await charged(shop)
  shop.bank.faults.nextCallback('held')
  const pix = shop.bank.payer.pay(charge.brCode)
  // The bank does not show it when it is asked.
  const { pix: received, charges } = shop.bank.state()
  received.delete(pix.endToEndId)
  charges.get(charge.id.slice(TXID_AT))!.status = 'ATIVA'
  api.clock.advance(LIFETIME_S + GRACE_S)
  await expire()
  assert.deepEqual(await typesOf(shop), ['charge.expired'])
  received.set(pix.endToEndId, pix)
  api.clock.advance(3600)
  shop.bank.callbacks.releaseHeld()
  await callbacksProcessed(shop)
  assert.deepEqual(await stateOf(shop, charge.id), PAID)
  assert.equal((await read(shop, charge.id)).paymentDate, pix.at.toISOString())
  await reconcileDue.run(api.app)
  await expire()
  const [expired, paid, ...more] = await eventsOf(shop)
  assert.deepEqual([expired!.type, paid!.type, more], ['charge.expired', 'charge.paid', []])
  assert.ok(paid!.at > expired!.at, 'who sorts by time ends with the payment')
  const { pending, unmatched } = await balancesOf(api, shop)
  assert.deepEqual([pending, unmatched], [1990, 0])
  await requireCleanAudit(shop)
})

test('a payment after the deadline is late, even before the event', async () => {
  const shop = await openBanked(api)
  const charge = await charged(shop)
  api.clock.advance(LIFETIME_S + 1)
  shop.bank.payer.pay(charge.brCode)
  await callbacksProcessed(shop)
  assert.deepEqual(await typesOf(shop), ['payment.unmatched'])
  api.clock.advance(GRACE_S)
  await expire()
  assert.deepEqual(await typesOf(shop), ['payment.unmatched', 'charge.expired'])
})

test('at a bank that shows no payments in the charge, its list is asked', async () => {
  const shop = await openBanked(api, { style: { pixInCob: false } })
  const [paid, unpaid] = [await charged(shop), await charged(shop)]
  payInSilence(shop, paid)
  api.clock.advance(LIFETIME_S + GRACE_S)
  await expire()
  assert.deepEqual(await stateOf(shop, paid.id), PAID)
  assert.deepEqual(await stateOf(shop, unpaid.id), EXPIRED)
  assert.deepEqual((await typesOf(shop)).sort(), ['charge.expired', 'charge.paid'])
  assert.equal(shop.bank.seen('GET /pix'), 1, 'an open charge needs no list')
})

test('a charge that the bank calls paid, and by nothing, is neither paid nor expired', async () => {
  const shop = await openBanked(api, { style: { pixInCob: false } })
  const [paid, ...unpaid] = [await charged(shop), await charged(shop), await charged(shop)]
  const pix = payInSilence(shop, paid!)
  const { pix: received } = shop.bank.state()
  received.delete(pix.endToEndId)
  api.clock.advance(LIFETIME_S + GRACE_S)
  await expire()
  assert.deepEqual(
    await typesOf(shop),
    unpaid.map(() => 'charge.expired'),
    'others do not wait',
  )
  received.set(pix.endToEndId, pix)
  api.clock.advance(60)
  await expire()
  assert.deepEqual((await typesOf(shop)).slice(unpaid.length), ['charge.paid'])
  assert.deepEqual(await stateOf(shop, paid!.id), PAID)
})

test('a bank that does not answer about charges is left alone for a while', async () => {
  const shop = await openBanked(api)
  const { id } = await charged(shop)
  api.clock.advance(LIFETIME_S + GRACE_S)
  const asked = () => shop.bank.seen('GET /cob/{txid}')
  shop.bank.faults.next('GET /cob/{txid}', '5xx')
  await expire()
  const before = asked()
  await expire()
  assert.equal(asked(), before, 'it is not asked again at once')
  assert.deepEqual(await typesOf(shop), [])
  api.clock.advance(60)
  await expire()
  assert.deepEqual(await stateOf(shop, id), EXPIRED)
  assert.deepEqual(await typesOf(shop), ['charge.expired'])
})

const order = pixBody({ externalId: 'pedido 1' })

test('the same request after the deadline finds out first whether the charge was paid', async () => {
  const shop = await openBanked(api)
  const first = await charged(shop, order)
  payInSilence(shop, first)
  api.clock.advance(LIFETIME_S + 1)
  const second = await charged(shop, order)
  assert.notEqual(second.id, first.id)
  assert.deepEqual(await stateOf(shop, first.id), PAID)
  api.clock.advance(GRACE_S)
  await expire()
  assert.deepEqual(await typesOf(shop), ['charge.paid'])
})

test('the same request in the grace makes another charge, and the first expires in its time', async () => {
  const shop = await openBanked(api)
  const first = await charged(shop, order)
  api.clock.advance(LIFETIME_S + 1)
  shop.bank.faults.next('GET /cob/{txid}', '5xx')
  const second = await charged(shop, order)
  assert.equal((await charged(shop, order)).id, second.id)
  assert.deepEqual(await typesOf(shop), [])
  shop.bank.faults.nextCallback('held')
  shop.bank.payer.pay(first.brCode, { at: new Date(api.clock.now().getTime() - 60_000) })
  shop.bank.callbacks.releaseHeld()
  await callbacksProcessed(shop)
  assert.deepEqual(await stateOf(shop, first.id), PAID)
  api.clock.advance(LIFETIME_S + GRACE_S)
  await expire()
  assert.deepEqual(await stateOf(shop, second.id), EXPIRED)
  assert.deepEqual(await typesOf(shop), ['charge.paid', 'charge.expired'])
  const found = (await shop.get('/charge?externalId=pedido%201')).body.data
  assert.equal(found.length, 2, 'both are found by it')
})
