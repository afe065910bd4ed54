import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventsOf, payer, startApi } from '../../support/api.ts'

const api = await startApi()

test('a created charge is stored with its payer, sealed, and both events in order', async () => {
  const client = await api.client()
  const { status, body, headers } = await client.post('/charge/pix', {
    amount: 1990,
    customer: payer(),
    externalId: 'order 1',
  })
  assert.equal(status, 201)
  assert.deepEqual(Object.keys(body), ['status', 'message', 'data', 'errors'])
  assert.deepEqual(Object.keys(body.data), [
    'id',
    'status',
    'amount',
    'brCode',
    'brCodeBase64',
    'url',
    'createdAt',
    'expiresAt',
    'externalId',
    'devMode',
  ])
  assert.equal(body.data.status, 'PROCESSING')
  assert.equal(body.data.createdAt, '2026-08-20T15:00:00.000Z')
  assert.equal(body.data.expiresAt, '2026-08-20T15:30:00.000Z')
  assert.equal(headers.get('x-api-version'), '2026-08-16')
  assert.match(headers.get('x-request-id')!, /^[0-9a-z]{26}$/)

  const [charge] = await api.rows('select * from charges where company_id = $1', [
    client.company.id,
  ])
  assert.equal(charge!.amount, 1990)
  assert.equal(charge!.status, 'OPEN')
  const [customer] = await api.rows('select * from customers where company_id = $1', [
    client.company.id,
  ])
  assert.equal(charge!.customer_id, customer!.id)
  assert.ok(!JSON.stringify([charge, customer]).includes('52998224725'), 'no document at rest')
  const events = await eventsOf(api, client.company.id)
  const id = body.data.id
  assert.deepEqual(events, [
    {
      type: 'charge.pending',
      payload: { event: 'Charge.Pending', charge: { id, status: 'PENDING', total: 1990 } },
    },
    {
      type: 'charge.processing',
      payload: { event: 'Charge.Processing', charge: { id, status: 'PROCESSING', total: 1990 } },
    },
  ])
})

test('a payer is found again by tax id and never doubled, whoever comes at the same time', async () => {
  const client = await api.client()
  const replies = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      client.post('/charge/pix', { amount: 500 + i, customer: payer({ name: `Maria ${i}` }) }),
    ),
  )
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [201])
  const { body } = await client.get('/client')
  assert.equal(body.data.length, 1)
  assert.equal(body.data[0].taxId, '529.982.247-25')
  const shown = await client.get(`/charge/${replies[7]!.body.data.id}`)
  assert.equal(shown.body.data.customer.name, 'Maria 7', 'a charge shows its own payer')
})
