import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unwrapWebhook } from '../../packages/client/src/webhooks.js'
import { EVENTS, TEST_EVENT } from '../../src/core/events.ts'
import { SAMPLE_SECRET } from '../../src/http/openapi/webhooks.ts'
import { LATEST, VERSION_NAMES } from '../../src/versions/history.ts'
import { tryAll } from '../api/every-route.ts'
import { payer, startApi } from '../support/api.ts'
import { makeReceiver, openDeliveryWorker } from '../support/webhooks.ts'
import { type Any, documentOf, faultOf } from './document.ts'

const api = await startApi()
const documents = VERSION_NAMES.map(documentOf)
const { json, closed } = documentOf('2026-08-16')
const TYPES = [...Object.keys(EVENTS), TEST_EVENT]

const bodyOf = (type: string): Any =>
  json.webhooks[type].post.requestBody.content['application/json']
const headersOf = (type: string): Any[] => json.webhooks[type].post.parameters

test('every event is described, the same in every version', () => {
  for (const { json } of documents) {
    assert.deepEqual(Object.keys(json.webhooks), TYPES)
    assert.deepEqual(json.webhooks, documents[0]!.json.webhooks)
    const { EventBody, EventCharge } = json.components.schemas
    assert.equal(EventBody.oneOf.length, TYPES.length)
    // A body is written once, for receivers of any version.
    assert.ok(EventCharge.properties.status.enum.includes('RECEIVED'))
    assert.ok(!EventCharge.properties.status.enum.includes('RECIEVED'))
  }
})

test('the example of each event is a body as it is sent, whose signatures verify', async () => {
  for (const type of TYPES) {
    const { schema, example } = bodyOf(type)
    assert.equal(faultOf(closed(schema), example), null, type)
    const name = type === TEST_EVENT ? 'Webhook.Test' : EVENTS[type as keyof typeof EVENTS]
    assert.equal(example.event, name)
    const examples = headersOf(type).map(({ name, example }) => [name.toLowerCase(), example])
    const headers = Object.fromEntries(examples.filter(([, example]) => example !== undefined))
    assert.equal(headers['x-webhook-event'], type)
    const body = JSON.stringify(example)
    const now = new Date(headers['x-webhook-timestamp'])
    for (const scheme of ['standard-webhooks', 'x-webhook-signature'] as const) {
      const event = await unwrapWebhook(body, headers, SAMPLE_SECRET, { now, scheme })
      assert.deepEqual(event, example, type)
    }
  }
})

test('every event that operations cause is what the document says, byte by byte', async () => {
  await tryAll(api, LATEST.name)
  const rows = await api.rows<{ type: string; payload: string }>('select type, payload from events')
  const seen = new Set<string>()
  for (const { type, payload } of rows) {
    const { schema, example } = bodyOf(type)
    const body = JSON.parse(payload)
    assert.equal(faultOf(closed(schema), body), null, `${type}: ${payload}`)
    assert.equal(
      JSON.stringify(body),
      payload,
      'the bytes are those of the example, for its values',
    )
    assert.deepEqual(shapeOf(body), shapeOf(example, body), type)
    seen.add(type)
  }
  assert.ok(seen.size >= 10, [...seen].join(', '))
})

/** The names of fields in their order; what `only` lacks is left out, and what it has not is null. */
function shapeOf(value: Any, only: Any = value): Any {
  if (only === null) return null
  if (typeof value !== 'object' || value === null) return typeof value
  const fields = Object.entries(value).filter(([name]) => name in only)
  return fields.map(([name, inside]) => [name, shapeOf(inside, only[name])])
}

test('a delivery has the headers that the document says, and no others of its kind', async () => {
  const client = await api.client()
  const { receiver } = await makeReceiver(client, ['charge.paid'])
  const { body } = await client.post('/charge/pix', {
    amount: 1990,
    customer: payer(),
    devMode: true,
  })
  await client.post(`/charge/${body.data.id}/simulate-payment`)
  await openDeliveryWorker(api).run()
  assert.equal(receiver.received.length, 1)
  const [{ headers }] = receiver.received as [(typeof receiver.received)[number]]
  const sent = Object.keys(headers).filter((name) => /^(x-)?webhook-/.test(name))
  const described = headersOf('charge.paid').filter(({ required }) => required)
  assert.deepEqual(sent.sort(), described.map(({ name }) => name.toLowerCase()).sort())
  const optional = headersOf('charge.paid').filter(({ required }) => !required)
  assert.deepEqual(
    optional.map(({ name }) => name),
    ['X-Webhook-Signature-Previous'],
  )
})
