import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectionError, NotFoundError, Vintem } from '../../packages/client/src/index.ts'
import { payer, startApi } from '../support/api.ts'

const api = await startApi()
const { key } = await api.client()
const vintem = new Vintem({ url: api.url, key })

test('creates, pays and reads a charge', async () => {
  const charge = await vintem.charges.createPix({ amount: 1990, customer: payer(), devMode: true })
  const paid = await vintem.charges.simulatePayment(charge.id)
  assert.equal(paid.paymentStatus, 'PAID')
  const { data, status, requestId } = await vintem.charges.get(charge.id).withResponse()
  assert.deepEqual([data.total, status], [1990, 200])
  assert.match(requestId!, /./)
})

test('an error has the class of its status', async () => {
  const missing = vintem.charges.get('charge_none')
  await assert.rejects(missing, (error) => {
    assert.ok(error instanceof NotFoundError)
    assert.deepEqual([error.status, error.code], [404, 'charge_not_found'])
    return true
  })
})

test('without a server it is a ConnectionError', async () => {
  const nobody = new Vintem({ url: 'http://127.0.0.1:1', key, retries: 0 })
  await assert.rejects(async () => await nobody.balance.get(), ConnectionError)
})

test('for await goes through all pages', async () => {
  for (let i = 0; i < 5; i += 1)
    await vintem.charges.createPix({ amount: 500 + i, customer: payer() })
  const amounts = []
  for await (const { total } of vintem.charges.list({ limit: 2 })) amounts.push(total)
  assert.deepEqual(amounts.slice(0, 5), [504, 503, 502, 501, 500])
})
