import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../support/until.ts'
import { install } from './installed.ts'
import { type Order, type Session, Shop } from './medusa-shop.ts'
import { openSite } from './shop.ts'

const { folder, missing } = install('medusa')

const MINUTES = 60

test('a Medusa shop takes Pix', { skip: missing }, async (t) => {
  const manifest = join(folder, 'node_modules/@medusajs/medusa/package.json')
  const { version } = JSON.parse(readFileSync(manifest, 'utf8'))
  const { site, vintem, secret, pay, listen, post } = await openSite(
    folder,
    '/hooks/payment/vintem_pix',
  )
  const shop = new Shop(site)
  const chargeOf = ({ data }: Session) => vintem.charges.get(data.chargeId)
  const written = (text: string) =>
    until(`the shop writes: ${text}`, () => shop.output().includes(text))

  await shop.install()
  await t.test('its types are those of Medusa', () => shop.checkTypes())
  await shop.start()
  await shop.furnish()
  const orders: Order[] = []
  let shown = 0
  const show = (name: string, run: () => Promise<void>) =>
    t.test(name, async () => {
      await run()
      shown += 1
    })

  await show('a cart is paid by its code, and a callback makes it a captured order', async () => {
    const cart = await shop.fillCart(2)
    const session = await shop.beginPayment(cart)
    const { amount, brCode, qrCode, expiresAt } = session.data
    assert.deepEqual([session.amount, amount, (await chargeOf(session)).total], [39.8, 3980, 3980])
    assert.match(brCode, /^000201/)
    assert.match(qrCode, /^data:image\/png;base64,/)
    assert.ok(Date.parse(expiresAt) > Date.now())
    await pay(session.data)
    const order = await shop.orderOf(cart)
    assert.deepEqual([order.total, order.payment_status], [39.8, 'captured'])
    assert.equal(order.summary.paid_total, 39.8)
    orders.push(order)
  })

  await show('the operator refunds a part and then the rest, and no more', async () => {
    const cart = await shop.fillCart(2)
    const session = await shop.beginPayment(cart)
    await pay(session.data)
    const order = await shop.orderOf(cart)
    await shop.refund(order, 10)
    assert.equal((await chargeOf(session)).refunded, 1000)
    await shop.refund(order, 29.8)
    await assert.rejects(shop.refund(order, 1), /refund more than the captured amount/)
    const refunds = await vintem.refunds.list(session.data.chargeId)
    assert.deepEqual(refunds.map(({ value }) => value).sort(), [1000, 2980])
    assert.equal((await shop.findOrder(cart))?.payment_status, 'refunded')
  })

  await show('a webhook that is forged, or of an unpaid charge, changes nothing', async () => {
    const cart = await shop.fillCart()
    const session = await shop.beginPayment(cart)
    assert.equal(await post(session.data, `whsec_${Buffer.alloc(32, 1).toString('base64')}`), 200)
    await written('a webhook was refused')
    assert.equal(await post(session.data, secret), 200)
    await written(`${session.data.chargeId} is not paid`)
    await assert.rejects(shop.complete(cart), /was not authorized/)
    assert.equal(await shop.findOrder(cart), null)
  })

  await show('the code of a cart that changes, or that asks again, is canceled', async () => {
    const cart = await shop.fillCart()
    const first = await shop.beginPayment(cart)
    await shop.addToCart(cart, 2)
    const second = await shop.beginPayment(cart)
    const third = await shop.beginPayment(cart)
    assert.deepEqual([first.data.amount, second.data.amount, third.data.amount], [1990, 5970, 5970])
    const charges = await Promise.all([first, second, third].map(chargeOf))
    assert.deepEqual(
      charges.map(({ status }) => status),
      ['CANCELED', 'CANCELED', 'OPEN'],
    )
    await pay(third.data)
    assert.equal((await shop.orderOf(cart)).summary.paid_total, 59.7)
  })

  await show('a cart that is paid can neither change nor be paid twice', async () => {
    await listen(false)
    const cart = await shop.fillCart()
    const session = await shop.beginPayment(cart)
    await pay(session.data)
    await assert.rejects(shop.addToCart(cart, 2), /Could not delete all payment sessions/)
    await assert.rejects(shop.beginPayment(cart), /Could not delete all payment sessions/)
    const open = await vintem.charges.list({ status: 'OPEN' })
    assert.deepEqual(
      open.filter(({ total }) => total === 5970),
      [],
    )
    await listen(true)
    assert.equal((await shop.complete(cart)).type, 'order')
    const order = await shop.orderOf(cart)
    assert.deepEqual([order.total, order.summary.paid_total], [19.9, 19.9])
  })

  await show('a payment for what cannot be an order goes back, and a new one is made', async () => {
    const cart = await shop.fillCartWithoutShipping()
    const session = await shop.beginPayment(cart)
    await pay(session.data)
    await until('it goes back', async () => (await chargeOf(session)).refunded === 1990)
    assert.equal(await shop.findOrder(cart), null)
    // Medusa begins a new session by itself.
    const next = await until('there is another code', async () => {
      const sessions = await shop.sessionsOf(cart)
      return sessions.find(({ data }) => data.chargeId !== session.data.chargeId) ?? null
    })
    assert.equal((await chargeOf(next)).status, 'OPEN')
  })

  await show('a session in another currency than BRL is refused', async () => {
    await assert.rejects(shop.beginPayment(await shop.fillCartAbroad()), /400 .*BRL/)
  })

  await show('a payment of which no webhook tells is found, also after a restart', async () => {
    const cart = await shop.fillCart(3)
    const session = await shop.beginPayment(cart)
    await shop.stop()
    await listen(false)
    await pay(session.data)
    await shop.start(['medusa-payment-vintem'])
    const order = await shop.orderOf(cart)
    assert.deepEqual([order.payment_status, order.summary.paid_total], ['captured', 59.7])
    // The job has given the shop all other payments once more.
    const [last] = await vintem.events.list({ type: 'charge.paid', order: 'newest', limit: 1 })
    await until('the job is through', async () => {
      return (await shop.readProgress())?.after === last!.id
    })
    assert.deepEqual((await shop.readProgress())!.failed, [])
    for (const before of orders) assert.deepEqual(await shop.findOrder(before), before)
  })

  await show(
    'a code that has expired is not paid, and a late payment can be accepted',
    async () => {
      const cart = await shop.fillCart()
      const session = await shop.beginPayment(cart)
      await vintem.sandbox.moveClock({ advance: 31 * MINUTES })
      await until('the charge expires', async () => (await chargeOf(session)).status === 'EXPIRED')
      await assert.rejects(shop.complete(cart), /was not authorized/)
      await pay(session.data)
      const [late] = await vintem.payments.listUnmatched({ status: 'UNMATCHED' })
      assert.equal(late!.chargeId, session.data.chargeId)
      assert.equal(await shop.findOrder(cart), null)
      await listen(true)
      await vintem.payments.accept(late!.endToEndId, { chargeId: session.data.chargeId })
      assert.equal((await shop.orderOf(cart)).payment_status, 'captured')
    },
  )

  t.diagnostic(
    `ECOSYSTEM Medusa ${version}: ${shown} situations of carts, payments and refunds shown`,
  )
})
