import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listOfCharge } from '../../../src/core/feed/store.ts'
import { EVENT_REFERENCE } from '../../../src/http/openapi/webhooks.ts'
import { fromPublic } from '../../../src/lib/ids.ts'
import { carryOutRefunds } from '../../../src/worker/due.ts'
import { type Client, eventsOf, payer, startApi } from '../../support/api.ts'
import { makeCharge, pay, returnOf, SANDBOX_PAYMENT } from '../../support/payments.ts'
import { decide, makeRecurring, RECURRENCES, subscribe } from '../../support/subscriptions.ts'

const api = await startApi()
/** As odd as a client may send it. */
const EXTERNAL_ID = 'pedido "42" \\ “ção”'

/** What was sent of one type, the oldest first. */
const sent = async ({ company }: Client, type: string) =>
  (await eventsOf(api, company.id)).filter((event) => event.type === type).map((e) => e.payload)

const PUBLISHED = [
  'charge.pending',
  'charge.processing',
  'charge.paid',
  'charge.received',
  'charge.expired',
]

/** Every field of a body by its path. */
const leavesOf = (value: unknown, path = ''): [string, unknown][] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, inside]) => leavesOf(inside, `${path}.${name}`))
    : [[path, value]]

for (const { type, body } of EVENT_REFERENCE) {
  if (PUBLISHED.includes(type)) {
    test(`${type} has the body that is published, byte for byte`, () => {
      const { event, charge } = JSON.parse(body)
      const { id, status, total } = charge
      assert.equal(
        body,
        `{"event":"${event}","charge":{"id":"${id}","status":"${status}","total":${total}}}`,
      )
    })
    continue
  }
  test(`${type} has the externalId of its charge, or null, and amounts that are numbers`, () => {
    const leaves = leavesOf(JSON.parse(body))
    const externalId = leaves.find(([path]) => path === '.externalId')
    assert.ok(externalId && (externalId[1] === null || typeof externalId[1] === 'string'), body)
    const amounts = leaves.filter(([path]) => /\.(amount|value|total|refundable)$/.test(path))
    for (const [path, amount] of amounts) assert.ok(Number.isSafeInteger(amount), path)
    assert.ok(amounts.length > 0 || type === 'webhook.test', 'it tells how much')
    assert.doesNotMatch(body, /"\d+"/, 'no number is a text')
  })
}

test('charge.refunded says which refund it was, and what can still go back', async () => {
  const client = await api.client()
  const { id, brCode } = await makeCharge(client, 10_000, { externalId: EXTERNAL_ID })
  const endToEndId = await pay(api, brCode)
  const refunds: string[] = []
  for (const value of [3000, 2000]) {
    refunds.push((await client.post(`/refund/${id}`, { value })).body.data.id)
  }
  await carryOutRefunds.run(api.app)
  const returned = await client.post(returnOf(endToEndId), {})
  const [first, second, last, ...others] = await sent(client, 'charge.refunded')
  const bodyOf = (status: string, refund: object, refundable: number) => ({
    event: 'Charge.Refunded',
    charge: { id, status, total: 10_000 },
    refund,
    refundable,
    externalId: EXTERNAL_ID,
  })
  // Both were held before the first was returned, so what can still go back is the same. They are
  // carried out side by side, in any order.
  const bothOf = [first, second].sort((a, b) => b.refund.value - a.refund.value)
  assert.deepEqual(bothOf, [
    bodyOf('PAID', { id: refunds[0], value: 3000 }, 5000),
    bodyOf('PAID', { id: refunds[1], value: 2000 }, 5000),
  ])
  const { id: refundId, value } = returned.body.data
  assert.deepEqual(last, bodyOf('REFUNDED', { id: refundId, value }, 0))
  assert.deepEqual(others, [])
  const [byBank] = await sent(client, 'payment.returned')
  assert.deepEqual([byBank.payment.chargeId, byBank.externalId], [id, EXTERNAL_ID])
  const listed = (await client.get('/event?limit=1000')).body.data.map(
    (e: { data: object }) => e.data,
  )
  assert.deepEqual(listed.at(-1).externalId, EXTERNAL_ID)
})

test('charge.canceled says that the charge is CANCELED, whether it has a code or not', async () => {
  const client = await api.client()
  const pix = await makeCharge(client, 1990, { externalId: EXTERNAL_ID })
  const link = await client.post('/charge/payment-link', { total: 700, customer: payer() })
  for (const id of [pix.id, link.body.data.id]) await client.post(`/charge/${id}/cancel`)
  assert.deepEqual(await sent(client, 'charge.canceled'), [
    {
      event: 'Charge.Canceled',
      charge: { id: pix.id, status: 'CANCELED', total: 1990 },
      externalId: EXTERNAL_ID,
    },
    {
      event: 'Charge.Canceled',
      charge: { id: link.body.data.id, status: 'CANCELED', total: 700 },
      externalId: null,
    },
  ])
})

test('payment.unmatched has the externalId of the charge that it names, if it names one', async () => {
  const client = await api.client()
  const { id, brCode } = await makeCharge(client, 700, { externalId: EXTERNAL_ID })
  const endToEndId = await pay(api, brCode, { amount: 800 })
  await client.post(SANDBOX_PAYMENT, { amount: 900 })
  const [named, unnamed] = await sent(client, 'payment.unmatched')
  assert.deepEqual(named, {
    event: 'Payment.Unmatched',
    payment: { endToEndId, amount: 800, reason: 'WRONG_AMOUNT', chargeId: id },
    externalId: EXTERNAL_ID,
  })
  assert.deepEqual([unnamed.payment.amount, unnamed.externalId], [900, null])
})

/** A subscription through a payment link. */
async function subscribed(client: Client, externalId: string) {
  const items = [{ productId: await makeRecurring(client), quantity: 1 }]
  const link = await client.post('/charge/payment-link', { customer: payer(), items, externalId })
  assert.equal(link.status, 201, link.text)
  const { id, emv } = (await subscribe(api, link.body.data.url)).body.data
  return { id, emv, linkId: link.body.data.id as string }
}

test('events of a subscription have the externalId of its payment link, never the bank’s', async () => {
  const client = await api.client()
  const { id, emv } = await subscribed(client, EXTERNAL_ID)
  await decide(api, emv, 'approve')
  await client.post(`${RECURRENCES}/${id}/cancel`)
  for (const [type, event, status] of [
    ['subscription.authorized', 'Subscription.Authorized', 'APPROVED'],
    ['subscription.canceled', 'Subscription.Canceled', 'CANCELED'],
  ] as const) {
    assert.deepEqual(await sent(client, type), [
      { event, subscription: { id, status, value: 1990 }, externalId: EXTERNAL_ID },
    ])
  }
  const productId = await makeRecurring(client)
  const customerId = (await client.post('/client', { ...payer(), status: 'ACTIVE' })).body.data.id
  const alone = (await client.post(RECURRENCES, { productId, customerId })).body.data
  assert.ok(alone.externalRecurrenceId)
  await decide(api, alone.emv, 'reject')
  const [rejected] = await sent(client, 'subscription.rejected')
  assert.equal(rejected.externalId, null)
})

test('an externalId that looks like the id of another charge puts nothing into its history', async () => {
  const client = await api.client()
  const { id } = await makeCharge(client, 700)
  const { emv } = await subscribed(client, id)
  await decide(api, emv, 'approve')
  const other = await makeCharge(client, 800, { externalId: id })
  await client.post(`/charge/${other.id}/cancel`)
  const historyOf = async (charge: string) => {
    const chargeId = fromPublic('charge', charge)!
    const events = await listOfCharge(api.app.db, client.company.id, chargeId, [], 100)
    return events.map(({ type }) => type)
  }
  assert.deepEqual(await historyOf(id), [])
  assert.deepEqual(await historyOf(other.id), ['charge.canceled'])
})
