import assert from 'node:assert/strict'
import { test } from 'node:test'
import { carryOutRefunds, payOutWithdrawals, releaseDueCharges } from '../../../src/worker/due.ts'
import { type Client, eventsOf, type Reply, startApi } from '../../support/api.ts'
import {
  balancesOf,
  makeCharge,
  makeCode,
  makePaid,
  movementsOf,
  pay,
  stateOf,
  transfersOf,
} from '../../support/payments.ts'
import { confirmed } from '../../support/withdrawals.ts'
import { stored } from '../storage.ts'

const api = await startApi()
const DAY_S = 24 * 3600
const [REFUSED, UNANSWERED] = [66_666, 55_555]

const answer = ({ status, body }: Reply) => [status, body.errors[0]?.code]
const line = ({ body }: Reply): string => body.errors[0].description
const refund = (client: Client, id: string, json?: unknown) => client.post(`/refund/${id}`, json)
const carryOut = () => carryOutRefunds.run(api.app)

async function started(client: Client, id: string, json?: unknown): Promise<string> {
  const { status, body, text } = await refund(client, id, json)
  assert.equal(status, 201, text)
  return body.data.id
}

async function release(seconds = 60): Promise<void> {
  api.clock.advance(seconds)
  await releaseDueCharges.run(api.app)
}

/** A company with one paid charge, and what has moved in its books since it was paid. */
async function paid(amount: number) {
  const client = await api.client()
  const charge = await makePaid(api, client, amount)
  const count = (await eventsOf(api, client.company.id)).length
  return {
    client,
    ...charge,
    since: async () => (await movementsOf(api, client)).slice(1),
    newEvents: async () => (await eventsOf(api, client.company.id)).slice(count),
    returned: async () =>
      (await transfersOf(api, client)).filter(([direction]) => direction === 'returned'),
  }
}

/** The event of a refund, after which so much of the charge can still go back. */
const refunded = (
  charge: { id: string; status: string; total: number },
  refund: { id: string; value: number },
  refundable = 0,
) => ({
  type: 'charge.refunded',
  payload: { event: 'Charge.Refunded', charge, refund, refundable, externalId: null },
})

test('a full refund before the release takes the money from pending, and the charge is REFUNDED', async () => {
  const { client, id, endToEndId, since, newEvents, returned } = await paid(1990)
  const createdAt = api.clock.now().toISOString()
  const reply = await refund(client, id, { comment: 'Sem estoque' })
  const refundId = reply.body.data.id
  assert.match(refundId, /^rfnd_[0-9a-z]{26}$/)
  const shown = {
    id: refundId,
    status: 'PROCESSING',
    value: 1990,
    endToEndId,
    chargeId: id,
    comment: 'Sem estoque',
    createdAt,
  }
  assert.deepEqual([reply.status, reply.body.data], [201, shown])
  assert.deepEqual(await since(), [['REFUND_HELD', refundId, 'pending>held', 1990]])
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'PAID'], 'nothing has gone back yet')
  assert.deepEqual(await newEvents(), [])
  api.clock.advance(5)
  await carryOut()
  assert.deepEqual((await since()).slice(1), [['REFUND_PAID', refundId, 'held>bank', 1990]])
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'REFUNDED'])
  assert.deepEqual(await newEvents(), [
    refunded({ id, status: 'REFUNDED', total: 1990 }, { id: refundId, value: 1990 }),
  ])
  const [transfer] = await returned()
  assert.deepEqual((await client.get(`/refund/charge/${id}`)).body.data, [
    {
      ...shown,
      status: 'COMPLETED',
      returnId: transfer![1],
      finishedAt: api.clock.now().toISOString(),
    },
  ])
  assert.match(String(transfer![1]), /^D99999999\d{12}[0-9A-Za-z]{11}$/)
  await release()
  assert.deepEqual(
    await stateOf(client, id),
    ['COMPLETED', 'REFUNDED'],
    'nothing is left to release',
  )
  assert.deepEqual(await balancesOf(api, client), {
    available: 100_000,
    pending: 0,
    held: 0,
    unmatched: 0,
  })
})

test('a refund after the release takes the money from available', async () => {
  const { client, id, since } = await paid(1990)
  await release()
  const refundId = await started(client, id)
  await carryOut()
  assert.deepEqual((await since()).slice(1), [
    ['REFUND_HELD', refundId, 'available>held', 1990],
    ['REFUND_PAID', refundId, 'held>bank', 1990],
  ])
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'REFUNDED'])
})

test('partial refunds add up to the whole, each with its event, and no cent more', async () => {
  const { client, id, newEvents, returned } = await paid(1000)
  const refunds: string[] = []
  for (const value of [1, 499]) {
    refunds.push(await started(client, id, { value }))
    await carryOut()
  }
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'PAID'])
  await release()
  const before = await stored(api)
  const more = await refund(client, id, { value: 501 })
  assert.deepEqual(answer(more), [409, 'refund_not_possible'])
  assert.match(line(more), /^value: 501 .* 500 /)
  assert.deepEqual(await stored(api), before)
  refunds.push(await started(client, id))
  await carryOut()
  const [first, second, received, last] = await newEvents()
  const paidCharge = { id, status: 'PAID', total: 1000 }
  assert.deepEqual(first, refunded(paidCharge, { id: refunds[0]!, value: 1 }, 999))
  assert.deepEqual(second, refunded(paidCharge, { id: refunds[1]!, value: 499 }, 500))
  assert.equal(received!.type, 'charge.received')
  const whole = { id, status: 'REFUNDED', total: 1000 }
  assert.deepEqual(last, refunded(whole, { id: refunds[2]!, value: 500 }))
  assert.deepEqual((await returned()).map(([, , amount]) => amount).sort(), [1, 499, 500])
  const { body } = await client.get(`/refund/charge/${id}`)
  const values = body.data.map(({ value }: { value: number }) => value)
  assert.deepEqual(values, [500, 499, 1], 'newest first')
  const twice = await refund(client, id)
  assert.deepEqual(answer(twice), [409, 'refund_not_possible'])
})

test('what was not refunded is released, whether the refund is done by then or not', async () => {
  for (const early of [true, false]) {
    const { client, id, endToEndId, since } = await paid(1990)
    await started(client, id, { value: 990 })
    if (early) await carryOut()
    await release()
    assert.deepEqual((await since()).at(-1), [
      'CHARGE_SETTLED',
      endToEndId,
      'pending>available',
      1000,
    ])
    assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'RECEIVED'])
    await carryOut()
    assert.deepEqual(await balancesOf(api, client), {
      available: 101_000,
      pending: 0,
      held: 0,
      unmatched: 0,
    })
  }
})

test('a refund under way counts: two cannot return more than was paid, also at once', async () => {
  const { client, id, returned } = await paid(1000)
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => refund(client, id, { value: 300 })),
  )
  const statuses = replies.map(({ status }) => status).sort()
  assert.deepEqual(statuses, [201, 201, 201, ...Array(17).fill(409)])
  await Promise.all([1, 2, 3].map(carryOut))
  assert.deepEqual((await returned()).length, 3)
  assert.deepEqual(await balancesOf(api, client), {
    available: 100_000,
    pending: 100,
    held: 0,
    unmatched: 0,
  })
})

test('a refund that the bank refuses fails, and its money comes back to pending', async () => {
  const { client, id, endToEndId, since, newEvents, returned } = await paid(70_000)
  const refundId = await started(client, id, { value: REFUSED })
  await carryOut()
  assert.deepEqual((await since()).slice(1), [
    ['REFUND_RELEASED', refundId, 'held>pending', REFUSED],
  ])
  const [shown] = (await client.get(`/refund/charge/${id}`)).body.data
  assert.equal(shown.status, 'FAILED')
  assert.equal(shown.failureReason, 'the simulated bank refuses this amount')
  assert.equal(shown.returnId, undefined)
  assert.deepEqual([await newEvents(), await returned()], [[], []])
  await release()
  assert.deepEqual((await since()).at(-1), [
    'CHARGE_SETTLED',
    endToEndId,
    'pending>available',
    70_000,
  ])
  await started(client, id, { value: 70_000 })
  await carryOut()
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'REFUNDED'])
})

test('money of a refused refund whose charge was released meanwhile becomes available', async () => {
  const { client, id, since } = await paid(70_000)
  const refundId = await started(client, id, { value: REFUSED })
  await release()
  await carryOut()
  assert.deepEqual((await since()).at(-1), ['REFUND_RELEASED', refundId, 'held>available', REFUSED])
  assert.deepEqual(await balancesOf(api, client), {
    available: 170_000,
    pending: 0,
    held: 0,
    unmatched: 0,
  })
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'RECEIVED'])
})

test('a refund without an answer is asked about, completed once and never ordered twice', async () => {
  const { client, id, since, newEvents, returned } = await paid(UNANSWERED)
  const refundId = await started(client, id)
  await carryOut()
  assert.equal((await returned()).length, 1, 'the bank has done it and did not say so')
  const processing = async () =>
    (await client.get(`/refund/charge/${id}`)).body.data[0].status === 'PROCESSING'
  assert.ok(await processing())
  assert.deepEqual(await since(), [['REFUND_HELD', refundId, 'pending>held', UNANSWERED]])
  api.clock.advance(4)
  await carryOut()
  assert.ok(await processing(), 'it is not yet time to ask')
  api.clock.advance(1)
  await Promise.all([1, 2, 3].map(carryOut))
  await carryOut()
  assert.equal(await processing(), false)
  assert.deepEqual((await since()).slice(1), [['REFUND_PAID', refundId, 'held>bank', UNANSWERED]])
  assert.equal((await returned()).length, 1)
  assert.deepEqual(await newEvents(), [
    refunded({ id, status: 'REFUNDED', total: UNANSWERED }, { id: refundId, value: UNANSWERED }),
  ])
})

test('only a paid charge can be refunded', async () => {
  const client = await api.client()
  const [open, canceled, expired] = [
    await makeCharge(client, 1990),
    await makeCharge(client, 1990),
    await makeCharge(client, 1990, { expiresIn: 1 }),
  ]
  await client.post(`/charge/${canceled.id}/cancel`)
  api.clock.advance(1.001)
  await pay(api, expired.brCode)
  const before = await stored(api)
  for (const { id } of [open, canceled, expired]) {
    assert.deepEqual(answer(await refund(client, id)), [409, 'refund_not_possible'])
    assert.deepEqual((await client.get(`/refund/charge/${id}`)).body.data, [])
  }
  const unknown = await refund(client, 'charge_00000000000000000000000000')
  assert.deepEqual(answer(unknown), [404, 'charge_not_found'])
  assert.deepEqual(await stored(api), before)
})

test('a charge can be refunded for 90 days and no longer', async () => {
  const { client, id } = await paid(1990)
  await release(90 * DAY_S)
  await started(client, id, { value: 990 })
  api.clock.advance(0.001)
  const before = await stored(api)
  const late = await refund(client, id)
  assert.deepEqual(answer(late), [409, 'refund_not_possible'])
  assert.match(line(late), /90 days/)
  assert.deepEqual(await stored(api), before)
})

test('money that was withdrawn cannot be refunded', async () => {
  const { client, id } = await paid(1990)
  await release()
  await confirmed(api, client, 101_000)
  const before = await stored(api)
  const reply = await refund(client, id, { value: 991 })
  assert.deepEqual(answer(reply), [422, 'insufficient_balance'])
  assert.match(line(reply), /^value: 991 .* 990 /)
  assert.deepEqual(await stored(api), before)
  await payOutWithdrawals.run(api.app)
  assert.equal((await refund(client, id)).status, 422)
  await started(client, id, { value: 990 })
  assert.deepEqual(await balancesOf(api, client), {
    available: 0,
    pending: 0,
    held: 990,
    unmatched: 0,
  })
})

test('a sale through a static code can be refunded like any charge', async () => {
  const client = await api.client()
  const { brCode } = await makeCode(client, 250)
  await pay(api, brCode)
  const [{ id }] = (await client.get('/charge')).body.data
  await started(client, id, { value: 50 })
  await started(client, id)
  await carryOut()
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'REFUNDED'])
})

test('the same refund under one Idempotency-Key happens once', async () => {
  const { client, id } = await paid(1990)
  const options = { headers: { 'Idempotency-Key': 'return 1' } }
  const replies = await Promise.all(
    Array.from({ length: 10 }, () => client.post(`/refund/${id}`, { value: 500 }, options)),
  )
  assert.deepEqual([...new Set(replies.map(({ text }) => text))].length, 1)
  await carryOut()
  assert.equal((await balancesOf(api, client)).pending, 1490)
  const other = await client.post(`/refund/${id}`, { value: 501 }, options)
  assert.deepEqual(answer(other), [422, 'idempotency_key_reused'])
})

test('nothing is returned for a company whose books differ, until somebody has looked', async () => {
  const { client, id, returned } = await paid(1990)
  await api.rows(
    `insert into audits (company_id, checked_entry, difference, audited_at)
     values ($1, 0, 'one cent', now())`,
    [client.company.id],
  )
  await started(client, id)
  await carryOut()
  assert.deepEqual(await returned(), [])
  await api.rows('update audits set difference = null where company_id = $1', [client.company.id])
  await carryOut()
  assert.equal((await returned()).length, 1)
})

test('a charge is REFUNDED when all of it has gone back, not while a part is under way', async () => {
  const { client, id } = await paid(55_555 + 100)
  await started(client, id, { value: UNANSWERED })
  await started(client, id, { value: 100 })
  await carryOut()
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'PAID'])
  api.clock.advance(3600)
  await carryOut()
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'REFUNDED'])
})

test('what the bank refused to return is released with the rest of its charge', async () => {
  const { client, id } = await paid(REFUSED + 500)
  await started(client, id, { value: REFUSED })
  await started(client, id, { value: 200 })
  await carryOut()
  await release()
  const { available, pending, held } = await balancesOf(api, client)
  assert.deepEqual([available - 100_000, pending, held], [REFUSED + 300, 0, 0])
})
