import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reconcileDue } from '../../../src/worker/due.ts'
import { ITAU_CLOCK } from '../../bank/style.ts'
import { startApi } from '../../support/api.ts'
import { charged, openBanked, read } from '../../support/bank.ts'

const api = await startApi()

test('a payment without a callback, at a bank with a local clock, is found and dated right', async () => {
  const shop = await openBanked(api, { style: ITAU_CLOCK, callbacks: false })
  const { id, brCode } = await charged(shop)
  api.clock.advance(30)
  const paidAt = api.clock.now()
  shop.bank.payer.pay(brCode)
  api.clock.advance(60)
  await reconcileDue.run(api.app)
  const { status, paymentDate } = await read(shop, id)
  assert.deepEqual([status, paymentDate], ['COMPLETED', paidAt.toISOString()])
})

test('a payment that the bank dates three hours early is dated right by its id', async () => {
  const shop = await openBanked(api)
  shop.bank.style({ clock: 'local marked as Z' })
  const { id, brCode } = await charged(shop)
  api.clock.advance(30)
  const paidAt = api.clock.now()
  shop.bank.payer.pay(brCode)
  await shop.bank.callbacksSent()
  await api.app.callbacks.process.idle()
  const { status, paymentDate } = await read(shop, id)
  assert.deepEqual([status, paymentDate], ['COMPLETED', paidAt.toISOString()])
})
