import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EVENT_TYPES } from '../../../src/core/events.ts'
import { type Client, type Reply, startApi } from '../../support/api.ts'
import { stored } from '../storage.ts'

const api = await startApi()

const answer = ({ status, body }: Reply) => [status, body.errors[0]?.code]
const line = ({ body }: Reply): string => body.errors[0].description

const WEBHOOK = { url: 'https://loja.example/hook', name: 'Loja', events: ['charge.paid'] }

async function create(client: Client, json: unknown) {
  const { status, body, text } = await client.post('/webhook', json)
  assert.equal(status, 201, text)
  return body.data
}

test('a webhook shows its secret when it is made, and never again', async () => {
  const client = await api.client()
  const now = api.clock.now().toISOString()
  const { secret, ...made } = await create(client, WEBHOOK)
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.equal(Buffer.from(secret.slice(6), 'base64').length, 32)
  assert.match(made.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.deepEqual(made, {
    ...WEBHOOK,
    id: made.id,
    companyId: client.company.id,
    status: 'ACTIVE',
    createdAt: now,
    updatedAt: now,
  })
  const replies = [
    await client.get(`/webhook/${made.id}`),
    await client.get('/webhook'),
    await client.put(`/webhook/${made.id}`, {}),
    await client.delete(`/webhook/${made.id}`),
  ]
  for (const { text } of replies) assert.ok(!text.includes('whsec_') && !text.includes('secret'))
  assert.deepEqual(replies[0]!.body.data, made)
  assert.deepEqual(replies[1]!.body.data, [made])
})

test('every event that is offered can be subscribed to, and no other', async () => {
  const client = await api.client()
  const offered = [
    'charge.pending',
    'charge.processing',
    'charge.paid',
    'charge.received',
    'charge.expired',
    'charge.canceled',
    'charge.refunded',
    'charge.due',
    'charge.overdue',
    'charge.reminder',
    'payment.unmatched',
    'payment.returned',
    'dispute.opened',
    'dispute.deadline',
    'dispute.accepted',
    'dispute.won',
    'dispute.lost',
    'dispute.canceled',
    'withdrawal.completed',
    'withdrawal.failed',
    'subscription.authorized',
    'subscription.rejected',
    'subscription.canceled',
    'subscription.charge.paid',
    'subscription.charge.failed',
  ]
  assert.deepEqual([...EVENT_TYPES].sort(), [...offered].sort())
  const made = await create(client, { ...WEBHOOK, events: offered })
  assert.deepEqual(made.events, offered)
  const before = await stored(api)
  for (const event of ['charge.nope', 'Charge.Paid', '*', 'toString', '']) {
    const reply = await client.post('/webhook', { ...WEBHOOK, events: ['charge.paid', event] })
    assert.deepEqual(answer(reply), [400, 'invalid_value'], event)
    assert.match(line(reply), /^events\[1\]: /)
  }
  assert.deepEqual(await stored(api), before)
})

test('an address with a user or a password is refused, when a webhook is made and changed', async () => {
  const client = await api.client()
  const { id } = await create(client, WEBHOOK)
  const before = await stored(api)
  for (const url of ['https://user:password@loja.example/', 'https://user@loja.example/']) {
    for (const reply of [
      await client.post('/webhook', { ...WEBHOOK, url }),
      await client.put(`/webhook/${id}`, { url }),
    ]) {
      assert.deepEqual(answer(reply), [400, 'invalid_value'], url)
      assert.match(line(reply), /^url: /)
      assert.ok(!reply.text.includes('password@'), 'the password is not echoed')
    }
  }
  assert.deepEqual(await stored(api), before)
})

test('PUT /webhook changes the fields sent, one by one, and keeps the secret', async () => {
  const client = await api.client()
  const { secret: _, ...made } = await create(client, WEBHOOK)
  const sealed = async () =>
    (
      await api.rows('select secret_sealed from webhooks where company_id = $1', [
        client.company.id,
      ])
    )[0]!.secret_sealed
  const before = await sealed()
  let expected = made
  for (const change of [
    { url: 'http://localhost:8080/hook' },
    { name: 'Outra' },
    { events: ['charge.expired', 'charge.pending'] },
    { status: 'INACTIVE' },
    {},
  ]) {
    api.clock.advance(1)
    const { status, body } = await client.put(`/webhook/${made.id}`, change)
    assert.equal(status, 200)
    expected = { ...expected, ...change, updatedAt: body.data.updatedAt }
    assert.deepEqual(body.data, expected)
    assert.deepEqual((await client.get(`/webhook/${made.id}`)).body.data, expected)
  }
  assert.deepEqual(await sealed(), before)
})
