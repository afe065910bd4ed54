import { type Client, payer, type TestApi } from '../support/api.ts'
import { pay } from '../support/payments.ts'
import { PATH } from '../support/withdrawals.ts'
import { release } from './every-money-route.ts'
import { dataOf, on, type Try } from './tries.ts'

const NO_RECIPIENT = 'rcpt_00000000000000000000000000'
const ANA = { name: 'Padaria da Ana', taxId: '52998224725', pixKey: 'ana@example.com' }

/** A company of its own, so that no other answer has its recipients or its money. */
const another = ({ company }: Client, api: TestApi, mode: 'sandbox' | 'live' = 'sandbox') =>
  api.client({ mode, pixKey: 'outra@example.com' }, { apiVersion: company.apiVersion })

/** A recipient who has got a part of a charge, of which a part went back. */
async function paid(client: Client, api: TestApi) {
  const own = await another(client, api)
  const { id } = dataOf(await own.post('/recipient', ANA))
  const split = [{ recipientId: id, percent: 2500 }]
  const charge = dataOf(await own.post('/charge/pix', { amount: 2000, customer: payer(), split }))
  await pay(api, charge.brCode)
  await release(api, own)
  await own.post(`/refund/${charge.id}`, { value: 999 })
  return { own, id, charge }
}

export const RECIPIENT_TRIES: Try[] = [
  ...on('createRecipient', {
    created: async (client, _made, api) => (await another(client, api)).post('/recipient', ANA),
    invalid_value: async (client, _made, api) =>
      (await another(client, api, 'live')).post('/recipient', { ...ANA, pixKey: '39053344705' }),
  }),
  ...on('listRecipients', {
    listed: async (client, _made, api) => {
      const { own } = await paid(client, api)
      return own.get('/recipient?limit=1')
    },
    invalid_value: (client) => client.get('/recipient?status=NOPE'),
  }),
  ...on('getRecipient', {
    found: async (client, _made, api) => {
      const { own, id } = await paid(client, api)
      return own.get(`/recipient/${id}`)
    },
    recipient_not_found: (client) => client.get(`/recipient/${NO_RECIPIENT}`),
  }),
  ...on('changeRecipient', {
    changed: async (client, _made, api) => {
      const { own, id } = await paid(client, api)
      return own.put(`/recipient/${id}`, { pixKey: '+5511988887777', status: 'INACTIVE' })
    },
    invalid_value: (client) => client.put(`/recipient/${NO_RECIPIENT}`, { pixKey: 'x' }),
    recipient_not_found: (client) => client.put(`/recipient/${NO_RECIPIENT}`, { name: 'Ana' }),
  }),
  ...on('getRecipientBalance', {
    found: async (client, _made, api) => {
      const { own, id } = await paid(client, api)
      return own.get(`/recipient/${id}/balance`)
    },
    recipient_not_found: (client) => client.get(`/recipient/${NO_RECIPIENT}/balance`),
  }),
  ...on('getRecipientStatement', {
    listed: async (client, _made, api) => {
      const { own, id } = await paid(client, api)
      return own.get(`/recipient/${id}/statement`)
    },
    invalid_value: (client) => client.get(`/recipient/${NO_RECIPIENT}/statement?after=x`),
    recipient_not_found: (client) => client.get(`/recipient/${NO_RECIPIENT}/statement`),
  }),
  ...on('startPayout', {
    started: async (client, _made, api) => {
      const { own, id } = await paid(client, api)
      return own.post(`/recipient/${id}/payout`, { value: 100 })
    },
    withdrawal_pending: async (client, _made, api) => {
      const { own, id } = await paid(client, api)
      await own.post(PATH, { value: 700 })
      return own.post(`/recipient/${id}/payout`)
    },
    insufficient_balance: async (client, _made, api) => {
      const { own, id } = await paid(client, api)
      return own.post(`/recipient/${id}/payout`, { value: 251 })
    },
    recipient_key_changed: async (client, _made, api) => {
      const own = await another(client, api, 'live')
      const { id } = dataOf(await own.post('/recipient', ANA))
      await own.put(`/recipient/${id}`, { pixKey: 'outra@example.com' })
      return own.post(`/recipient/${id}/payout`)
    },
    recipient_not_found: (client) => client.post(`/recipient/${NO_RECIPIENT}/payout`),
    invalid_value: (client) => client.post(`/recipient/${NO_RECIPIENT}/payout`, { value: 0 }),
  }),
]
