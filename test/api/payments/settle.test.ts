import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditCompany } from '../../../src/core/audits/commands.ts'
import { carryOutRefunds, expireDueCharges, releaseDueCharges } from '../../../src/worker/due.ts'
import { type Client, eventsOf, payer, type Reply, startApi } from '../../support/api.ts'
import {
  balancesOf,
  makeCharge,
  makePaid,
  makeUnmatched,
  movementsOf,
  pay,
  returnOf,
  stateOf,
  transfersOf,
} from '../../support/payments.ts'
import { stored } from '../storage.ts'

const api = await startApi()
const { app } = api

const answer = ({ status, body }: Reply) => [status, body.errors[0]?.code]
const settle = (client: Client, endToEndId: string, json: object) =>
  client.post(`/payment/unmatched/${endToEndId}/accept`, json)

/** A charge, and money that was sent for it in another amount. */
async function wrongAmount(amount: number, paid: number, fields: Record<string, unknown> = {}) {
  const client = await api.client()
  const { id, brCode } = await makeCharge(client, amount, fields)
  const endToEndId = await pay(api, brCode, { amount: paid })
  const moved = (await movementsOf(api, client)).length
  return {
    client,
    id,
    brCode,
    endToEndId,
    since: async () => (await movementsOf(api, client)).slice(moved),
  }
}

async function requireClean({ company }: Client): Promise<void> {
  const { faults } = await auditCompany(app, company.id, { whole: true })
  assert.deepEqual(faults, [])
}

const typesOf = async ({ company }: Client): Promise<string[]> =>
  (await eventsOf(api, company.id)).map(({ type }) => type)

test('an expired charge that is settled by hand is paid as any other, with its event, entries and receipt', async () => {
  const client = await api.client()
  const { id, brCode } = await makeCharge(client, 1990, { expiresIn: 60 })
  api.clock.advance(61)
  await expireDueCharges.run(app)
  const endToEndId = await pay(api, brCode)
  const receivedAt = api.clock.now().toISOString()
  const [waiting] = (await client.get('/payment/unmatched')).body.data
  assert.equal(waiting.reason, 'LATE')
  api.clock.advance(5)
  const reply = await settle(client, endToEndId, { chargeId: id })
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(reply.body.data, {
    ...waiting,
    status: 'ACCEPTED',
    settled: { chargeId: id, amount: 1990 },
  })
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'PAID'])
  const { data: charge } = (await client.get(`/charge/${id}`)).body
  assert.deepEqual(
    [charge.endToEndId, charge.paymentDate, charge.total, charge.shortfall],
    [endToEndId, receivedAt, 1990, undefined],
  )
  const types = await typesOf(client)
  assert.deepEqual(types.slice(-3), ['charge.expired', 'payment.unmatched', 'charge.paid'])
  const mails = await api.rows('select kind from mails where company_id = $1', [client.company.id])
  assert.deepEqual(mails, [{ kind: 'receipt' }])
  api.clock.advance(60)
  await releaseDueCharges.run(app)
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'RECEIVED'])
  assert.deepEqual(await movementsOf(api, client), [
    ['PAYMENT_UNMATCHED', endToEndId, 'bank>unmatched', 1990],
    ['CHARGE_PAID', endToEndId, 'unmatched>pending', 1990],
    ['CHARGE_SETTLED', endToEndId, 'pending>available', 1990],
  ])
  await requireClean(client)
})

test('a link that nobody has opened, and money that names another charge or none, can be settled', async () => {
  const client = await api.client()
  const link = await client.post('/charge/payment-link', { total: 700, customer: payer() })
  const { id } = link.body.data
  const named = await makeUnmatched(api, client, 700)
  assert.equal((await settle(client, named, { chargeId: id })).status, 200)
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'PAID'])
  const unnamed = await client.post('/sandbox/payment', { amount: 900 })
  const charge = await makeCharge(client, 900)
  const { endToEndId } = unnamed.body.data
  const { body } = await settle(client, endToEndId, { chargeId: charge.id })
  assert.deepEqual(body.data.settled, { chargeId: charge.id, amount: 900 })
  assert.equal(body.data.chargeId, undefined, 'it named none')
  await requireClean(client)
})

test('money beyond the amount is kept, and a refund of the charge returns no more than its amount', async () => {
  const { client, id, endToEndId, since } = await wrongAmount(1500, 1700)
  const { body } = await settle(client, endToEndId, { chargeId: id })
  assert.equal(body.data.status, 'ACCEPTED')
  assert.deepEqual(body.data.settled, { chargeId: id, amount: 1500 })
  assert.deepEqual(await since(), [
    ['CHARGE_PAID', endToEndId, 'unmatched>pending', 1500],
    ['PAYMENT_ACCEPTED', endToEndId, 'unmatched>available', 200],
  ])
  assert.deepEqual(answer(await client.post(`/refund/${id}`, { value: 1501 })), [
    409,
    'refund_not_possible',
  ])
  const refund = await client.post(`/refund/${id}`)
  assert.deepEqual([refund.body.data.value, refund.body.data.endToEndId], [1500, endToEndId])
  await carryOutRefunds.run(app)
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'REFUNDED'])
  await requireClean(client)
})

test('money beyond the amount goes back through the bank, once, and the charge stays paid', async () => {
  const { client, id, endToEndId, since } = await wrongAmount(1500, 1700)
  const asked = { chargeId: id, difference: 'refund' }
  const { body } = await settle(client, endToEndId, asked)
  assert.deepEqual(
    [body.data.status, body.data.settled],
    ['REFUNDING', { chargeId: id, amount: 1500 }],
  )
  const events = await typesOf(client)
  await Promise.all([1, 2, 3].map(() => carryOutRefunds.run(app)))
  const [paid, held, gone, ...none] = await since()
  assert.deepEqual(paid, ['CHARGE_PAID', endToEndId, 'unmatched>pending', 1500])
  assert.deepEqual(held!.slice(2), ['unmatched>held', 200])
  assert.deepEqual([gone![0], gone![3], none], ['REFUND_PAID', 200, []])
  const returned = (await transfersOf(api, client)).filter(([way]) => way === 'returned')
  assert.deepEqual(
    returned.map(([, , amount]) => amount),
    [200],
  )
  assert.deepEqual(await typesOf(client), events, 'nothing of the charge went back')
  assert.equal((await client.get(`/charge/${id}`)).body.data.refunded, undefined)
  assert.equal((await settle(client, endToEndId, asked)).body.data.status, 'REFUNDED')
  assert.equal((await client.post(`/refund/${id}`)).body.data.value, 1500)
  await carryOutRefunds.run(app)
  await requireClean(client)
})

test('money beyond the amount that the bank does not return waits for a decision, without its charge', async () => {
  const { client, id, endToEndId } = await wrongAmount(1500, 1500 + 66_666)
  await settle(client, endToEndId, { chargeId: id, difference: 'refund' })
  await carryOutRefunds.run(app)
  const [waiting] = (await client.get('/payment/unmatched')).body.data
  assert.deepEqual([waiting.status, waiting.settled], ['UNMATCHED', { chargeId: id, amount: 1500 }])
  assert.deepEqual((await balancesOf(api, client)).unmatched, 66_666)
  const other = await makeCharge(client, 700)
  const before = await stored(api)
  assert.deepEqual(answer(await settle(client, endToEndId, { chargeId: other.id })), [
    409,
    'payment_not_unmatched',
  ])
  assert.deepEqual(await stored(api), before)
  await requireClean(client)
  const kept = await client.post(`/payment/unmatched/${endToEndId}/accept`)
  assert.equal(kept.body.data.status, 'ACCEPTED')
  assert.equal((await balancesOf(api, client)).available, 166_666)
  await requireClean(client)
})

test('a return without an answer of money beyond the amount is asked about, and sent once', async () => {
  const { client, id, endToEndId } = await wrongAmount(1500, 1500 + 55_555)
  await settle(client, endToEndId, { chargeId: id, difference: 'refund' })
  await carryOutRefunds.run(app)
  const state = async () =>
    (await client.get('/payment/unmatched?status=REFUNDED')).body.data.length
  assert.equal(await state(), 0)
  api.clock.advance(60)
  await carryOutRefunds.run(app)
  assert.equal(await state(), 1)
  const returned = (await transfersOf(api, client)).filter(([way]) => way === 'returned')
  assert.equal(returned.length, 1)
  await requireClean(client)
})

test('money short of the amount completes the charge, which then has no more than what came', async () => {
  const { client, id, endToEndId, since } = await wrongAmount(1500, 1400)
  const { body } = await settle(client, endToEndId, { chargeId: id, difference: 'refund' })
  assert.deepEqual(
    [body.data.status, body.data.settled],
    ['ACCEPTED', { chargeId: id, amount: 1400, shortfall: 100 }],
  )
  const { data: charge } = (await client.get(`/charge/${id}`)).body
  assert.deepEqual([charge.status, charge.total, charge.shortfall], ['COMPLETED', 1500, 100])
  const page = await fetch(api.url + new URL(charge.url).pathname)
  const receipt = (await page.text()).replaceAll(/<[^>]+>|\s+/g, ' ')
  assert.match(receipt, /Valor\s+R\$ 14,00.*Valor da cobrança\s+R\$ 15,00/)
  const day = api.clock.now().toISOString().slice(0, 10)
  const sums = await client.get(`/charge/summary?paidFrom=${day}&paidTo=${day}`)
  assert.match(sums.text, /1400/)
  assert.doesNotMatch(sums.text, /1500/)
  assert.deepEqual(answer(await client.post(`/refund/${id}`, { value: 1401 })), [
    409,
    'refund_not_possible',
  ])
  await requireClean(client)
  api.clock.advance(60)
  await releaseDueCharges.run(app)
  assert.deepEqual(await since(), [
    ['CHARGE_PAID', endToEndId, 'unmatched>pending', 1400],
    ['CHARGE_SETTLED', endToEndId, 'pending>available', 1400],
  ])
  assert.equal((await client.post(`/refund/${id}`)).body.data.value, 1400)
  await carryOutRefunds.run(app)
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'REFUNDED'])
  await requireClean(client)
})

test('what the bank has returned before is no money of the charge, and what it returns later is', async () => {
  const { client, id, endToEndId } = await wrongAmount(1500, 1700)
  await client.post(returnOf(endToEndId), { value: 300 })
  const { body } = await settle(client, endToEndId, { chargeId: id })
  assert.deepEqual(body.data.settled, { chargeId: id, amount: 1400, shortfall: 100 })
  await requireClean(client)
  const later = await client.post(returnOf(endToEndId), { value: 1400 })
  assert.equal(later.body.data.chargeId, id)
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'REFUNDED'])
  assert.deepEqual(await balancesOf(api, client), {
    available: 100_000,
    pending: 0,
    held: 0,
    unmatched: 0,
  })
  await requireClean(client)
})

test('of money beyond the amount that waits again, a return by the bank leaves the charge alone', async () => {
  const { client, id, endToEndId } = await wrongAmount(1500, 1500 + 66_666)
  await settle(client, endToEndId, { chargeId: id, difference: 'refund' })
  await carryOutRefunds.run(app)
  const { body } = await client.post(returnOf(endToEndId), { value: 66_666 })
  assert.equal(body.data.chargeId, undefined)
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'PAID'])
  const [gone] = (await client.get('/payment/unmatched?status=REFUNDED')).body.data
  assert.deepEqual([gone.endToEndId, gone.returned], [endToEndId, 66_666])
  await requireClean(client)
})

test('only an unpaid charge of the company is settled, by a payment that waits', async () => {
  const client = await api.client()
  const waiting = await makeUnmatched(api, client, 700)
  const open = await makeCharge(client, 700)
  const paid = await makePaid(api, client, 700)
  const canceled = await makeCharge(client, 700)
  await client.post(`/charge/${canceled.id}/cancel`)
  const foreign = await makeCharge(await api.client(), 700)
  const product = await client.post('/product', {
    name: 'Clube',
    description: 'Mensal',
    price: 700,
    type: 'RECURRING',
    frequency: 'MONTHLY',
  })
  const subscribing = await client.post('/charge/payment-link', {
    customer: payer(),
    items: [{ productId: product.body.data.id, quantity: 1 }],
  })
  const accepted = await makeUnmatched(api, client, 700)
  await settle(client, accepted, {})
  const refunding = await makeUnmatched(api, client, 700)
  await client.post(`/payment/unmatched/${refunding}/refund`)
  const before = await stored(api)
  const NO_CHARGE = [404, 'charge_not_found']
  const tries: [string, object, unknown[]][] = [
    [waiting, { chargeId: foreign.id }, NO_CHARGE],
    [waiting, { chargeId: 'charge_01k0000000000000000000000' }, NO_CHARGE],
    [waiting, { chargeId: 'nonsense' }, NO_CHARGE],
    [waiting, { chargeId: paid.id }, [409, 'charge_not_settleable']],
    [waiting, { chargeId: canceled.id }, [409, 'charge_not_settleable']],
    [waiting, { chargeId: subscribing.body.data.id }, [409, 'charge_not_settleable']],
    [waiting, { difference: 'refund' }, [400, 'invalid_value']],
    [waiting, { difference: 'keep' }, [400, 'invalid_value']],
    [waiting, { chargeId: open.id, difference: 'burn' }, [400, 'invalid_value']],
    [waiting, { chargeId: 7 }, [400, 'invalid_value']],
    [accepted, { chargeId: open.id }, [409, 'payment_not_unmatched']],
    [refunding, { chargeId: open.id }, [409, 'payment_not_unmatched']],
    [paid.endToEndId, { chargeId: open.id }, [404, 'payment_not_found']],
  ]
  for (const [endToEndId, json, expected] of tries) {
    const reply = await settle(client, endToEndId, json)
    assert.deepEqual(answer(reply), expected, JSON.stringify(json))
  }
  assert.deepEqual(await stored(api), before)
})

test('a settled payment settles nothing else, and its difference is decided about once', async () => {
  const { client, id, brCode, endToEndId, since } = await wrongAmount(1500, 1700)
  const other = await makeCharge(client, 700)
  const first = await settle(client, endToEndId, { chargeId: id })
  const moved = await since()
  api.clock.advance(60)
  assert.equal((await settle(client, endToEndId, { chargeId: id })).text, first.text)
  assert.equal((await settle(client, endToEndId, {})).text, first.text)
  const conflict = [409, 'payment_not_unmatched']
  const refund = { chargeId: id, difference: 'refund' }
  assert.deepEqual(answer(await settle(client, endToEndId, refund)), conflict)
  assert.deepEqual(answer(await settle(client, endToEndId, { chargeId: other.id })), conflict)
  const again = await pay(api, brCode, { amount: 1500 })
  const [duplicate] = (await client.get('/payment/unmatched')).body.data
  assert.deepEqual([duplicate.endToEndId, duplicate.reason], [again, 'DUPLICATE'])
  assert.deepEqual(answer(await settle(client, again, { chargeId: id })), [
    409,
    'charge_not_settleable',
  ])
  assert.deepEqual((await since()).slice(0, moved.length), moved)
  await requireClean(client)
})

test('the answer to an Idempotency-Key is the first one again, and settles nothing twice', async () => {
  const { client, id, endToEndId } = await wrongAmount(1500, 1700)
  const path = `/payment/unmatched/${endToEndId}/accept`
  const send = (json: object) =>
    client.post(path, json, { headers: { 'Idempotency-Key': 'settle-1' } })
  const first = await send({ chargeId: id, difference: 'refund' })
  assert.equal(first.body.data.status, 'REFUNDING')
  await carryOutRefunds.run(app)
  const before = await stored(api)
  const again = await send({ chargeId: id, difference: 'refund' })
  assert.equal(again.text, first.text)
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert.deepEqual(answer(await send({ chargeId: id })), [422, 'idempotency_key_reused'])
  assert.deepEqual(await stored(api), before)
})

test('version 2025-01-01 answers with the payment alone', async () => {
  const { client, id, endToEndId } = await wrongAmount(1500, 1400)
  const headers = { 'X-Api-Version': '2025-01-01' }
  const path = `/payment/unmatched/${endToEndId}/accept`
  const { status, body } = await client.post(path, { chargeId: id }, { headers })
  assert.equal(status, 200)
  assert.deepEqual(body.settled, { chargeId: id, amount: 1400, shortfall: 100 })
  const refused = await client.post(path, { difference: 'keep' }, { headers })
  assert.deepEqual([refused.status, refused.body.error], [400, 'invalid_value'])
})
