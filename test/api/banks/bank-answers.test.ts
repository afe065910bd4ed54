import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditCompany } from '../../../src/core/audits/commands.ts'
import { reconcileDue } from '../../../src/worker/due.ts'
import { startApi } from '../../support/api.ts'
import { charged, openBanked, read } from '../../support/bank.ts'

const api = await startApi()

test('a gateway that answers 404 for the bank lets no booked money count as missing', async () => {
  const shop = await openBanked(api)
  const { id, brCode } = await charged(shop)
  shop.bank.payer.pay(brCode)
  await shop.bank.callbacksSent()
  await api.app.callbacks.process.idle()
  assert.equal((await read(shop, id)).status, 'COMPLETED')
  const audit = async () => {
    const { bank, faults } = await auditCompany(api.app, shop.company.id, { whole: true })
    return [bank, faults]
  }
  shop.bank.faults.next('*', 'gateway 404', Number.POSITIVE_INFINITY)
  assert.deepEqual(await audit(), ['silent', []])
  shop.bank.faults.clear()
  assert.deepEqual(await audit(), ['asked', []])
})

test('a payment that is not understood does not hold up the others', async () => {
  const shop = await openBanked(api, { callbacks: false })
  const [one, other] = [await charged(shop), await charged(shop)]
  const { endToEndId } = shop.bank.payer.pay(one.brCode)
  shop.bank.payer.pay(other.brCode)
  const statuses = async () => {
    api.clock.advance(60)
    await reconcileDue.run(api.app)
    return [(await read(shop, one.id)).status, (await read(shop, other.id)).status]
  }
  shop.bank.style({ garbled: [endToEndId] })
  assert.deepEqual(await statuses(), ['OPEN', 'COMPLETED'])
  shop.bank.style({ garbled: [] })
  assert.deepEqual(await statuses(), ['COMPLETED', 'COMPLETED'])
})

test('a payment of nothing, which cannot be booked, does not hold up the others', async () => {
  const shop = await openBanked(api, { callbacks: false })
  const [one, other] = [await charged(shop), await charged(shop)]
  shop.bank.payer.pay(one.brCode).amount = 0
  shop.bank.payer.pay(other.brCode)
  api.clock.advance(60)
  await reconcileDue.run(api.app)
  assert.equal((await read(shop, one.id)).status, 'OPEN')
  assert.equal((await read(shop, other.id)).status, 'COMPLETED')
})

test('if the bank refuses to remove a charge, it stays open, and the answer says why', async () => {
  const shop = await openBanked(api)
  const { id } = await charged(shop, { expiresIn: 86_400 })
  shop.bank.grant(['cob.read', 'pix.read'])
  api.clock.advance(3600)
  const { status, body } = await shop.post(`/charge/${id}/cancel`)
  assert.deepEqual([status, body.errors[0].code], [422, 'provider_rejected'])
  assert.match(body.errors[0].description, /^The bank refuses the order: /)
  assert.equal((await read(shop, id)).status, 'OPEN')
})
