import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditCompany } from '../../../src/core/audits/commands.ts'
import { compareWithBank } from '../../../src/core/reconciliation/compare.ts'
import { expireChargesAtBanks, reconcileDue, releaseDueCharges } from '../../../src/worker/due.ts'
import { eventsOf, startApi } from '../../support/api.ts'
import { type Banked, charged, openBanked, read } from '../../support/bank.ts'
import { balancesOf, makeCode, movementsOf } from '../../support/payments.ts'

const api = await startApi()

const typesOf = async ({ company }: Banked) =>
  (await eventsOf(api, company.id))
    .map(({ type }) => type)
    .filter((type) => !/pending|processing/.test(type))

/** Asks all banks for what they have received. */
async function listReceived(): Promise<void> {
  api.clock.advance(61)
  await reconcileDue.run(api.app)
}

/** A payment that its bank lists without a txid, and that is booked as unmatched. */
async function payUnnamed(shop: Banked, brCode: string, fields: object = {}) {
  shop.bank.faults.nextCallback('lost')
  const pix = shop.bank.payer.pay(brCode, fields)
  const { txid } = pix
  pix.txid = null
  await listReceived()
  const [payment] = await unmatchedOf(shop)
  assert.equal(payment.reason, 'UNKNOWN')
  return { pix, name: () => Object.assign(pix, { txid }) }
}

const unmatchedOf = async (shop: Banked, status = 'UNMATCHED') =>
  (await shop.get(`/payment/unmatched?status=${status}`)).body.data

async function requireCleanAudit({ company }: Banked): Promise<void> {
  const { bank, faults } = await auditCompany(api.app, company.id, { whole: true })
  assert.deepEqual([bank, faults], ['asked', []])
}

test('a payment whose txid the bank lists later is matched then, once', async () => {
  const shop = await openBanked(api)
  const { id, brCode } = await charged(shop)
  const { pix, name } = await payUnnamed(shop, brCode)
  const { endToEndId } = pix
  await requireCleanAudit(shop)
  name()
  await listReceived()
  assert.deepEqual(await unmatchedOf(shop), [])
  const charge = await read(shop, id)
  assert.deepEqual(
    [charge.paymentStatus, charge.endToEndId, charge.paymentDate],
    ['PAID', endToEndId, pix.at.toISOString()],
  )
  await listReceived()
  await releaseDueCharges.run(api.app)
  assert.deepEqual(await typesOf(shop), ['payment.unmatched', 'charge.paid', 'charge.received'])
  assert.deepEqual(await movementsOf(api, shop), [
    ['PAYMENT_UNMATCHED', endToEndId, 'bank>unmatched', 1990],
    ['CHARGE_PAID', endToEndId, 'unmatched>pending', 1990],
    ['CHARGE_SETTLED', endToEndId, 'pending>available', 1990],
  ])
  await requireCleanAudit(shop)
})

test('a bank that names the payment only with its charge is asked before the charge expires', async () => {
  const shop = await openBanked(api)
  const { id, brCode } = await charged(shop)
  const { name } = await payUnnamed(shop, brCode)
  api.clock.advance(720)
  name()
  await expireChargesAtBanks.run(api.app)
  assert.equal((await read(shop, id)).paymentStatus, 'PAID')
  assert.deepEqual(await typesOf(shop), ['payment.unmatched', 'charge.paid'])
  await requireCleanAudit(shop)
})

test('a static code that is named later makes its sale', async () => {
  const shop = await openBanked(api)
  const { id, brCode } = await makeCode(shop, 700)
  const { name } = await payUnnamed(shop, brCode)
  name()
  await listReceived()
  const [sale] = (await shop.get('/charge?kind=STATIC')).body.data
  assert.deepEqual([sale.correlationID, sale.paymentStatus], [id, 'PAID'])
  assert.equal((await balancesOf(api, shop)).unmatched, 0)
  await requireCleanAudit(shop)
})

test('a payment that names a charge it cannot pay says so later, without a second event', async () => {
  const shop = await openBanked(api)
  const { id, brCode } = await charged(shop)
  const { name } = await payUnnamed(shop, brCode, { amount: 333 })
  name()
  await listReceived()
  const [payment] = await unmatchedOf(shop)
  assert.deepEqual([payment.reason, payment.chargeId, payment.amount], ['WRONG_AMOUNT', id, 333])
  await listReceived()
  assert.deepEqual(await typesOf(shop), ['payment.unmatched'])
  await requireCleanAudit(shop)
  const { endToEndId } = payment
  assert.equal((await shop.post(`/payment/unmatched/${endToEndId}/accept`)).status, 200)
  await requireCleanAudit(shop)
})

test('a payment that the merchant has decided about stays so', async () => {
  const shop = await openBanked(api)
  const { id, brCode } = await charged(shop, { expiresIn: 7200 })
  const { pix, name } = await payUnnamed(shop, brCode)
  const accepted = await shop.post(`/payment/unmatched/${pix.endToEndId}/accept`)
  assert.equal(accepted.status, 200, accepted.text)
  name()
  await listReceived()
  assert.equal((await read(shop, id)).status, 'OPEN')
  assert.equal((await unmatchedOf(shop, 'ACCEPTED')).length, 1)
  assert.deepEqual((await balancesOf(api, shop)).available, 1990)
  await requireCleanAudit(shop)
})

test('a payment of which the bank has returned a part stays as it is when it is named', async () => {
  const shop = await openBanked(api)
  const { id, brCode } = await charged(shop)
  const { pix, name } = await payUnnamed(shop, brCode)
  const { endToEndId } = pix
  shop.bank.returnByItself(endToEndId, { amount: 500 })
  await listReceived()
  assert.equal((await balancesOf(api, shop)).unmatched, 1490)
  name()
  const report = () => shop.bank.callbacks.forge(`${shop.callback}/pix`, { pix: [{ endToEndId }] })
  const requireSame = async () => {
    const [payment, ...others] = await unmatchedOf(shop)
    assert.deepEqual([payment.endToEndId, payment.reason, others], [endToEndId, 'UNKNOWN', []])
    assert.deepEqual([payment.amount, payment.returned], [1990, 500])
    assert.equal((await read(shop, id)).status, status)
    assert.deepEqual(await movementsOf(api, shop), movements)
    await requireCleanAudit(shop)
  }
  let status = 'OPEN'
  const movements = await movementsOf(api, shop)
  assert.deepEqual(
    movements.map(([kind, , accounts, amount]) => [kind, accounts, amount]),
    [
      ['PAYMENT_UNMATCHED', 'bank>unmatched', 1990],
      ['BANK_RETURN', 'unmatched>bank', 500],
    ],
  )
  await report()
  await api.app.callbacks.process.idle()
  await listReceived()
  await requireSame()
  // Its bank is asked before the charge expires, and by the operator.
  api.clock.advance(720)
  await expireChargesAtBanks.run(api.app)
  status = 'EXPIRED'
  await requireSame()
  const period = { from: new Date(pix.at.getTime() - 1000), to: api.clock.now() }
  await compareWithBank(api.app, await shop.fresh(), period, { recordMissing: true })
  await requireSame()
  assert.deepEqual(await typesOf(shop), [
    'payment.unmatched',
    'dispute.lost',
    'payment.returned',
    'charge.expired',
  ])
  // The merchant keeps what is left of it.
  assert.equal((await shop.post(`/payment/unmatched/${endToEndId}/accept`)).status, 200)
  assert.equal((await balancesOf(api, shop)).available, 1490)
  await requireCleanAudit(shop)
})

test('a payment that is named and partly returned at once is matched, and then returned', async () => {
  const shop = await openBanked(api)
  const { id, brCode } = await charged(shop)
  const { pix, name } = await payUnnamed(shop, brCode)
  name()
  shop.bank.faults.nextCallback('lost')
  shop.bank.returnByItself(pix.endToEndId, { amount: 500 })
  await listReceived()
  const { paymentStatus, refunded } = await read(shop, id)
  assert.deepEqual([paymentStatus, refunded], ['PAID', 500])
  const { pending, unmatched } = await balancesOf(api, shop)
  assert.deepEqual([pending, unmatched], [1490, 0])
  await requireCleanAudit(shop)
})

test('what the bank names after days is matched by vintem bank reconcile --settle', async () => {
  const shop = await openBanked(api)
  const { id, brCode } = await charged(shop, { expiresIn: 30 * 86_400 })
  const { pix, name } = await payUnnamed(shop, brCode)
  api.clock.advance(5 * 86_400)
  await reconcileDue.run(api.app)
  name()
  await listReceived()
  assert.equal((await read(shop, id)).status, 'OPEN', 'it lies too far back')
  const period = { from: new Date(pix.at.getTime() - 1000), to: api.clock.now() }
  const compare = async (recordMissing: boolean) =>
    compareWithBank(api.app, await shop.fresh(), period, { recordMissing })
  const { unmatched } = await compare(false)
  assert.match(unmatched[0]!.about, /UNKNOWN/)
  const settled = await compare(true)
  assert.deepEqual([settled.recorded, settled.matched.count, settled.unmatched], [1, 1, []])
  assert.equal((await read(shop, id)).paymentStatus, 'PAID')
})

for (const txid of ['txid', 'txId'] as const) {
  test(`a ${txid} in capitals names its charge`, async () => {
    const shop = await openBanked(api, { style: { txid } })
    const [called, listed] = [await charged(shop), await charged(shop)]
    const pay = (brCode: string) => {
      const pix = shop.bank.payer.pay(brCode)
      pix.txid = pix.txid!.toUpperCase()
    }
    pay(called.brCode)
    await shop.bank.callbacksSent()
    await api.app.callbacks.process.idle()
    assert.equal((await read(shop, called.id)).paymentStatus, 'PAID')
    shop.bank.faults.nextCallback('lost')
    pay(listed.brCode)
    await listReceived()
    assert.equal((await read(shop, listed.id)).paymentStatus, 'PAID')
    await requireCleanAudit(shop)
  })
}
