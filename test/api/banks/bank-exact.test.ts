import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditCompany } from '../../../src/core/audits/commands.ts'
import { reconcileDue, releaseDueCharges } from '../../../src/worker/due.ts'
import { eventsOf, startApi } from '../../support/api.ts'
import { type Banked, charged, openBanked, read } from '../../support/bank.ts'
import { balancesOf, makeCode, movementsOf } from '../../support/payments.ts'

const api = await startApi()

const PAYER = { extras: { pagador: { nome: 'Maria da Silva', cpf: '52998224725' } } }
const MASKED = { extras: { pagador: { nome: 'Maria da Silva', cpf: '***.982.247-**' } } }

async function openShop(): Promise<Banked> {
  const shop = await openBanked(api)
  assert.equal((await shop.put('/company', { settlesExactPayments: true })).status, 200)
  return shop
}

const typesOf = async ({ company }: Banked) =>
  (await eventsOf(api, company.id))
    .map(({ type }) => type)
    .filter((type) => !/pending|processing/.test(type))

/** Asks all banks for what they have received. */
async function listReceived(): Promise<void> {
  api.clock.advance(61)
  await reconcileDue.run(api.app)
}

const unmatchedOf = async (shop: Banked, status = 'UNMATCHED') =>
  (await shop.get(`/payment/unmatched?status=${status}`)).body.data

async function requireCleanAudit({ company }: Banked): Promise<void> {
  const { bank, faults } = await auditCompany(api.app, company.id, { whole: true })
  assert.deepEqual([bank, faults], ['asked', []])
}

test('money that a bank lists without a txid settles the charge that it fits, once', async () => {
  const shop = await openShop()
  const { id } = await charged(shop)
  const { endToEndId, at } = shop.bank.payer.payKey(shop.company.pixKey, 1990, PAYER)
  await listReceived()
  await listReceived()
  const charge = await read(shop, id)
  assert.deepEqual(
    [charge.paymentStatus, charge.endToEndId, charge.paymentDate],
    ['PAID', endToEndId, at.toISOString()],
  )
  assert.deepEqual(await unmatchedOf(shop), [])
  const [accepted] = await unmatchedOf(shop, 'ACCEPTED')
  assert.deepEqual(accepted.settled, { chargeId: id, amount: 1990 })
  await releaseDueCharges.run(api.app)
  assert.deepEqual(await movementsOf(api, shop), [
    ['PAYMENT_UNMATCHED', endToEndId, 'bank>unmatched', 1990],
    ['CHARGE_PAID', endToEndId, 'unmatched>pending', 1990],
    ['CHARGE_SETTLED', endToEndId, 'pending>available', 1990],
  ])
  assert.deepEqual(await typesOf(shop), ['charge.paid', 'charge.received'])
  await requireCleanAudit(shop)
})

test('a tax id that the bank masks, and another amount, wait for a decision', async () => {
  const shop = await openShop()
  const { id } = await charged(shop)
  shop.bank.payer.payKey(shop.company.pixKey, 1990, MASKED)
  shop.bank.payer.payKey(shop.company.pixKey, 1991, PAYER)
  await listReceived()
  assert.equal((await unmatchedOf(shop)).length, 2)
  assert.equal((await read(shop, id)).paymentStatus, 'PROCESSING')
  await requireCleanAudit(shop)
})

test('a payment that settled a charge pays no other if its bank names one later', async () => {
  const shop = await openShop()
  const [one, other] = [await charged(shop), await charged(shop, { amount: 2990 })]
  shop.bank.faults.nextCallback('lost')
  const pix = shop.bank.payer.pay(other.brCode, { amount: 1990, ...PAYER })
  const { txid } = pix
  pix.txid = null
  await listReceived()
  assert.equal((await read(shop, one.id)).endToEndId, pix.endToEndId)
  pix.txid = txid
  await listReceived()
  assert.equal((await read(shop, other.id)).paymentStatus, 'PROCESSING')
  assert.equal((await balancesOf(api, shop)).unmatched, 0)
  assert.deepEqual(await typesOf(shop), ['charge.paid'])
})

test('a charge that is paid by its code while the other payment is listed is paid once', async () => {
  const shop = await openShop()
  const { id, brCode } = await charged(shop)
  shop.bank.payer.payKey(shop.company.pixKey, 1990, PAYER)
  api.clock.advance(61)
  shop.bank.payer.pay(brCode)
  await Promise.all([reconcileDue.run(api.app), reconcileDue.run(api.app)])
  await listReceived()
  assert.equal((await read(shop, id)).paymentStatus, 'PAID')
  assert.equal((await unmatchedOf(shop)).length, 1)
  assert.equal((await typesOf(shop)).filter((type) => type === 'charge.paid').length, 1)
  await requireCleanAudit(shop)
})

test('a sale by a static code has the payer whom the bank names', async () => {
  const shop = await openShop()
  const { brCode } = await makeCode(shop, 250)
  shop.bank.payer.pay(brCode, PAYER)
  await listReceived()
  shop.bank.payer.pay(brCode, MASKED)
  await listReceived()
  const { body } = await shop.get('/charge?kind=STATIC')
  assert.deepEqual(
    body.data.map(({ customer }: { customer?: { name: string } }) => customer?.name),
    [undefined, 'Maria da Silva'],
  )
  assert.equal((await shop.get('/client')).body.data.length, 1)
  await requireCleanAudit(shop)
})
