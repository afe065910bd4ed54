import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cancelCharge } from '../../../src/core/charges/commands.ts'
import { announceChange, waitUntilApplied } from '../../../src/core/companies/announce.ts'
import { fromPublic } from '../../../src/lib/ids.ts'
import { billDue, carryOutRefunds, generateDue } from '../../../src/worker/due.ts'
import { type Client, startApi } from '../../support/api.ts'
import {
  approvedSubscription,
  at,
  attemptsOf,
  chargesOf,
  collectionsOf,
  eventLinesOf,
  feedOf,
  moveTo,
  type Subscription,
  statesOf,
} from '../../support/billing.ts'
import { startPlaying } from '../../support/clocks.ts'
import { balancesOf, movementsOf, transfersOf } from '../../support/payments.ts'
import {
  decide,
  makeCustomer,
  makeRecurring,
  makeSubscription,
  RECURRENCES,
  readSubscription,
} from '../../support/subscriptions.ts'

const api = await startApi()
const { app } = api
startPlaying(api)

/** Approved on Thursday, 20 August: due on Monday the 24th, the next cycle on 20 September. */
const APPROVED_AT = '2026-08-20T15:00:01.000Z'
const [DUE, NEXT_DUE] = ['2026-08-24', '2026-09-23']
const EMPTY = { available: 100_000, pending: 0, held: 0, unmatched: 0 }

/** A company with one subscription, whose time goes by its own clock. */
async function subscribed(fields: Record<string, unknown> = {}, funds?: boolean) {
  const client = await movedClient()
  const subscription = await approvedSubscription(api, client, fields, funds)
  return { client, ...subscription }
}

async function movedClient(): Promise<Client> {
  const client = await api.client()
  await moveTo(client, APPROVED_AT)
  return client
}

/** The company's tasks, one by one. */
const generate = ({ company }: Client) => generateDue.run(app, undefined, company.id)
const bill = ({ company }: Client) => billDue.run(app, undefined, company.id)

const countOf = async (client: Client, type: string) =>
  (await feedOf(client)).filter((event) => event.type === type).length

test('without funds a charge is tried on the due day and 1, 4 and 7 days later, then it fails', async () => {
  const { client, id } = await subscribed({}, false)
  await moveTo(client, at('2026-08-31', '07:59:59'))
  assert.deepEqual(await statesOf(client, id), ['OPEN PROCESSING'])
  await moveTo(client, at('2026-09-01'))
  assert.deepEqual(await attemptsOf(api, client), [
    '2026-08-24 FAILED',
    '2026-08-25 FAILED',
    '2026-08-28 FAILED',
    '2026-08-31 FAILED',
  ])
  assert.deepEqual(await statesOf(client, id), ['EXPIRED EXPIRED'])
  const [charge] = await chargesOf(client, id)
  const failedAt = at('2026-08-31', '08:00:00')
  const feed = await feedOf(client)
  assert.deepEqual(
    feed.map(({ type, createdAt }) => [type, createdAt]),
    [
      ['subscription.authorized', APPROVED_AT],
      ['charge.pending', APPROVED_AT],
      ['charge.processing', APPROVED_AT],
      ['charge.expired', failedAt],
      ['subscription.charge.failed', failedAt],
    ],
  )
  assert.deepEqual(feed.at(-1)!.data, {
    event: 'Subscription.Charge.Failed',
    subscription: { id },
    charge: { id: charge!.id, status: 'EXPIRED', total: 1990 },
    externalId: null,
  })
  assert.deepEqual(await balancesOf(api, client), EMPTY)
})

test('a failed charge does not end the subscription: the next cycle is billed', async () => {
  const { client, id, emv } = await subscribed({}, false)
  await moveTo(client, at('2026-09-10'))
  await decide(api, emv, 'approve', true)
  await moveTo(client, at('2026-09-24'))
  assert.deepEqual(await statesOf(client, id), ['EXPIRED EXPIRED', 'COMPLETED RECEIVED'])
  const [, second] = await chargesOf(client, id)
  assert.equal(second!.paymentDate, at(NEXT_DUE, '08:00:00'))
  assert.equal((await balancesOf(api, client)).available, 100_000 + 1990)
  assert.equal(await countOf(client, 'subscription.charge.failed'), 1)
  const { status, recurrenceAuthStatus } = await readSubscription(client, id)
  assert.deepEqual([status, recurrenceAuthStatus], ['OPEN', 'APPROVED'])
})

test('a payer who adds money pays on the next retry, once', async () => {
  const { client, id, emv } = await subscribed({}, false)
  await moveTo(client, at('2026-08-26'))
  await decide(api, emv, 'approve', true)
  await moveTo(client, at('2026-09-10'))
  assert.deepEqual(await attemptsOf(api, client), [
    '2026-08-24 FAILED',
    '2026-08-25 FAILED',
    '2026-08-28 PAID',
  ])
  const [charge, ...others] = await chargesOf(client, id)
  assert.deepEqual([charge!.status, others], ['COMPLETED', []])
  assert.equal(charge!.paymentDate, at('2026-08-28', '08:00:00'))
  assert.deepEqual(
    (await movementsOf(api, client)).map(([kind, , , amount]) => [kind, amount]),
    [
      ['CHARGE_PAID', 1990],
      ['CHARGE_SETTLED', 1990],
    ],
  )
  assert.equal(await countOf(client, 'subscription.charge.failed'), 0)
  assert.equal(await countOf(client, 'charge.expired'), 0)
})

test('a payer who has rejected is never charged', async () => {
  const client = await movedClient()
  const { id, emv } = await makeSubscription(client)
  await decide(api, emv, 'reject')
  await moveTo(client, at('2026-12-31'))
  assert.deepEqual(await eventLinesOf(client), [`${APPROVED_AT} subscription.rejected`])
  const { status, recurrenceAuthStatus, charges } = await readSubscription(client, id)
  assert.deepEqual([status, recurrenceAuthStatus, charges], ['CANCELED', 'REJECTED', []])
  assert.deepEqual(await collectionsOf(api, client), [])
})

type Subscribed = { client: Client } & Subscription

const cancel = async ({ client, id }: Subscribed) => {
  const { status, text } = await client.post(`${RECURRENCES}/${id}/cancel`)
  assert.equal(status, 200, text)
}
const ENDINGS = {
  merchant: cancel,
  payer: ({ emv }: Subscribed) => decide(api, emv, 'cancel'),
}

/** How far on its way the charge of a subscription is, and how it comes there. */
const onItsWay: Record<string, { funds: boolean; go(client: Client): Promise<void> }> = {
  'generated, and not sent to the bank': { funds: true, go: generate },
  'scheduled at the bank': {
    funds: true,
    async go(client) {
      await generate(client)
      await bill(client)
      assert.equal((await collectionsOf(api, client))[0]!.status, 'SCHEDULED')
    },
  },
  'failed and waiting for a retry': {
    funds: false,
    async go(client) {
      await moveTo(client, at(DUE, '09:00:00'))
      const attempts = ['2026-08-24 FAILED', '2026-08-25 SCHEDULED']
      assert.deepEqual(await attemptsOf(api, client), attempts)
    },
  },
}

/** The types of the events since then. */
const typesSince = async (client: Client, count: number) =>
  (await feedOf(client)).slice(count).map(({ type }) => type)

for (const [side, end] of Object.entries(ENDINGS)) {
  for (const [state, { funds, go }] of Object.entries(onItsWay)) {
    test(`ended by the ${side}: a charge that is ${state} is canceled, and none is made again`, async () => {
      const subscription = await subscribed({}, funds)
      const { client, id } = subscription
      await go(client)
      assert.deepEqual(await statesOf(client, id), ['OPEN PROCESSING'])
      const eventCount = (await feedOf(client)).length
      await end(subscription)
      await bill(client)
      const types = ['subscription.canceled', 'charge.canceled']
      assert.deepEqual(await typesSince(client, eventCount), types)
      assert.deepEqual(await statesOf(client, id), ['CANCELED PROCESSING'])
      await moveTo(client, at('2026-12-31'))
      assert.deepEqual(await typesSince(client, eventCount), types, 'nothing more comes of it')
      const { status, recurrenceAuthStatus } = await readSubscription(client, id)
      assert.deepEqual([status, recurrenceAuthStatus], ['CANCELED', 'CANCELED'])
      assert.deepEqual(await transfersOf(api, client), [])
      for (const { status } of await collectionsOf(api, client)) assert.equal(status, 'CANCELED')
    })
  }

  test(`ended by the ${side}: what was paid stays paid`, async () => {
    const subscription = await subscribed()
    const { client, id } = subscription
    await moveTo(client, at(DUE, '09:00:00'))
    const eventCount = (await feedOf(client)).length
    await end(subscription)
    await moveTo(client, at('2026-12-31'))
    assert.deepEqual(await typesSince(client, eventCount), ['subscription.canceled'])
    assert.deepEqual(await statesOf(client, id), ['COMPLETED RECEIVED'])
    assert.equal((await balancesOf(api, client)).available, 100_000 + 1990)
  })
}

test('a charge that no worker has billed in time does not prevent a cancellation', async () => {
  for (const [go, state] of [
    [generate, 'CANCELED PROCESSING'],
    // Its last attempt was so long ago that it has failed before anybody could end it.
    [onItsWay['failed and waiting for a retry']!.go, 'EXPIRED EXPIRED'],
  ] as const) {
    const subscription = await subscribed({}, false)
    const { client, id } = subscription
    await go(client)
    await app.providers.simulator.collectDue(client.company.id, new Date(at(NEXT_DUE)), 10)
    await app.db.transaction(async (tx) => {
      const text = 'update test_clocks set ahead_ms = ahead_ms + 2419200000 where company_id = $1'
      await tx.query({ text, values: [client.company.id] })
      await announceChange(tx, client.company.id)
    })
    await waitUntilApplied(app.db)
    await cancel(subscription)
    await bill(client)
    assert.deepEqual(await statesOf(client, id), [state])
  }
})

for (const [state, { funds, go }] of Object.entries(onItsWay)) {
  test(`one charge that is ${state} can be canceled alone: the next cycle is billed as ever`, async () => {
    const { client, id, emv } = await subscribed({}, funds)
    await go(client)
    const [charge] = await chargesOf(client, id)
    const eventCount = (await feedOf(client)).length
    for (let round = 0; round < 2; round++) {
      const { status, body, text } = await client.post(`/charge/${charge!.id}/cancel`)
      assert.deepEqual([status, body.data?.status], [200, 'CANCELED'], text)
    }
    assert.deepEqual(await typesSince(client, eventCount), ['charge.canceled'])
    for (const { status } of await collectionsOf(api, client)) assert.equal(status, 'CANCELED')
    await moveTo(client, at('2026-09-19'))
    await decide(api, emv, 'approve', true)
    await moveTo(client, at('2026-09-24'))
    assert.deepEqual(await statesOf(client, id), ['CANCELED PROCESSING', 'COMPLETED RECEIVED'])
    assert.equal((await transfersOf(api, client)).length, 1)
    assert.equal((await balancesOf(api, client)).available, 100_000 + 1990)
  })
}

test('a charge that the bank has collected cannot be canceled, known to us or not', async () => {
  const { client, id } = await subscribed()
  await generate(client)
  await bill(client)
  await app.providers.simulator.collectDue(client.company.id, new Date(at(DUE, '08:00:00')), 10)
  const [charge] = await chargesOf(client, id)
  const cancelOne = () => client.post(`/charge/${charge!.id}/cancel`)
  const early = await cancelOne()
  assert.deepEqual([early.status, early.body.errors[0].code], [409, 'charge_not_payable'])
  await moveTo(client, at('2026-08-25'))
  assert.deepEqual(await statesOf(client, id), ['COMPLETED RECEIVED'])
  assert.equal((await cancelOne()).status, 409)
})

test('a charge is not canceled while the bank is getting its order', async () => {
  const { client, id } = await subscribed()
  await generate(client)
  const [charge] = await chargesOf(client, id)
  const text = 'update billings set ordered = true where company_id = $1'
  await api.rows(text, [client.company.id])
  const { status, body } = await client.post(`/charge/${charge!.id}/cancel`)
  assert.deepEqual([status, body.errors[0].code], [503, 'service_unavailable'])
  // Nor by somebody who has looked before it was written that the bank gets the order.
  const chargeId = fromPublic('charge', charge!.id)!
  await assert.rejects(
    app.db.transaction((tx) => cancelCharge(tx, app, client.company.id, chargeId, false)),
    { code: 'service_unavailable' },
  )
  assert.deepEqual(await statesOf(client, id), ['OPEN PROCESSING'])
  assert.equal(await countOf(client, 'charge.canceled'), 0)
  await bill(client)
  assert.equal((await client.post(`/charge/${charge!.id}/cancel`)).status, 200)
  assert.equal((await collectionsOf(api, client))[0]!.status, 'CANCELED')
})

/** Settles a charge of a subscription with money that named none. */
async function settleWithStray(client: Client, chargeId: string) {
  const { body } = await client.post('/sandbox/payment', { amount: 1990 })
  return client.post(`/payment/unmatched/${body.data.endToEndId}/accept`, { chargeId })
}

test('a charge that its bank has an order for is not settled by hand, until every attempt has failed', async () => {
  const { client, id } = await subscribed({}, false)
  await generate(client)
  await bill(client)
  const [charge] = await chargesOf(client, id)
  const refused = async () => {
    const { status, body } = await settleWithStray(client, charge!.id)
    assert.deepEqual([status, body.errors[0].code], [409, 'charge_in_collection'])
    const [waiting] = (await client.get('/payment/unmatched?limit=1')).body.data
    const path = `/payment/unmatched/${waiting.endToEndId}/suggestions`
    assert.deepEqual((await client.get(path)).body.data, [], 'it is not suggested either')
  }
  await refused()
  // The first attempt has failed, and the bank tries again.
  await moveTo(client, at('2026-08-24', '12:00:00'))
  await refused()
  await moveTo(client, at('2026-09-01'))
  assert.deepEqual(await statesOf(client, id), ['EXPIRED EXPIRED'])
  assert.equal((await settleWithStray(client, charge!.id)).status, 200)
  assert.deepEqual(await statesOf(client, id), ['COMPLETED PAID'])
  const events = (await feedOf(client)).slice(-2).map(({ type }) => type)
  assert.deepEqual(events, ['charge.paid', 'subscription.charge.paid'])
  const [billing] = await api.rows('select status from billings where company_id = $1', [
    client.company.id,
  ])
  assert.deepEqual(billing, { status: 'PAID' })
})

test('a charge that was settled by hand before its bank has an order is never collected', async () => {
  const { client, id } = await subscribed()
  await generate(client)
  const [charge] = await chargesOf(client, id)
  assert.equal((await settleWithStray(client, charge!.id)).status, 200)
  await bill(client)
  await moveTo(client, at('2026-09-15'))
  assert.deepEqual(await collectionsOf(api, client), [])
  assert.deepEqual(await statesOf(client, id), ['COMPLETED RECEIVED'])
  assert.equal((await transfersOf(api, client)).length, 1)
  await moveTo(client, at('2026-09-24'))
  assert.deepEqual(await statesOf(client, id), ['COMPLETED RECEIVED', 'COMPLETED RECEIVED'])
})

test('a new price of the product leaves the agreed value alone, of old charges and of new ones', async () => {
  const client = await movedClient()
  const productId = await makeRecurring(client)
  const customerId = await makeCustomer(client)
  const agree = async () => {
    const { body } = await client.post(RECURRENCES, { productId, customerId })
    await decide(api, body.data.emv, 'approve')
    return body.data.id as string
  }
  const old = await agree()
  await moveTo(client, at('2026-08-25'))
  const changed = await client.put(`/product/${productId}`, { price: 2990, frequency: 'WEEKLY' })
  assert.equal(changed.status, 200, changed.text)
  const fresh = await agree()
  await moveTo(client, at('2026-09-24'))
  const totals = async (id: string) => (await chargesOf(client, id)).map(({ total }) => total)
  assert.deepEqual(await totals(old), ['1990', '1990'])
  assert.deepEqual(await totals(fresh), ['2990', '2990', '2990', '2990', '2990'])
  const { value, frequency } = await readSubscription(client, old)
  assert.deepEqual([value, frequency], ['1990', 'MONTHLY'])
  for (const { status, amount } of await api.rows<{ status: string; amount: number }>(
    `select status, amount from simulated_collections
     where account_id = $1 and status <> 'SCHEDULED'`,
    [client.company.id],
  )) {
    assert.equal(status, 'PAID')
    assert.ok([1990, 2990].includes(amount))
  }
})

test('a collected charge is refunded like any other, and the subscription goes on', async () => {
  const { client, id } = await subscribed()
  await moveTo(client, at('2026-08-25'))
  const [charge] = await chargesOf(client, id)
  const { status, text } = await client.post(`/refund/${charge!.id}`)
  assert.equal(status, 201, text)
  await carryOutRefunds.run(app)
  assert.deepEqual(await statesOf(client, id), ['COMPLETED REFUNDED'])
  assert.deepEqual(await balancesOf(api, client), EMPTY)
  const feed = await feedOf(client)
  assert.deepEqual(feed.at(-1)!.data.charge, { id: charge!.id, status: 'REFUNDED', total: 1990 })
  await moveTo(client, at('2026-09-24'))
  assert.deepEqual(await statesOf(client, id), ['COMPLETED REFUNDED', 'COMPLETED RECEIVED'])
})
