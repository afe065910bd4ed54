import assert from 'node:assert/strict'
import { test } from 'node:test'
import { carryOutRefunds } from '../../../src/worker/due.ts'
import { type Client, eventsOf, type Reply, startApi } from '../../support/api.ts'
import {
  balancesOf,
  makeCharge,
  makePaid,
  makeUnmatched,
  movementsOf,
  pay,
  stateOf,
  transfersOf,
} from '../../support/payments.ts'
import { stored } from '../storage.ts'

const api = await startApi()
const DAY_S = 24 * 3600

const answer = ({ status, body }: Reply) => [status, body.errors[0]?.code]
const accept = (client: Client, endToEndId: string) =>
  client.post(`/payment/unmatched/${endToEndId}/accept`)
const refund = (client: Client, endToEndId: string, json?: unknown) =>
  client.post(`/payment/unmatched/${endToEndId}/refund`, json)
const listed = async (client: Client, query = '') => {
  const { body } = await client.get(`/payment/unmatched${query}`)
  return body.data.map((payment: Reply['body']) => [payment.endToEndId, payment.status])
}

/** A company with an unmatched payment, and what its books were before anybody decided on it. */
async function unmatched(amount: number) {
  const client = await api.client()
  const endToEndId = await makeUnmatched(api, client, amount)
  const moved = (await movementsOf(api, client)).length
  return {
    client,
    endToEndId,
    since: async () => (await movementsOf(api, client)).slice(moved),
  }
}

test('an accepted payment becomes available at once and leaves its charge as it is', async () => {
  const client = await api.client()
  const { id, brCode } = await makeCharge(client, 1990)
  await client.post(`/charge/${id}/cancel`)
  const endToEndId = await pay(api, brCode)
  const events = await eventsOf(api, client.company.id)
  const [waiting] = (await client.get('/payment/unmatched')).body.data
  api.clock.advance(5)
  const reply = await accept(client, endToEndId)
  assert.equal(reply.status, 200)
  assert.deepEqual(reply.body.data, { ...waiting, status: 'ACCEPTED' })
  assert.deepEqual(await movementsOf(api, client), [
    ['PAYMENT_UNMATCHED', endToEndId, 'bank>unmatched', 1990],
    ['PAYMENT_ACCEPTED', endToEndId, 'unmatched>available', 1990],
  ])
  assert.deepEqual(await balancesOf(api, client), {
    available: 101_990,
    pending: 0,
    held: 0,
    unmatched: 0,
  })
  assert.deepEqual(await stateOf(client, id), ['CANCELED', 'PROCESSING'])
  assert.deepEqual(await eventsOf(api, client.company.id), events)
})

test('a payment accepted twice answers the same, and twenty times at once is accepted once', async () => {
  const { client, endToEndId, since } = await unmatched(1990)
  const replies = await Promise.all(Array.from({ length: 20 }, () => accept(client, endToEndId)))
  assert.deepEqual([...new Set(replies.map(({ text }) => text))].length, 1)
  assert.equal(replies[0]!.status, 200)
  const before = await stored(api)
  api.clock.advance(60)
  assert.equal((await accept(client, endToEndId)).text, replies[0]!.text)
  assert.deepEqual(await stored(api), before)
  assert.deepEqual(await since(), [['PAYMENT_ACCEPTED', endToEndId, 'unmatched>available', 1990]])
})

test('what was accepted cannot be refunded, and what goes back cannot be accepted', async () => {
  const one = await unmatched(1990)
  await accept(one.client, one.endToEndId)
  const other = await unmatched(1990)
  await refund(other.client, other.endToEndId)
  const before = await stored(api)
  const conflict = [409, 'payment_not_unmatched']
  assert.deepEqual(answer(await refund(one.client, one.endToEndId)), conflict)
  assert.deepEqual(answer(await accept(other.client, other.endToEndId)), conflict)
  assert.deepEqual(answer(await refund(other.client, other.endToEndId)), conflict)
  assert.deepEqual(await stored(api), before)
  await carryOutRefunds.run(api.app)
  assert.deepEqual(answer(await accept(other.client, other.endToEndId)), conflict)
  assert.deepEqual(answer(await refund(other.client, other.endToEndId)), conflict)
})

test('an accept and a refund at once: one of them happens', async () => {
  for (let round = 0; round < 5; round++) {
    const { client, endToEndId, since } = await unmatched(1990)
    const [kept, returned] = await Promise.all([
      accept(client, endToEndId),
      refund(client, endToEndId),
    ])
    const accepted = kept!.status === 200
    assert.deepEqual([kept!.status, returned!.status], accepted ? [200, 409] : [409, 201])
    const kinds = (await since()).map(([kind]) => kind)
    assert.deepEqual(kinds, [accepted ? 'PAYMENT_ACCEPTED' : 'REFUND_HELD'])
  }
})

test('a refunded payment goes back whole, through the bank, once', async () => {
  const { client, endToEndId, since } = await unmatched(1990)
  const reply = await refund(client, endToEndId, { comment: 'Paid twice' })
  const { id } = reply.body.data
  assert.match(id, /^rfnd_[0-9a-z]{26}$/)
  assert.deepEqual(
    [reply.status, reply.body.data],
    [
      201,
      {
        id,
        status: 'PROCESSING',
        value: 1990,
        endToEndId,
        comment: 'Paid twice',
        createdAt: api.clock.now().toISOString(),
      },
    ],
  )
  assert.deepEqual(await since(), [['REFUND_HELD', id, 'unmatched>held', 1990]])
  assert.deepEqual(await listed(client), [])
  assert.deepEqual(await listed(client, '?status=REFUNDING'), [[endToEndId, 'REFUNDING']])
  const events = await eventsOf(api, client.company.id)
  await Promise.all([1, 2, 3].map(() => carryOutRefunds.run(api.app)))
  assert.deepEqual((await since()).slice(1), [['REFUND_PAID', id, 'held>bank', 1990]])
  assert.deepEqual(await balancesOf(api, client), {
    available: 100_000,
    pending: 500,
    held: 0,
    unmatched: 0,
  })
  assert.deepEqual(await listed(client, '?status=REFUNDED'), [[endToEndId, 'REFUNDED']])
  const returned = (await transfersOf(api, client)).filter(([way]) => way === 'returned')
  assert.deepEqual(
    returned.map(([, , amount]) => amount),
    [1990],
  )
  assert.deepEqual(await eventsOf(api, client.company.id), events, 'no charge was refunded')
})

test('a payment that the bank does not return waits for a decision again', async () => {
  const { client, endToEndId, since } = await unmatched(66_666)
  const { body } = await refund(client, endToEndId)
  await carryOutRefunds.run(api.app)
  assert.deepEqual(await since(), [
    ['REFUND_HELD', body.data.id, 'unmatched>held', 66_666],
    ['REFUND_RELEASED', body.data.id, 'held>unmatched', 66_666],
  ])
  assert.deepEqual(await listed(client), [[endToEndId, 'UNMATCHED']])
  assert.equal((await accept(client, endToEndId)).status, 200)
  assert.equal((await balancesOf(api, client)).available, 166_666)
})

test('a return without an answer is asked about until it is known, and sent once', async () => {
  const { client, endToEndId, since } = await unmatched(55_555)
  const { body } = await refund(client, endToEndId)
  await carryOutRefunds.run(api.app)
  assert.deepEqual(await listed(client, '?status=REFUNDING'), [[endToEndId, 'REFUNDING']])
  api.clock.advance(60)
  await carryOutRefunds.run(api.app)
  assert.deepEqual(await listed(client, '?status=REFUNDED'), [[endToEndId, 'REFUNDED']])
  const kinds = (await since()).map(([kind, ref]) => [kind, ref])
  assert.deepEqual(kinds, [
    ['REFUND_HELD', body.data.id],
    ['REFUND_PAID', body.data.id],
  ])
  const returned = (await transfersOf(api, client)).filter(([way]) => way === 'returned')
  assert.equal(returned.length, 1)
})

test('after 90 days a payment can no longer go back, but can be kept', async () => {
  const [one, other] = [await unmatched(700), await unmatched(700)]
  api.clock.advance(90 * DAY_S)
  assert.equal((await refund(one.client, one.endToEndId)).status, 201)
  api.clock.advance(1)
  const before = await stored(api)
  const late = await refund(other.client, other.endToEndId)
  assert.deepEqual(answer(late), [409, 'refund_not_possible'])
  assert.deepEqual(await stored(api), before)
  assert.equal((await accept(other.client, other.endToEndId)).status, 200)
})

test('only money that matched nothing is found here', async () => {
  const client = await api.client()
  const { endToEndId } = await makePaid(api, client, 1990)
  const before = await stored(api)
  for (const id of [endToEndId, 'E99999999202608201500aaaaaaaaaaa', 'x', '%00']) {
    for (const act of [accept, refund]) {
      assert.deepEqual(answer(await act(client, id)), [404, 'payment_not_found'], id)
    }
  }
  assert.deepEqual(await stored(api), before)
})

test('the list shows those that wait, newest first, page by page, and others when asked', async () => {
  const client = await api.client()
  const ids: string[] = []
  for (const amount of [601, 602, 603, 604, 605]) {
    ids.unshift(await makeUnmatched(api, client, amount))
  }
  const waiting = ids.map((id) => [id, 'UNMATCHED'])
  assert.deepEqual(await listed(client), waiting)
  const first = await client.get('/payment/unmatched?limit=2')
  const next = /after=([0-9a-f-]+)/.exec(first.headers.get('link')!)![1]
  assert.equal(next, first.body.data[1].id)
  assert.deepEqual(await listed(client, `?limit=2&after=${next}`), waiting.slice(2, 4))
  await accept(client, ids[1]!)
  await refund(client, ids[3]!)
  assert.deepEqual(await listed(client), [waiting[0], waiting[2], waiting[4]])
  assert.deepEqual(await listed(client, '?status=ACCEPTED'), [[ids[1], 'ACCEPTED']])
  for (const query of ['?status=MATCHED', '?status=x', '?after=x', '?limit=0']) {
    const reply = await client.get(`/payment/unmatched${query}`)
    assert.deepEqual(answer(reply), [400, 'invalid_value'], query)
  }
})
