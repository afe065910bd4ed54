import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Code } from '../../packages/shop/src/charge.ts'
import { until } from '../support/until.ts'
import { install } from './installed.ts'
import { openSite } from './shop.ts'
import { type Order, Shop } from './vendure-shop.ts'

const MINUTES = 60

const { folder, missing } = install('vendure')

test('a Vendure shop takes Pix', { skip: missing }, async (t) => {
  const manifest = join(folder, 'node_modules/@vendure/core/package.json')
  const { version } = JSON.parse(readFileSync(manifest, 'utf8'))
  const { site, vintem, secret, pay, listen, post } = await openSite(folder, '/payments/vintem')
  const shop = new Shop(site)
  const statusOf = async ({ chargeId }: Code) => (await vintem.charges.get(chargeId)).status
  const statesOf = ({ state, payments }: Order) => [state, ...payments.map(({ state }) => state)]

  await shop.install()
  await t.test('its types are those of Vendure', () => shop.checkTypes())
  await shop.start()
  await shop.furnish()
  const orders: Order[] = []
  let shown = 0
  const show = (name: string, run: () => Promise<void>) =>
    t.test(name, async () => {
      await run()
      shown += 1
    })

  await show('an order is paid by its code, and a callback settles it', async () => {
    const buyer = await shop.fillCart(2)
    const code = await shop.beginPayment(buyer)
    const charge = await vintem.charges.get(code.chargeId)
    assert.deepEqual([code.amount, charge.total, charge.externalId], [3980, 3980, buyer.order.code])
    assert.match(code.brCode, /^000201/)
    assert.match(code.qrCode, /^data:image\/png;base64,/)
    assert.ok(Date.parse(code.expiresAt) > Date.now())
    assert.equal((await shop.orderOf(buyer)).state, 'ArrangingPayment')
    await pay(code)
    const order = await shop.paidOrderOf(buyer)
    assert.deepEqual([order.active, order.totalWithTax], [false, 3980])
    assert.deepEqual(
      order.payments.map(({ state, amount }) => [state, amount]),
      [['Settled', 3980]],
    )
    assert.equal(await post(code, secret), 200)
    assert.deepEqual(await shop.orderOf(buyer), order)
    orders.push(order)
  })

  await show('the operator refunds a part and then the rest, and no more', async () => {
    const buyer = await shop.fillCart(2)
    const code = await shop.beginPayment(buyer)
    await pay(code)
    const [payment] = (await shop.paidOrderOf(buyer)).payments
    const first = await shop.refund(payment!, 1000)
    assert.equal((await vintem.charges.get(code.chargeId)).refunded, 1000)
    const second = await shop.refund(payment!, 1000)
    const rest = await shop.refund(payment!, 1980)
    await assert.rejects(shop.refund(payment!, 1), /REFUND_AMOUNT_ERROR/)
    const made = await vintem.refunds.list(code.chargeId)
    assert.deepEqual(
      made.map(({ id, value }) => [id, value]).sort(),
      [first, second, rest].map(({ transactionId, total }) => [transactionId, total]).sort(),
    )
  })

  await show('a refund that Vintém refuses has failed', async () => {
    const buyer = await shop.fillCart()
    const code = await shop.beginPayment(buyer)
    await pay(code)
    const [payment] = (await shop.paidOrderOf(buyer)).payments
    await vintem.refunds.create(code.chargeId, { value: 1990 })
    assert.equal((await shop.refund(payment!, 1990)).state, 'Failed')
  })

  await show('a webhook that is forged, or of an unpaid charge, changes nothing', async () => {
    const buyer = await shop.fillCart()
    const code = await shop.beginPayment(buyer)
    assert.equal(await post(code, `whsec_${Buffer.alloc(32, 1).toString('base64')}`), 401)
    assert.deepEqual(statesOf(await shop.orderOf(buyer)), ['ArrangingPayment', 'Pending'])
    assert.equal(await post(code, secret), 200)
    const order = await shop.orderOf(buyer)
    assert.deepEqual(statesOf(order), ['ArrangingPayment', 'Pending'])
    await assert.rejects(shop.settle(order.payments[0]!), /is not paid/)
  })

  await show('the code of an order that changes, or that asks again, is canceled', async () => {
    const buyer = await shop.fillCart()
    const first = await shop.beginPayment(buyer)
    await shop.moveTo(buyer, 'AddingItems')
    assert.equal(await statusOf(first), 'CANCELED')
    await shop.addToCart(buyer, 2)
    await shop.moveTo(buyer, 'ArrangingPayment')
    const second = await shop.beginPayment(buyer)
    const third = await shop.beginPayment(buyer)
    assert.deepEqual([first.amount, second.amount, third.amount], [1990, 5970, 5970])
    assert.deepEqual(await Promise.all([second, third].map(statusOf)), ['CANCELED', 'OPEN'])
    await pay(third)
    assert.deepEqual(statesOf(await shop.paidOrderOf(buyer)), [
      'PaymentSettled',
      'Cancelled',
      'Cancelled',
      'Settled',
    ])
  })

  await show('the code of an order that is paid in another way is canceled', async () => {
    const buyer = await shop.fillCart()
    const code = await shop.beginPayment(buyer)
    await shop.payInCash(buyer)
    assert.equal(await statusOf(code), 'CANCELED')
    assert.deepEqual(statesOf(await shop.orderOf(buyer)), [
      'PaymentSettled',
      'Cancelled',
      'Settled',
    ])
  })

  await show('two requests for a code at once leave one that can be paid', async () => {
    const buyer = await shop.fillCart()
    await Promise.all([shop.beginPayment(buyer), shop.beginPayment(buyer)])
    const { payments } = await shop.orderOf(buyer)
    assert.deepEqual(payments.map(({ state }) => state).sort(), ['Cancelled', 'Pending'])
    const codes = payments.map(({ metadata }) => metadata.public)
    assert.deepEqual((await Promise.all(codes.map(statusOf))).sort(), ['CANCELED', 'OPEN'])
  })

  await show('the operator cancels a code, and not what is paid', async () => {
    const buyer = await shop.fillCart()
    const code = await shop.beginPayment(buyer)
    const [payment] = (await shop.orderOf(buyer)).payments
    assert.equal((await shop.cancel(payment!)).state, 'Cancelled')
    assert.equal(await statusOf(code), 'CANCELED')
    await assert.rejects(shop.cancel(orders[0]!.payments[0]!), /Refund it instead/)
  })

  await show('an order that is paid can neither change nor be paid twice', async () => {
    await listen(false)
    const buyer = await shop.fillCart()
    const code = await shop.beginPayment(buyer)
    await pay(code)
    await assert.rejects(shop.moveTo(buyer, 'AddingItems'), /is paid/)
    await assert.rejects(shop.beginPayment(buyer), /is paid/)
    const order = await shop.orderOf(buyer)
    assert.deepEqual(statesOf(order).slice(0, 2), ['ArrangingPayment', 'Pending'])
    await shop.settle(order.payments[0]!)
    assert.equal((await shop.orderOf(buyer)).state, 'PaymentSettled')
    await listen(true)
  })

  await show('an order in another currency than BRL is refused', async () => {
    const buyer = await shop.fillCart(1, 'USD')
    await assert.rejects(shop.beginPayment(buyer), /paid in BRL, not in USD/)
  })

  await show('a payment of which no webhook tells is found, also after a restart', async () => {
    const buyer = await shop.fillCart(3)
    const code = await shop.beginPayment(buyer)
    const before = await shop.orderOf({ ...buyer, order: orders[0]! })
    await shop.stop()
    await listen(false)
    await pay(code)
    await shop.start({ pulls: true })
    assert.equal((await shop.paidOrderOf(buyer)).payments[0]!.amount, 5970)
    // The task has looked at all other payments, too.
    const [last] = await vintem.events.list({ type: 'charge.paid', order: 'newest', limit: 1 })
    await until('the task is through', async () => {
      return (await shop.readProgress())?.after === last!.id
    })
    assert.deepEqual((await shop.readProgress())!.failed, [])
    assert.deepEqual(await shop.orderOf({ ...buyer, order: before }), before)
  })

  await show(
    'a code that has expired is not paid, and a late payment can be accepted',
    async () => {
      const buyer = await shop.fillCart()
      const code = await shop.beginPayment(buyer)
      await vintem.sandbox.moveClock({ advance: 31 * MINUTES })
      await until('the charge expires', async () => (await statusOf(code)) === 'EXPIRED')
      await pay(code)
      const [late] = await vintem.payments.listUnmatched({ status: 'UNMATCHED' })
      assert.equal(late!.chargeId, code.chargeId)
      assert.deepEqual(statesOf(await shop.orderOf(buyer)), ['ArrangingPayment', 'Pending'])
      await listen(true)
      await vintem.payments.accept(late!.endToEndId, { chargeId: code.chargeId })
      assert.equal((await shop.paidOrderOf(buyer)).payments[0]!.state, 'Settled')
    },
  )

  t.diagnostic(
    `ECOSYSTEM Vendure ${version}: ${shown} situations of orders, payments and refunds shown`,
  )
})
