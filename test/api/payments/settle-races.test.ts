import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditCompany } from '../../../src/core/audits/commands.ts'
import { lockCharge } from '../../../src/core/charges/record.ts'
import { lockUnmatched } from '../../../src/core/payments/store.ts'
import type { Tx } from '../../../src/db/database.ts'
import { fromPublic } from '../../../src/lib/ids.ts'
import { carryOutRefunds, expireDueCharges } from '../../../src/worker/due.ts'
import { type Client, eventsOf, type Reply, startApi } from '../../support/api.ts'
import { makeCharge, makeUnmatched, movementsOf, pay, stateOf } from '../../support/payments.ts'
import { until } from '../../support/until.ts'

const api = await startApi()
const { app } = api

const settle = (client: Client, endToEndId: string, chargeId: string, json = {}) =>
  client.post(`/payment/unmatched/${endToEndId}/accept`, { chargeId, ...json })
const refund = (client: Client, endToEndId: string) =>
  client.post(`/payment/unmatched/${endToEndId}/refund`)
const codeOf = ({ status, body }: Reply) => (status < 300 ? status : body.errors[0].code)

const countWaiting = async (): Promise<number> =>
  (
    await api.rows(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
  ).length

/** Begins acts in their order while a row is locked: each waits behind the one before. */
async function inOrder<T>(lock: (tx: Tx) => Promise<unknown>, acts: (() => Promise<T>)[]) {
  const begun: Promise<T>[] = []
  await app.db.transaction(async (tx) => {
    await lock(tx)
    for (const act of acts) {
      begun.push(act())
      await until('it waits', async () => (await countWaiting()) >= begun.length)
    }
  })
  return Promise.all(begun)
}

const charge =
  ({ company }: Client, id: string) =>
  (tx: Tx) =>
    lockCharge(tx, company.id, fromPublic('charge', id)!)
const payment =
  ({ company }: Client, endToEndId: string) =>
  (tx: Tx) =>
    lockUnmatched(tx, company.id, endToEndId)

async function requireClean({ company }: Client): Promise<void> {
  const { faults } = await auditCompany(app, company.id, { whole: true })
  assert.deepEqual(faults, [])
}

const countPaid = async ({ company }: Client, id: string): Promise<number> =>
  (await eventsOf(api, company.id)).filter(
    ({ type, payload }) => type === 'charge.paid' && JSON.stringify(payload).includes(id),
  ).length

test('one payment for two charges at once settles the first of them', async () => {
  const client = await api.client()
  const endToEndId = await makeUnmatched(api, client, 700)
  const [one, other] = [await makeCharge(client, 700), await makeCharge(client, 700)]
  const replies = await inOrder(payment(client, endToEndId), [
    () => settle(client, endToEndId, one.id),
    () => settle(client, endToEndId, other.id),
  ])
  assert.deepEqual(replies.map(codeOf), [200, 'payment_not_unmatched'])
  assert.deepEqual(await stateOf(client, one.id), ['COMPLETED', 'PAID'])
  assert.deepEqual(await stateOf(client, other.id), ['OPEN', 'PROCESSING'])
  await requireClean(client)
})

test('two payments for one charge at once: the first settles it, the other waits on', async () => {
  const client = await api.client()
  const [first, second] = [
    await makeUnmatched(api, client, 700),
    await makeUnmatched(api, client, 700),
  ]
  const { id } = await makeCharge(client, 700)
  const replies = await inOrder(charge(client, id), [
    () => settle(client, first, id),
    () => settle(client, second, id),
  ])
  assert.deepEqual(replies.map(codeOf), [200, 'charge_not_settleable'])
  assert.equal((await client.get(`/charge/${id}`)).body.data.endToEndId, first)
  const [waiting] = (await client.get('/payment/unmatched')).body.data
  assert.equal(waiting.endToEndId, second)
  assert.equal(await countPaid(client, id), 1)
  await requireClean(client)
})

test('the same settlement twenty times at once happens once, and answers the same', async () => {
  const client = await api.client()
  const { id, brCode } = await makeCharge(client, 700)
  const endToEndId = await pay(api, brCode, { amount: 900 })
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => settle(client, endToEndId, id, { difference: 'refund' })),
  )
  assert.deepEqual([...new Set(replies.map(({ text }) => text))].length, 1)
  assert.equal(replies[0]!.status, 200)
  await carryOutRefunds.run(app)
  const kinds = (await movementsOf(api, client)).map(([kind]) => kind)
  assert.deepEqual(kinds, ['PAYMENT_UNMATCHED', 'CHARGE_PAID', 'REFUND_HELD', 'REFUND_PAID'])
  assert.equal(await countPaid(client, id), 1)
  await requireClean(client)
})

test('a settlement and a refund of the same payment: the first of them happens', async () => {
  for (const isFirst of [true, false]) {
    const client = await api.client()
    const { id, brCode } = await makeCharge(client, 700)
    const endToEndId = await pay(api, brCode, { amount: 900 })
    const acts = [() => settle(client, endToEndId, id), () => refund(client, endToEndId)]
    const replies = await inOrder(payment(client, endToEndId), isFirst ? acts : acts.toReversed())
    const expected = isFirst ? [200, 'payment_not_unmatched'] : [201, 'payment_not_unmatched']
    assert.deepEqual(replies.map(codeOf), expected)
    const [status] = await stateOf(client, id)
    assert.equal(status, isFirst ? 'COMPLETED' : 'OPEN')
    await carryOutRefunds.run(app)
    await requireClean(client)
  }
})

test('a charge that gets its own payment while it is settled is paid by the first, and the other waits', async () => {
  for (const isFirst of [true, false]) {
    const client = await api.client()
    const { id, brCode } = await makeCharge(client, 700)
    const stray = await makeUnmatched(api, client, 700)
    const acts: (() => Promise<Reply | string>)[] = [
      () => settle(client, stray, id),
      () => pay(api, brCode),
    ]
    const done = await inOrder(charge(client, id), isFirst ? acts : acts.toReversed())
    const [settled, own] = (isFirst ? done : done.toReversed()) as [Reply, string]
    assert.equal(codeOf(settled), isFirst ? 200 : 'charge_not_settleable')
    assert.equal((await client.get(`/charge/${id}`)).body.data.endToEndId, isFirst ? stray : own)
    const [waiting] = (await client.get('/payment/unmatched')).body.data
    assert.equal(waiting.endToEndId, isFirst ? own : stray)
    if (isFirst) assert.equal(waiting.reason, 'DUPLICATE')
    assert.equal(await countPaid(client, id), 1)
    await requireClean(client)
  }
})

test('a charge is canceled or settled, whichever comes first', async () => {
  for (const isFirst of [true, false]) {
    const client = await api.client()
    const { id } = await makeCharge(client, 700)
    const stray = await makeUnmatched(api, client, 700)
    const acts = [() => settle(client, stray, id), () => client.post(`/charge/${id}/cancel`)]
    const replies = await inOrder(charge(client, id), isFirst ? acts : acts.toReversed())
    const expected = isFirst ? [200, 'charge_not_payable'] : [200, 'charge_not_settleable']
    assert.deepEqual(replies.map(codeOf), expected)
    assert.equal((await stateOf(client, id))[0], isFirst ? 'COMPLETED' : 'CANCELED')
    await requireClean(client)
  }
})

test('a charge that expires while it is settled is settled, and expires no more after it', async () => {
  for (const isFirst of [true, false]) {
    const client = await api.client()
    const { id } = await makeCharge(client, 700, { expiresIn: 60 })
    const stray = await makeUnmatched(api, client, 700)
    api.clock.advance(61)
    const acts: (() => Promise<unknown>)[] = [
      () => settle(client, stray, id),
      () => expireDueCharges.run(app),
    ]
    await inOrder(charge(client, id), isFirst ? acts : acts.toReversed())
    assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'PAID'])
    const types = (await eventsOf(api, client.company.id)).map(({ type }) => type)
    assert.equal(types.includes('charge.expired'), !isFirst)
    assert.equal(types.at(-1), 'charge.paid')
    await requireClean(client)
  }
})

test('if what is left can no longer go back, the charge is not settled either', async () => {
  const client = await api.client()
  const { id, brCode } = await makeCharge(client, 700)
  const endToEndId = await pay(api, brCode, { amount: 900 })
  const moved = await movementsOf(api, client)
  api.clock.advance(91 * 86_400)
  // The return is refused after the charge is settled, in the same transaction.
  const reply = await settle(client, endToEndId, id, { difference: 'refund' })
  assert.equal(codeOf(reply), 'refund_not_possible')
  assert.deepEqual(await movementsOf(api, client), moved)
  assert.equal((await stateOf(client, id))[0], 'EXPIRED')
  assert.equal(await countPaid(client, id), 0)
  assert.equal(codeOf(await settle(client, endToEndId, id)), 200)
  await requireClean(client)
})
