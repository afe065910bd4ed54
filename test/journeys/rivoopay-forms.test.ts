import assert from 'node:assert/strict'
import { test } from 'node:test'
import { payer, startApi } from '../support/api.ts'
import { startReceiver } from '../support/receiver.ts'
import { openDeliveryWorker } from '../support/webhooks.ts'
import { bare, openNode, TRIGGER_EVENTS, triggerAccepts } from './rivoopay.ts'

const api = await startApi()
const client = await api.client({}, { apiVersion: '2025-01-01' })
const node = openNode(client, null)

/** As people write it into a form. */
const WRITTEN = {
  name: 'Maria da Silva',
  taxId: '529.982.247-25',
  email: 'maria@example.com',
  phone: '(41) 99999-9999',
  postalCode: '80215-100',
}
/** Fields that were opened in the form and left empty. */
const BLANK_ADDRESS = { postalCode: '', address: '', district: '', number: '', line1: '' }

test("RivooPay's node may send punctuation in tax ids, phones and postal codes", async () => {
  const made = bare(await node.post('/client', { ...WRITTEN, status: 'ACTIVE' }), 201)
  assert.equal(made.taxId, '529.982.247-25')
  assert.deepEqual([made.phone, made.postalCode], ['41999999999', '80215100'])
  const pix = { amount: 1000, customer: WRITTEN, devMode: true }
  const { id } = bare(await node.post('/charge/pix', pix), 201)
  assert.equal(bare(await node.get(`/charge/${id}`), 200).customer.taxId, '***.***.247-25')
  bare(await node.post('/charge/payment-link', { total: 1000, customer: WRITTEN }), 201)
  const changed = await node.put('/client', { id: made.id, taxId: '11.222.333/0001-81' })
  assert.equal(bare(changed, 200).taxId, '11.222.333/0001-81')
})

test("RivooPay's node may send optional fields empty, and an empty Idempotency-Key", async () => {
  const customer = { ...payer(), ...BLANK_ADDRESS }
  const made = bare(await node.post('/client', { ...customer, status: 'ACTIVE' }), 201)
  assert.equal(made.postalCode, undefined)
  const pix = { amount: 1000, customer: { ...customer, email: '', phone: '' }, externalId: '' }
  const first = bare(await node.post('/charge/pix', pix, ''), 201)
  assert.equal(first.externalId, null)
  const second = bare(await node.post('/charge/pix', pix, ''), 201)
  assert.notEqual(second.id, first.id, 'an empty key is none')
  const empty = { customerId: '', externalId: '', successUrl: '', failedUrl: '' }
  bare(await node.post('/charge/payment-link', { total: 1000, customer, ...empty }, ''), 201)
  bare(await node.post(`/charge/duplicate/${first.id}`, {}, ''), 201)
  const kept = bare(await node.put('/client', { id: made.id, email: '', ...BLANK_ADDRESS }), 200)
  assert.equal(kept.email, made.email)
})

test("RivooPay's trigger takes what is signed with the new secret, at once after a rotation", async () => {
  const { url, received } = await startReceiver()
  const webhook = bare(
    await node.post('/webhook', { url, name: 'n8n', events: TRIGGER_EVENTS }),
    201,
  )
  const { secret } = bare(await node.post(`/webhook/${webhook.id}/rotate-secret`), 200)
  bare(await node.post('/charge/pix', { amount: 1000, customer: payer() }), 201)
  await openDeliveryWorker(api).run()
  assert.ok(received.length > 0)
  for (const delivery of received) {
    assert.ok(triggerAccepts(delivery, secret))
    assert.ok(!triggerAccepts(delivery, webhook.secret))
  }
})
