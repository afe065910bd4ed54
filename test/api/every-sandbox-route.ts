import assert from 'node:assert/strict'
import type { Client, TestApi } from '../support/api.ts'
import { CLOCK, played } from '../support/clocks.ts'
import { makeCharge } from '../support/payments.ts'
import { on, type Try } from './tries.ts'

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
]
