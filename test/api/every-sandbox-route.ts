import assert from 'node:assert/strict'
import type { Client, TestApi } from '../support/api.ts'
import { CLOCK, played } from '../support/clocks.ts'
import { codeOf, makeCharge, returnOf, SANDBOX_PAYMENT } from '../support/payments.ts'
import { PATH } from '../support/withdrawals.ts'
import { dataOf, on, type Try } from './tries.ts'

/** A company whose clock nobody has moved yet, so that no other answer has another time for it. */
const another = ({ company }: Client, api: TestApi, mode: 'sandbox' | 'live' = 'sandbox') =>
  api.client({ mode, pixKey: 'outra@example.com' }, { apiVersion: company.apiVersion })

/** A company on its way to a moment that nobody brings about. */
async function advancing(client: Client, api: TestApi): Promise<Client> {
  const moving = await another(client, api)
  assert.equal((await moving.post(CLOCK, { advance: 60 })).status, 200)
  await api.rows(`update test_clocks set target = '2026-08-21T15:00:00Z' where company_id = $1`, [
    moving.company.id,
  ])
  return moving
}

/** A paid charge of a company, and how the bank returns its payment. */
async function paid(client: Client) {
  const { id } = await makeCharge(client, 700, { devMode: true })
  assert.equal((await client.post(`/charge/${id}/simulate-payment`)).status, 200)
  const { endToEndId } = dataOf(await client.get(`/charge/${id}`))
  return { id, path: (json: unknown) => client.post(returnOf(endToEndId), json) }
}

export const SANDBOX_TRIES: Try[] = [
  ...on('getClock', {
    'of real time': async (client, _made, api) => (await another(client, api)).get(CLOCK),
    'on its way': async (client, _made, api) => (await advancing(client, api)).get(CLOCK),
    clock_not_found: async (client, _made, api) => (await another(client, api, 'live')).get(CLOCK),
  }),
  ...on('moveClock', {
    'moved by seconds': async (client, _made, api) =>
      (await another(client, api)).post(CLOCK, { advance: 86_400 }),
    'moved to a moment, past a deadline': async (client, _made, api) => {
      const moving = await another(client, api)
      await makeCharge(moving, 700)
      return played(api, () => moving.post(CLOCK, { now: '2026-09-20T15:00:00-03:00' }))
    },
    invalid_value: (client) => client.post(CLOCK, { now: '2020-01-01T00:00:00Z' }),
    clock_advancing: async (client, _made, api) =>
      (await advancing(client, api)).post(CLOCK, { advance: 60 }),
    clock_not_found: async (client, _made, api) =>
      (await another(client, api, 'live')).post(CLOCK, { advance: 60 }),
  }),
  ...on('receivePayment', {
    received: async (client, _made, api) =>
      (await another(client, api)).post(SANDBOX_PAYMENT, {
        amount: 1990,
        payer: { name: 'Maria da Silva', taxId: '52998224725' },
      }),
    invalid_value: (client) => client.post(SANDBOX_PAYMENT, { amount: 0 }),
    sandbox_only: async (client, _made, api) =>
      (await another(client, api, 'live')).post(SANDBOX_PAYMENT, { amount: 1990 }),
  }),
  ...on('returnPayment', {
    'returned in part': async (client, _made, api) => {
      const { id, path } = await paid(await another(client, api))
      assert.match(id, /^charge_/)
      return path({ value: 500, reason: 'OPERATIONAL_FAILURE' })
    },
    returned: async (client, _made, api) => (await paid(await another(client, api))).path({}),
    refund_not_possible: async (client, _made, api) =>
      (await paid(await another(client, api))).path({ value: 701 }),
    payment_not_found: async (client, _made, api) =>
      (await another(client, api)).post(returnOf('E99999999202608201500000000000zz')),
    sandbox_only: async (client, _made, api) =>
      (await another(client, api, 'live')).post(returnOf('E99999999202608201500000000000zz')),
  }),
  ...on('makeWithdrawalCode', {
    made: async (client, _made, api) => {
      const own = await another(client, api)
      const { withdrawId } = dataOf(await own.post(PATH, { value: 700 }))
      return own.post(codeOf(withdrawId))
    },
    withdrawal_not_found: (client) => client.post(codeOf('wd_00000000000000000000000000')),
    withdrawal_not_confirmable: (client, { completed }) => client.post(codeOf(completed)),
    sandbox_only: async (client, { completed }, api) =>
      (await another(client, api, 'live')).post(codeOf(completed)),
  }),
]
