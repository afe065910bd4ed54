import assert from 'node:assert/strict'
import { test } from 'node:test'
import { carryOutRefunds, releaseDueCharges } from '../../../src/worker/due.ts'
import { eventsOf, startApi } from '../../support/api.ts'
import {
  balancesOf,
  makeCharge,
  makeCode,
  movementsOf,
  pay,
  stateOf,
} from '../../support/payments.ts'

const api = await startApi()

test('paid money is received exactly when the company’s delay is over, once, with its event', async () => {
  for (const delay_s of [60, 86_400]) {
    const client = await api.client({ releaseDelay_s: delay_s })
    const [first, later] = [await makeCharge(client, 1990), await makeCode(client, 250)]
    const endToEndId = await pay(api, first.brCode)
    api.clock.advance(1)
    await pay(api, later.brCode)
    api.clock.advance(delay_s - 1.001)
    await releaseDueCharges.run(api.app)
    assert.deepEqual(await stateOf(client, first.id), ['COMPLETED', 'PAID'])
    api.clock.advance(0.001)
    await Promise.all([1, 2, 3].map(() => releaseDueCharges.run(api.app)))
    await releaseDueCharges.run(api.app)
    assert.deepEqual(await stateOf(client, first.id), ['COMPLETED', 'RECEIVED'])
    assert.deepEqual((await eventsOf(api, client.company.id)).at(-1), {
      type: 'charge.received',
      payload: {
        event: 'Charge.Received',
        charge: { id: first.id, status: 'RECEIVED', total: 1990 },
      },
    })
    assert.deepEqual((await movementsOf(api, client)).slice(2), [
      ['CHARGE_SETTLED', endToEndId, 'pending>available', 1990],
    ])
    assert.deepEqual(await balancesOf(api, client), {
      available: 101_990,
      pending: 250,
      held: 0,
      unmatched: 0,
    })
  }
})

test('a charge of simulate-payment is received like one of the bank', async () => {
  const client = await api.client()
  const { id } = await makeCharge(client, 1990, { devMode: true })
  await client.post(`/charge/${id}/simulate-payment`)
  api.clock.advance(60)
  await releaseDueCharges.run(api.app)
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'RECEIVED'])
  assert.equal((await balancesOf(api, client)).available, 101_990)
})

test('a live company’s trial is paid, received and refunded, and is never money', async () => {
  const client = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  const nothing = { available: 0, pending: 0, held: 0, unmatched: 0 }
  assert.deepEqual(await balancesOf(api, client), nothing)
  const { id, brCode } = await makeCharge(client, 1990, { devMode: true })
  const counter = await makeCode(client, 250, true)
  for (const code of [brCode, counter.brCode]) await pay(api, code)
  const [kept, returned] = [await pay(api, brCode), await pay(api, brCode)]
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'PAID'])
  await releaseDueCharges.run(api.app)
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'RECEIVED'])
  assert.equal((await client.post(`/payment/unmatched/${kept}/accept`)).status, 200)
  assert.equal((await client.post(`/payment/unmatched/${returned}/refund`)).status, 201)
  assert.equal((await client.post(`/refund/${id}`)).status, 201)
  await carryOutRefunds.run(api.app)
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'REFUNDED'])
  const types = (await eventsOf(api, client.company.id)).map(({ type }) => type)
  assert.equal(types.filter((type) => type === 'charge.received').length, 2)
  assert.equal(types.filter((type) => type === 'charge.refunded').length, 1)
  const rows = await api.rows(
    'select status, booked from payments where company_id = $1 order by id',
    [client.company.id],
  )
  assert.deepEqual(
    rows,
    ['MATCHED', 'MATCHED', 'ACCEPTED', 'REFUNDED'].map((status) => ({ status, booked: false })),
  )
  assert.deepEqual(await movementsOf(api, client), [])
  assert.deepEqual(await balancesOf(api, client), nothing)
})
