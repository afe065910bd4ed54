import assert from 'node:assert/strict'
import { sendDefenses } from '../../src/worker/due.ts'
import type { Client, TestApi } from '../support/api.ts'
import { CLOCK, played } from '../support/clocks.ts'
import {
  codeOf,
  decisionOf,
  disputeOf,
  makeCharge,
  returnOf,
  SANDBOX_PAYMENT,
} from '../support/payments.ts'
import { asMade, SANDBOX } from '../support/sandboxes.ts'
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

const NO_DISPUTE = 'dispute_00000000000000000000000000'
const DEFENSE = {
  text: 'O pedido foi entregue em 12/08.',
  files: [{ name: 'entrega.pdf', content: Buffer.from('%PDF-1.7 entrega').toString('base64') }],
}

/** A payment of a company, and the answer that its payer disputes it. */
async function unanswered(client: Client) {
  const { id } = await makeCharge(client, 700, { devMode: true })
  await client.post(`/charge/${id}/simulate-payment`)
  const { endToEndId } = dataOf(await client.get(`/charge/${id}`))
  return { endToEndId, opened: await client.post(disputeOf(endToEndId)) }
}

export const SANDBOX_TRIES: Try[] = [
  ...on('createSandbox', {
    created: async (client, _made, api) =>
      (await another(client, api)).post(SANDBOX, { expiresIn: 3600 }),
    invalid_value: (client) => client.post(SANDBOX, { expiresIn: 1 }),
    sandbox_only: async (client, _made, api) => (await another(client, api, 'live')).post(SANDBOX),
  }),
  ...on('deleteSandbox', {
    deleted: async (client, _made, api) => {
      const own = await another(client, api)
      await asMade(api, own)
      return own.delete(SANDBOX)
    },
    sandbox_only: (client) => client.delete(SANDBOX),
  }),
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
  ...on('openDispute', {
    opened: async (client, _made, api) => (await unanswered(await another(client, api))).opened,
    dispute_not_open: async (client, _made, api) => {
      const own = await another(client, api)
      return own.post(disputeOf((await unanswered(own)).endToEndId))
    },
    invalid_value: (client) => client.post(disputeOf('E1'), { hours: 0 }),
    payment_not_found: async (client, _made, api) =>
      (await another(client, api)).post(disputeOf('E99999999202608201500000000000zz')),
    sandbox_only: async (client, _made, api) =>
      (await another(client, api, 'live')).post(disputeOf('E99999999202608201500000000000zz')),
  }),
  ...on('decideDispute', {
    won: async (client, _made, api) => {
      const own = await another(client, api)
      const { id } = dataOf((await unanswered(own)).opened)
      return own.post(decisionOf(id), { decision: 'won' })
    },
    lost: async (client, _made, api) => {
      const own = await another(client, api)
      const { id } = dataOf((await unanswered(own)).opened)
      return own.post(decisionOf(id), { decision: 'lost' })
    },
    dispute_not_open: async (client, _made, api) => {
      const own = await another(client, api)
      const { id } = dataOf((await unanswered(own)).opened)
      await own.post(decisionOf(id), { decision: 'won' })
      return own.post(decisionOf(id), { decision: 'lost' })
    },
    invalid_value: (client) => client.post(decisionOf(NO_DISPUTE), { decision: 'maybe' }),
    dispute_not_found: (client) => client.post(decisionOf(NO_DISPUTE), { decision: 'won' }),
    sandbox_only: async (client, _made, api) =>
      (await another(client, api, 'live')).post(decisionOf(NO_DISPUTE), { decision: 'won' }),
  }),
  ...on('listDisputes', {
    listed: async (client, _made, api) => {
      const own = await another(client, api)
      await unanswered(own)
      return own.get('/dispute?status=OPEN')
    },
    nothing: (client) => client.get('/dispute'),
    invalid_value: (client) => client.get('/dispute?status=NOPE&limit=0'),
  }),
  ...on('getDispute', {
    defended: async (client, _made, api) => {
      const own = await another(client, api)
      const { id } = dataOf((await unanswered(own)).opened)
      await own.post(`/dispute/${id}/defense`, DEFENSE)
      await sendDefenses.run(api.app)
      return own.get(`/dispute/${id}`)
    },
    dispute_not_found: (client) => client.get(`/dispute/${NO_DISPUTE}`),
  }),
  ...on('acceptDispute', {
    accepted: async (client, _made, api) => {
      const own = await another(client, api)
      const { id } = dataOf((await unanswered(own)).opened)
      return own.post(`/dispute/${id}/accept`)
    },
    dispute_not_open: async (client, _made, api) => {
      const own = await another(client, api)
      const { id } = dataOf((await unanswered(own)).opened)
      await own.post(decisionOf(id), { decision: 'lost' })
      return own.post(`/dispute/${id}/accept`)
    },
    dispute_not_found: (client) => client.post(`/dispute/${NO_DISPUTE}/accept`),
  }),
  ...on('defendDispute', {
    recorded: async (client, _made, api) => {
      const own = await another(client, api)
      const { id } = dataOf((await unanswered(own)).opened)
      return own.post(`/dispute/${id}/defense`, DEFENSE)
    },
    dispute_not_open: async (client, _made, api) => {
      const own = await another(client, api)
      const { id } = dataOf((await unanswered(own)).opened)
      await own.post(`/dispute/${id}/defense`, DEFENSE)
      return own.post(`/dispute/${id}/defense`, DEFENSE)
    },
    invalid_value: (client) => client.post(`/dispute/${NO_DISPUTE}/defense`, { text: '' }),
    dispute_not_found: (client) => client.post(`/dispute/${NO_DISPUTE}/defense`, DEFENSE),
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
