import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FullApp } from '../../../src/core/full-app.ts'
import { payOut } from '../../../src/core/withdrawals/payouts.ts'
import { claimDuePayouts } from '../../../src/core/withdrawals/store.ts'
import type { Outcome, Payouts, SendOrder, Sent } from '../../../src/provider/port.ts'
import { payOutWithdrawals } from '../../../src/worker/due.ts'
import { type Client, eventsOf, startApi } from '../../support/api.ts'
import { lettersOf } from '../../support/mail.ts'
import { dueNow } from '../../support/requests.ts'
import {
  balanceOf,
  confirmed,
  OPENING,
  PATH,
  postingsOf,
  rowOf,
  sentOf,
  start,
} from '../../support/withdrawals.ts'

const api = await startApi()
const bank = api.app.providers.simulator

const SILENT = { kind: 'unknown', reason: 'no answer' } as const
const REFUSED = { kind: 'rejected', reason: 'the key is gone' } as const

/** The app with a bank that does otherwise than the simulated one. */
const withBank = (change: Partial<Payouts>): FullApp => ({
  ...api.app,
  providers: { ...api.app.providers, payoutsOf: () => ({ ...bank, ...change }) },
})

const shown = async (client: Client, id: string) => (await client.get(`${PATH}/${id}`)).body.data
const lastLetter = async ({ company }: Client) => (await lettersOf(api, company.id)).at(-1)!

test('a confirmed withdrawal is paid out: bank, books, event and mail agree', async () => {
  const client = await api.client()
  const id = await confirmed(api, client, 5000)
  api.clock.advance(1)
  await payOutWithdrawals.run(api.app)
  const now = api.clock.now()
  const [sent, ...others] = await sentOf(api, client)
  assert.deepEqual([sent!.order_id, sent!.amount, others], [id, 5000, []])
  const { status, finishedAt, endToEndId } = await shown(client, id)
  assert.deepEqual(
    [status, finishedAt, endToEndId],
    ['COMPLETED', now.toISOString(), sent!.end_to_end_id],
  )
  assert.deepEqual(await balanceOf(api, client), { available: 95_000, held: 0 })
  assert.deepEqual(await postingsOf(api, client), [
    ['WITHDRAWAL_HELD', id, 5000],
    ['WITHDRAWAL_PAID', id, 5000],
  ])
  const withdrawal = { id, status: 'COMPLETED', value: 5000 }
  assert.deepEqual(await eventsOf(api, client.company.id), [
    {
      type: 'withdrawal.completed',
      payload: { event: 'Withdrawal.Completed', withdrawal, externalId: null },
    },
  ])
  const letter = await lastLetter(client)
  assert.deepEqual([letter.kind, letter.to], ['withdrawal-completed', client.company.email])
  assert.ok(letter.text.includes(sent!.end_to_end_id))
  await start(client, 95_000)
})

test('a refused payout fails and gives the money back', async () => {
  const client = await api.client()
  const id = await confirmed(api, client, 66_666)
  await payOutWithdrawals.run(api.app)
  const { status, failureReason, endToEndId } = await shown(client, id)
  assert.deepEqual(
    [status, failureReason, endToEndId],
    ['FAILED', 'the simulated bank refuses this amount', undefined],
  )
  assert.deepEqual(await sentOf(api, client), [])
  assert.deepEqual(await balanceOf(api, client), OPENING)
  assert.deepEqual(await postingsOf(api, client), [
    ['WITHDRAWAL_HELD', id, 66_666],
    ['WITHDRAWAL_RELEASED', id, 66_666],
  ])
  const withdrawal = { id, status: 'FAILED', value: 66_666 }
  assert.deepEqual(await eventsOf(api, client.company.id), [
    {
      type: 'withdrawal.failed',
      payload: { event: 'Withdrawal.Failed', withdrawal, externalId: null },
    },
  ])
  const letter = await lastLetter(client)
  assert.equal(letter.kind, 'withdrawal-failed')
  assert.ok(letter.text.includes(failureReason))
  await start(client, 100_000)
})

test('a payout without an answer is asked about, and never sent twice', async () => {
  const client = await api.client()
  const id = await confirmed(api, client, 55_555)
  await payOutWithdrawals.run(api.app)
  assert.equal((await sentOf(api, client)).length, 1, 'carried out, but unanswered')
  const row = await rowOf(api, id)
  assert.deepEqual([row.status, row.attempts, row.ordered_at], ['PROCESSING', 1, api.clock.now()])
  assert.deepEqual(await balanceOf(api, client), { available: 44_445, held: 55_555 })
  api.clock.advance(4)
  await payOutWithdrawals.run(api.app)
  assert.equal((await rowOf(api, id)).attempts, 1, 'not before its time')
  api.clock.advance(1)
  const send = () => assert.fail('it is asked about, not ordered again')
  await payOutWithdrawals.run(withBank({ send }))
  const [sent, ...others] = await sentOf(api, client)
  assert.deepEqual(others, [])
  const { status, endToEndId } = await shown(client, id)
  assert.deepEqual([status, endToEndId], ['COMPLETED', sent!.end_to_end_id])
  assert.deepEqual(await balanceOf(api, client), { available: 44_445, held: 0 })
})

test('an order that never reached the bank is given again under the same id', async () => {
  const client = await api.client()
  const id = await confirmed(api, client, 5000)
  const orders: SendOrder[] = []
  const failing = withBank({
    send: (_, order) => {
      orders.push(order)
      return Promise.reject(new Error('connect ECONNREFUSED'))
    },
  })
  await payOutWithdrawals.run(failing)
  assert.equal((await shown(client, id)).status, 'PROCESSING')
  api.clock.advance(5)
  await payOutWithdrawals.run(
    withBank({
      send: (payee, order, store) => {
        orders.push(order)
        return bank.send(payee, order, store)
      },
    }),
  )
  assert.equal((await shown(client, id)).status, 'COMPLETED')
  const [first, second] = orders.map(({ orderedAt: _, ...order }) => order)
  assert.equal(orders.length, 2)
  assert.deepEqual(first, second)
  assert.equal((await sentOf(api, client)).length, 1)
})

test('a silent bank is asked ever more rarely, for ever, and nothing changes meanwhile', async () => {
  const client = await api.client()
  const id = await confirmed(api, client, 5000)
  const silent = withBank({ send: async () => SILENT, findSent: async () => SILENT })
  for (const wait_s of [5, 30, 120, 600, 1800, 1800, 1800]) {
    await payOutWithdrawals.run(silent)
    const { next_attempt_at: next } = await rowOf(api, id)
    assert.equal((next as Date).getTime() - api.clock.now().getTime(), wait_s * 1000)
    api.clock.advance(wait_s)
  }
  assert.deepEqual(await balanceOf(api, client), { available: 95_000, held: 5000 })
  assert.deepEqual(await eventsOf(api, client.company.id), [])
  assert.equal((await postingsOf(api, client)).length, 1)
  await payOutWithdrawals.run(api.app)
  assert.equal((await shown(client, id)).status, 'COMPLETED')
})

test('a bank may refuse later what it had not answered', async () => {
  const client = await api.client()
  const id = await confirmed(api, client, 5000)
  await payOutWithdrawals.run(withBank({ send: async () => SILENT }))
  api.clock.advance(5)
  await payOutWithdrawals.run(withBank({ findSent: async () => REFUSED }))
  assert.deepEqual((await shown(client, id)).failureReason, REFUSED.reason)
  assert.deepEqual(await balanceOf(api, client), OPENING)
})

test('nothing leaves a company whose books differ, until the difference is gone', async () => {
  const [client, other] = [await api.client(), await api.client()]
  const [id, fine] = [await confirmed(api, client, 5000), await confirmed(api, other, 5000)]
  const { company } = client
  await api.rows(
    `insert into audits (company_id, checked_entry, difference, audited_at)
     values ($1, 1, 'held', $2)`,
    [company.id, api.clock.now()],
  )
  await payOutWithdrawals.run(api.app)
  const row = await rowOf(api, id)
  assert.deepEqual([row.status, row.attempts, row.ordered_at], ['PROCESSING', 0, null])
  assert.equal((await shown(other, fine)).status, 'COMPLETED')
  await api.rows('update audits set difference = null where company_id = $1', [company.id])
  await payOutWithdrawals.run(api.app)
  assert.equal((await shown(client, id)).status, 'COMPLETED')
})

test('a payout whose worker died over it is asked about once its lease is over', async () => {
  const client = await api.client()
  const id = await confirmed(api, client, 5000)
  const [claim] = await claimDuePayouts(api.app.db, dueNow(api.app, 10))
  const { id: orderId, value: amount, destination: pixKey } = claim!.order
  await bank.send(client.company, { id: orderId, amount, pixKey }, async () => {})
  api.clock.advance(59)
  await payOutWithdrawals.run(api.app)
  assert.equal((await shown(client, id)).status, 'PROCESSING')
  api.clock.advance(1)
  await payOutWithdrawals.run(withBank({ send: () => assert.fail('it was sent before') }))
  const { status, endToEndId } = await shown(client, id)
  const sent = await sentOf(api, client)
  assert.deepEqual([status, sent.length, endToEndId], ['COMPLETED', 1, sent[0]!.end_to_end_id])
})

test('a refusal that comes late does not undo what another worker gets done', async () => {
  const client = await api.client()
  const id = await confirmed(api, client, 5000)
  const [slow] = await claimDuePayouts(api.app.db, dueNow(api.app, 10))
  api.clock.advance(60)
  const [quick] = await claimDuePayouts(api.app.db, dueNow(api.app, 10))
  await payOut(withBank({ send: async (): Promise<Outcome<Sent>> => REFUSED }), slow!)
  assert.equal((await shown(client, id)).status, 'PROCESSING')
  await payOut(api.app, quick!)
  assert.equal((await shown(client, id)).status, 'COMPLETED')
  for (const claim of [slow!, quick!]) await payOut(api.app, claim)
  assert.deepEqual(await balanceOf(api, client), { available: 95_000, held: 0 })
  assert.equal((await postingsOf(api, client)).length, 2)
  assert.equal((await eventsOf(api, client.company.id)).length, 1)
  assert.equal((await sentOf(api, client)).length, 1)
})

test('two workers at once order every payout once', async () => {
  const clients = await Promise.all(Array.from({ length: 25 }, () => api.client()))
  for (const client of clients) await confirmed(api, client, 5000)
  const ordered: string[] = []
  const counting = withBank({
    send: (payee, order, store) => {
      ordered.push(order.id)
      return bank.send(payee, order, store)
    },
  })
  await Promise.all([payOutWithdrawals.run(counting), payOutWithdrawals.run(counting)])
  assert.deepEqual([ordered.length, new Set(ordered).size], [25, 25])
  for (const client of clients) {
    assert.deepEqual(await balanceOf(api, client), { available: 95_000, held: 0 })
    assert.equal((await sentOf(api, client)).length, 1)
  }
})

test('an order keeps the moment at which the bank may first have got it', async () => {
  const client = await api.client()
  const id = await confirmed(api, client, 5000)
  const first = api.clock.now()
  const silent = withBank({ send: async () => SILENT, findSent: async () => SILENT })
  for (let i = 0; i < 3; i++) {
    await payOutWithdrawals.run(silent)
    api.clock.advance(600)
  }
  const { ordered_at, attempts } = await rowOf(api, id)
  assert.deepEqual([ordered_at, attempts], [first, 3])
})
