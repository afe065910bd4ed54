import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Vintem } from '../../packages/client/src/index.ts'
import { emptyDatabase } from '../support/database.ts'
import { freePort } from '../support/process.ts'
import { install } from './installed.ts'
import { Shop } from './medusa-shop.ts'
import { startSandbox } from './sandbox.ts'

const { folder, missing } = install('medusa')

test('a Medusa shop takes Pix', { skip: missing }, async (t) => {
  const manifest = join(folder, 'node_modules/@medusajs/medusa/package.json')
  const { version } = JSON.parse(readFileSync(manifest, 'utf8'))
  const { url, key } = await startSandbox()
  const vintem = new Vintem({ url, key })
  const port = await freePort()
  const webhook = await vintem.webhooks.create({
    name: 'shop',
    url: `http://127.0.0.1:${port}/hooks/payment/vintem_pix`,
    events: ['charge.paid'],
  })
  const shop = new Shop(folder, port, {
    DATABASE_URL: await emptyDatabase(),
    VINTEM_URL: url,
    VINTEM_KEY: key,
    VINTEM_WEBHOOK_SECRET: webhook.secret,
  })
  await shop.install()
  await shop.start()
  await shop.furnish()

  await t.test('a cart is paid by its code, and becomes a captured order', async () => {
    const cart = await shop.fillCart(2)
    const { data } = await shop.beginPayment(cart)
    assert.equal(data.amount, 3980)
    assert.match(data.brCode, /^000201/)
    assert.match(data.qrCode, /^data:image\/png;base64,/)
    assert.ok(Date.parse(data.expiresAt) > Date.now())
    await vintem.charges.simulatePayment(data.chargeId)
    const order = await shop.orderOf(cart)
    assert.equal(order.total, 39.8)
    assert.equal(order.payment_status, 'captured')
  })
  t.diagnostic(`ECOSYSTEM medusa ${version}: shown`)
})
