import assert from 'node:assert/strict'
import { test } from 'node:test'
import { payer, startApi } from '../support/api.ts'
import { startReceiver } from '../support/receiver.ts'
import { openDeliveryWorker } from '../support/webhooks.ts'
import { bare, openNode, TRIGGER_EVENTS, triggerAccepts } from './rivoopay.ts'

const api = await startApi()
const pinned = await api.client({}, { apiVersion: '2025-01-01' })
const delivering = openDeliveryWorker(api)

/** By the version of the company, and by the version of the request. */
const nodes = {
  'a pinned company': openNode(pinned, null),
  'the version in the credential': openNode(await api.client(), '2025-01-01'),
}

for (const [name, node] of Object.entries(nodes)) {
  test(`RivooPay's node works with ${name}: its credential, charges and refunds`, async () => {
    assert.equal(typeof bare(await node.get('/charge/sales-limits'), 200).limited, 'boolean')
    const pix = { amount: 1000, customer: payer(), expiresIn: 1800, devMode: true }
    const charge = bare(await node.post('/charge/pix', pix, 'n8n-1'), 201)
    assert.deepEqual(bare(await node.post('/charge/pix', pix, 'n8n-1'), 201), charge)
    assert.equal(charge.status, 'PROCESSING')
    assert.match(charge.brCode, /^000201/)
    assert.match(charge.brCodeBase64, /^data:image\/png;base64,/)
    const fixed = bare(await node.post('/charge/pix/static', { amount: 1000 }), 201)
    assert.match(fixed.qrCodeImage, /^data:image\/png;base64,/)
    const link = bare(
      await node.post('/charge/payment-link', {
        total: 1000,
        customer: payer(),
        needShipping: false,
        notifyCustomer: false,
        successUrl: 'https://loja.example/ok',
        externalId: 'order 1',
      }),
      201,
    )
    assert.equal(link.total, 1000)
    assert.equal(bare(await node.get(`/charge/${link.id}`), 200).id, link.id)
    // Without fields the node sends no body at all, or an empty object.
    bare(await node.post(`/charge/duplicate/${link.id}`), 201)
    bare(await node.post(`/charge/duplicate/${link.id}`, {}), 201)
    await node.post(`/charge/${charge.id}/simulate-payment`)
    const state = bare(await node.get(`/charge/${charge.id}/status`), 200)
    assert.deepEqual([state.status, state.paymentStatus], ['COMPLETED', 'PAID'])
    bare(await node.post(`/refund/${charge.id}`, { value: 400, comment: 'Um item' }), 201)
    bare(await node.post(`/refund/${charge.id}`, {}), 201)
    const refunds = bare(await node.get(`/refund/charge/${charge.id}`), 200)
    assert.deepEqual(
      refunds.map(({ value }: { value: number }) => value),
      [600, 400],
    )
  })

  test(`RivooPay's node works with ${name}: its clients`, async () => {
    const made = bare(await node.post('/client', { ...payer(), status: 'ACTIVE' }), 201)
    const change = { id: made.id, name: 'Maria Souza', status: 'INACTIVE' }
    assert.equal(bare(await node.put('/client', change), 200).name, 'Maria Souza')
    assert.equal(bare(await node.get(`/client/id/${made.id}`), 200).status, 'INACTIVE')
    assert.equal(bare(await node.get('/client'), 200)[0].id, made.id)
  })

  test(`RivooPay's trigger works with ${name}: it registers, verifies and goes`, async () => {
    const { url, received } = await startReceiver()
    const webhook = bare(
      await node.post('/webhook', { url, name: 'n8n: My workflow', events: TRIGGER_EVENTS }),
      201,
    )
    assert.deepEqual(webhook.events, TRIGGER_EVENTS)
    assert.equal(bare(await node.get(`/webhook/${webhook.id}`), 200).url, url)
    const pix = { amount: 1000, customer: payer(), devMode: true }
    const { id } = bare(await node.post('/charge/pix', pix), 201)
    await node.post(`/charge/${id}/simulate-payment`)
    await delivering.run()
    const sent = received.map(({ headers }) => headers['x-webhook-event'])
    assert.deepEqual(sent.sort(), ['charge.paid', 'charge.pending', 'charge.processing'])
    for (const delivery of received) {
      assert.ok(triggerAccepts(delivery, webhook.secret))
      assert.ok(delivery.headers['x-webhook-delivery'] && delivery.headers['x-webhook-timestamp'])
      assert.equal(JSON.parse(delivery.body).charge.id, id)
    }
    bare(await node.delete(`/webhook/${webhook.id}`), 200)
    assert.equal((await node.get(`/webhook/${webhook.id}`)).status, 404)
  })
}

test('its trigger would find no id in an answer of the newest version', async () => {
  const node = openNode(await api.client(), null)
  const { url } = await startReceiver()
  const { body } = await node.post('/webhook', { url, name: 'n8n', events: TRIGGER_EVENTS })
  assert.equal(body.id, undefined)
  assert.equal(typeof body.data.id, 'string')
})
