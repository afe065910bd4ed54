import assert from 'node:assert/strict'
import { test } from 'node:test'
import { receiveCallback } from '../../../src/core/payments/callbacks.ts'
import { fromPublic } from '../../../src/lib/ids.ts'
import type { Decision } from '../../../src/provider/simulator/agreements.ts'
import { followDue } from '../../../src/worker/due.ts'
import { given } from '../../support/agreements.ts'
import { type Client, eventsOf, startApi } from '../../support/api.ts'
import { advance, startPlaying } from '../../support/clocks.ts'
import {
  decide,
  makeSubscription,
  makeTemplate,
  RECURRENCES,
  readSubscription,
} from '../../support/subscriptions.ts'

const api = await startApi()
startPlaying(api)
const { simulator } = api.app.providers
const DAY_S = 24 * 3600
const LIFETIME_S = 30 * DAY_S

type Subscription = { id: string; emv: string; externalRecurrenceId: string }

async function open(): Promise<{ client: Client; made: Subscription }> {
  const client = await api.client()
  return { client, made: await makeSubscription(client) }
}

const stateOf = async (client: Client, { id }: { id: string }) => {
  const { status, recurrenceAuthStatus } = await readSubscription(client, id)
  return [status, recurrenceAuthStatus]
}

const cancel = (client: Client, { id }: { id: string }) =>
  client.post(`${RECURRENCES}/${id}/cancel`)

/** The events of a company about its subscriptions, each with its body. */
const subscriptionEvents = async ({ company }: Client) =>
  (await eventsOf(api, company.id)).filter(({ type }) => /^subscription\.[a-z]+$/.test(type))

const AUTHORIZED = ['subscription.authorized', 'Subscription.Authorized', 'APPROVED'] as const
const REJECTED = ['subscription.rejected', 'Subscription.Rejected', 'REJECTED'] as const
const CANCELED = ['subscription.canceled', 'Subscription.Canceled', 'CANCELED'] as const
type ExpectedEvent = typeof AUTHORIZED | typeof REJECTED | typeof CANCELED

/** Asserts that a subscription has exactly these events, in this order. */
async function assertEvents(client: Client, { id }: Subscription, ...expected: ExpectedEvent[]) {
  const events = expected.map(([type, event, status]) => ({
    type,
    payload: { event, subscription: { id, status, value: 1990 }, externalId: null },
  }))
  assert.deepEqual(await subscriptionEvents(client), events)
}

/** A decision that the bank has stored and sent no callback for. */
async function decideWithoutCallback(
  client: Client,
  { id }: Subscription,
  decision: Decision,
  now: Date,
) {
  const own = fromPublic('rec', id)!
  given(await simulator.decide(client.company.id, own, decision, null, now))
}

const atBank = async ({ company }: Client, { id }: Subscription) =>
  given(await simulator.findAgreement(company, { id: fromPublic('rec', id)! }))!.status

const ENDS: [Decision[], string[], ExpectedEvent[]][] = [
  [['approve'], ['OPEN', 'APPROVED'], [AUTHORIZED]],
  [['reject'], ['CANCELED', 'REJECTED'], [REJECTED]],
  [['cancel'], ['CANCELED', 'CANCELED'], [CANCELED]],
  [
    ['approve', 'cancel'],
    ['CANCELED', 'CANCELED'],
    [AUTHORIZED, CANCELED],
  ],
]

for (const [decisions, state, events] of ENDS) {
  test(`a payer decides ${decisions.join(', then ')}: known at once and one event each, however often the bank says it`, async () => {
    const { client, made } = await open()
    assert.deepEqual(await stateOf(client, made), ['OPEN', 'CREATED'])
    for (const decision of decisions) {
      await decide(api, made.emv, decision)
      await Promise.all([decide(api, made.emv, decision), decide(api, made.emv, decision)])
    }
    assert.deepEqual(await stateOf(client, made), state)
    const body = { recs: [{ idRec: made.externalRecurrenceId }] }
    const again = await receiveCallback(api.app, client.company.id, 'simulator', body)
    assert.equal(await again.processed, 'processed')
    await assertEvents(client, made, ...events)
  })
}

test('a callback that names another company’s agreement shows nothing and changes nothing', async () => {
  const { client, made } = await open()
  const stranger = await api.client()
  await decideWithoutCallback(client, made, 'approve', api.clock.now())
  const body = { recs: [{ idRec: made.externalRecurrenceId }] }
  const callback = await receiveCallback(api.app, stranger.company.id, 'simulator', body)
  assert.equal(await callback.processed, 'unconfirmed')
  assert.deepEqual(await stateOf(client, made), ['OPEN', 'CREATED'])
  assert.deepEqual([await subscriptionEvents(client), await subscriptionEvents(stranger)], [[], []])
})

test('a callback that the bank does not confirm changes nothing', async () => {
  const { client, made } = await open()
  const idRec = made.externalRecurrenceId
  const body = { recs: [{ idRec, status: 'APROVADA', valor: { valorRec: '0.01' } }] }
  const callback = await receiveCallback(api.app, client.company.id, 'simulator', body)
  await callback.processed
  assert.deepEqual(await stateOf(client, made), ['OPEN', 'CREATED'])
  await assertEvents(client, made)
})

/** Each state, how it comes about, and what a merchant's wish to end it is answered with. */
const CANCELLATIONS: [string, Decision[], number, ExpectedEvent[]][] = [
  ['nobody has decided on', [], 200, [CANCELED]],
  ['is approved', ['approve'], 200, [AUTHORIZED, CANCELED]],
  ['was canceled by the payer', ['approve', 'cancel'], 200, [AUTHORIZED, CANCELED]],
  ['was rejected', ['reject'], 409, [REJECTED]],
]

for (const [name, decisions, status, events] of CANCELLATIONS) {
  test(`a merchant cancels what ${name}: ${status}, and again the same`, async () => {
    const { client, made } = await open()
    for (const decision of decisions) await decide(api, made.emv, decision)
    const before = await stateOf(client, made)
    const [first, again] = [await cancel(client, made), await cancel(client, made)]
    assert.deepEqual([first.status, again.text], [status, first.text])
    if (status === 409) {
      assert.equal(first.body.errors[0].code, 'recurrence_not_cancelable')
      assert.match(first.body.errors[0].description, /REJECTED/)
      assert.deepEqual(await stateOf(client, made), before)
    } else {
      assert.deepEqual(await stateOf(client, made), ['CANCELED', 'CANCELED'])
      assert.equal(await atBank(client, made), 'CANCELED')
      const late = { emv: made.emv, decision: 'approve' }
      const reply = await api.call('POST', '/bank/authorizations', { json: late })
      assert.deepEqual([reply.status, reply.body.errors[0].code], [409, 'recurrence_not_decidable'])
    }
    await assertEvents(client, made, ...events)
  })
}

test('if the bank knows an agreement as rejected, canceling it answers that it has ended', async () => {
  const { client, made } = await open()
  await decideWithoutCallback(client, made, 'reject', api.clock.now())
  const { status, body } = await cancel(client, made)
  assert.deepEqual([status, body.errors[0]?.code], [409, 'recurrence_not_cancelable'])
  assert.deepEqual(await stateOf(client, made), ['CANCELED', 'REJECTED'])
  await assertEvents(client, made, REJECTED)
})

test('a payer and a merchant who decide at the same time end it, with events in order', async () => {
  for (let round = 0; round < 5; round++) {
    const { client, made } = await open()
    const json = { emv: made.emv, decision: 'approve' }
    const [canceled] = await Promise.all([
      cancel(client, made),
      api.call('POST', '/bank/authorizations', { json }),
    ])
    assert.equal(canceled.status, 200, canceled.text)
    assert.deepEqual(await stateOf(client, made), ['CANCELED', 'CANCELED'])
    assert.equal(await atBank(client, made), 'CANCELED')
    const isApproved = (await subscriptionEvents(client)).length === 2
    await assertEvents(client, made, ...(isApproved ? [AUTHORIZED, CANCELED] : [CANCELED]))
    const rows = await api.rows('select 1 from billings where company_id = $1', [client.company.id])
    assert.deepEqual(rows, [])
  }
})

test('twenty cancellations at once are one', async () => {
  const { client, made } = await open()
  const replies = await Promise.all(Array.from({ length: 20 }, () => cancel(client, made)))
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200])
  await assertEvents(client, made, CANCELED)
})

test('canceling a template emits no event, because no subscription ends', async () => {
  const client = await api.client()
  const template = await makeTemplate(client)
  for (let times = 0; times < 2; times++) {
    const { status, body } = await cancel(client, template)
    assert.deepEqual([status, body.data.status], [200, 'CANCELED'])
  }
  assert.deepEqual(await subscriptionEvents(client), [])
})

const storedStateOf = async ({ company }: Client) => {
  const [row] = await api.rows<{ status: string; auth_status: string; next_at: Date | null }>(
    'select status, auth_status, next_at from recurrences where company_id = $1',
    [company.id],
  )
  return [row!.status, row!.auth_status, row!.next_at]
}

test('undecided for thirty days it is expired for every reader at once, and soon in the records', async () => {
  const { client, made } = await open()
  api.clock.advance(LIFETIME_S - 1)
  assert.deepEqual(await stateOf(client, made), ['OPEN', 'CREATED'])
  api.clock.advance(1)
  assert.deepEqual(await stateOf(client, made), ['EXPIRED', 'EXPIRED'])
  const [listed] = (await client.get(RECURRENCES)).body.data
  assert.deepEqual([listed.status, listed.recurrenceAuthStatus], ['EXPIRED', 'EXPIRED'])
  assert.deepEqual((await storedStateOf(client)).slice(0, 2), ['OPEN', 'CREATED'])
  const { status, body } = await cancel(client, made)
  assert.deepEqual([status, body.errors[0].code], [409, 'recurrence_not_cancelable'])
  assert.match(body.errors[0].description, /EXPIRED/)
  const json = { emv: made.emv, decision: 'approve' }
  assert.equal((await api.call('POST', '/bank/authorizations', { json })).status, 409)
  await followDue.run(api.app)
  assert.deepEqual(await storedStateOf(client), ['EXPIRED', 'EXPIRED', null])
  await assertEvents(client, made)
})

test('by the test clock it expires at its end, and not a second before', async () => {
  const { client, made } = await open()
  await advance(client, LIFETIME_S - 1)
  assert.deepEqual((await storedStateOf(client)).slice(0, 2), ['OPEN', 'CREATED'])
  await advance(client, 1)
  assert.deepEqual(await storedStateOf(client), ['EXPIRED', 'EXPIRED', null])
  assert.deepEqual(await stateOf(client, made), ['EXPIRED', 'EXPIRED'])
  await assertEvents(client, made)
})

const LOST: [Decision, string[], ExpectedEvent][] = [
  ['approve', ['OPEN', 'APPROVED'], AUTHORIZED],
  ['reject', ['CANCELED', 'REJECTED'], REJECTED],
  ['cancel', ['CANCELED', 'CANCELED'], CANCELED],
]

for (const [decision, state, event] of LOST) {
  test(`${decision}: a decision without a callback is found by asking the bank, within a day, and has one event`, async () => {
    const { client, made } = await open()
    const now = await advance(client, 3600)
    await decideWithoutCallback(client, made, decision, now)
    assert.deepEqual(await stateOf(client, made), ['OPEN', 'CREATED'])
    await advance(client, DAY_S)
    assert.deepEqual(await stateOf(client, made), state)
    await assertEvents(client, made, event)
    const [row] = await api.rows<{ decided_at: Date }>(
      'select decided_at from recurrences where company_id = $1',
      [client.company.id],
    )
    assert.deepEqual(row!.decided_at, now, 'decided when the payer did, not when we asked')
    await advance(client, DAY_S)
    await assertEvents(client, made, event)
    const { charges } = await readSubscription(client, made.id)
    assert.equal(charges.length, decision === 'approve' ? 1 : 0)
  })
}

test('an approved agreement that ended without a callback is found when the bank rejects a charge', async () => {
  const { client, made } = await open()
  await decide(api, made.emv, 'approve')
  const now = await advance(client, 10 * DAY_S)
  await decideWithoutCallback(client, made, 'cancel', now)
  assert.deepEqual(await stateOf(client, made), ['OPEN', 'APPROVED'])
  await advance(client, 30 * DAY_S)
  assert.deepEqual(await stateOf(client, made), ['CANCELED', 'CANCELED'])
  await assertEvents(client, made, AUTHORIZED, CANCELED)
  const { charges } = await readSubscription(client, made.id)
  const states = charges.map(({ status }: { status: string }) => status)
  assert.deepEqual(states, ['CANCELED', 'COMPLETED'])
})
