import { payOutWithdrawals } from '../../src/worker/due.ts'
import { type Client, payer, type TestApi } from '../support/api.ts'
import { CLOCK } from '../support/clocks.ts'
import { openDispute } from '../support/disputes.ts'
import { lastCode } from '../support/mail.ts'
import {
  codeOf,
  decisionOf,
  disputeOf,
  makeCharge,
  makePaid,
  makeUnmatched,
  returnOf,
  SANDBOX_PAYMENT,
} from '../support/payments.ts'
import { asMade, SANDBOX } from '../support/sandboxes.ts'
import { makeRecipient, makeSettled } from '../support/splits.ts'
import {
  makeCustomer,
  makeRecurring,
  makeSubscription,
  RECURRENCES,
} from '../support/subscriptions.ts'
import { PATH, wrong } from '../support/withdrawals.ts'
import { dataOf } from './tries.ts'

/** Each kind of write as a request that succeeds, and one that differs from it in its body only. */
export type Write = {
  method: 'POST' | 'PUT' | 'DELETE'
  path: string
  body: Record<string, unknown>
  /** Null where no field is taken and an unknown one is refused. */
  other: Record<string, unknown> | null
}

const chargeOf = (client: Client, fields: Record<string, unknown> = {}) =>
  idOf(client, '/charge/pix', { amount: 700, customer: payer(), ...fields })

async function idOf(client: Client, path: string, json: unknown): Promise<string> {
  return dataOf(await client.post(path, json)).id
}

/** Makes room for a withdrawal, of which a company has one at a time. */
async function makeRoom(client: Client, api: TestApi): Promise<void> {
  for (const { id } of dataOf(await client.get(`${PATH}?status=PENDING_OTP`))) {
    await client.post(`${PATH}/${id}/cancel`)
  }
  await payOutWithdrawals.run(api.app)
}

/** A withdrawal that waits for its code. */
async function waiting(client: Client, api: TestApi): Promise<string> {
  await makeRoom(client, api)
  const { withdrawId } = dataOf(await client.post(PATH, { value: 700 }))
  return `${PATH}/${withdrawId}`
}

const PRODUCT = { name: 'Pão', description: 'Francês', price: 100 }
const RECIPIENT = { name: 'Padaria da Ana', taxId: '52998224725', pixKey: 'ana@example.com' }
const WEBHOOK = { url: 'https://loja.example/', name: 'Loja', events: ['charge.paid'] }

const ids = (id: string) => ({ body: { id, name: 'Ana' }, other: { id, name: 'Eva' } })
const renamed = (path: string): Write => ({
  method: 'PUT',
  path,
  body: { name: 'Um' },
  other: { name: 'Dois' },
})
const gone = (path: string): Write => ({
  method: 'DELETE',
  path,
  body: {},
  other: null,
})
const bare = (path: string): Write => ({
  method: 'POST',
  path,
  body: {},
  other: null,
})

export const WRITES: Record<string, (client: Client, api: TestApi) => Promise<Write>> = {
  createPixCharge: async () => ({
    method: 'POST',
    path: '/charge/pix',
    body: { amount: 1990, customer: payer() },
    other: { amount: 1991, customer: payer() },
  }),
  createChargeBatch: async () => ({
    method: 'POST',
    path: '/charge/batch',
    body: { charges: [{ amount: 1990, customer: payer() }] },
    other: { charges: [{ amount: 1991, customer: payer() }] },
  }),
  createPlan: async () => ({
    method: 'POST',
    path: '/charge/plan',
    body: { total: 5000, count: 2, firstDueDate: '2030-01-31', customer: payer() },
    other: { total: 5000, count: 3, firstDueDate: '2030-01-31', customer: payer() },
  }),
  cancelPlan: async (client) => {
    const plan = { total: 5000, count: 2, firstDueDate: '2030-01-31', customer: payer() }
    const { body } = await client.post('/charge/plan', plan)
    return bare(`/charge/plan/${(body.data ?? body).id}/cancel`)
  },
  createReusableLink: async () => ({
    method: 'POST',
    path: '/link',
    body: { title: 'Festa', amount: 1000 },
    other: { title: 'Festa', amount: 1001 },
  }),
  changeReusableLink: async (client) => ({
    method: 'PUT',
    path: `/link/${await idOf(client, '/link', { title: 'Festa', amount: 1000 })}`,
    body: { title: 'Baile' },
    other: { title: 'Feira' },
  }),
  createStaticCode: async () => ({
    method: 'POST',
    path: '/charge/pix/static',
    body: { amount: 1990 },
    other: { amount: 1991 },
  }),
  createPaymentLink: async () => ({
    method: 'POST',
    path: '/charge/payment-link',
    body: { total: 1990, customer: payer() },
    other: { total: 1990, customer: payer({ name: 'Maria' }) },
  }),
  simulatePayment: async (client) =>
    bare(`/charge/${await chargeOf(client, { devMode: true })}/simulate-payment`),
  cancelCharge: async (client) => bare(`/charge/${await chargeOf(client)}/cancel`),
  duplicateCharge: async (client) => ({
    method: 'POST',
    path: `/charge/duplicate/${await chargeOf(client)}`,
    body: {},
    other: { expiresIn: 60 },
  }),
  createRecurrence: async (client) => {
    const productId = await makeRecurring(client)
    const [one, two] = [await makeCustomer(client), await makeCustomer(client)]
    return {
      method: 'POST',
      path: RECURRENCES,
      body: { productId, customerId: one },
      other: { productId, customerId: two },
    }
  },
  createRecurrenceTemplate: async (client) => {
    const body = { productId: await makeRecurring(client) }
    const other = { ...body, customerId: await makeCustomer(client) }
    return { method: 'POST', path: `${RECURRENCES}/template`, body, other }
  },
  cancelRecurrence: async (client) =>
    bare(`${RECURRENCES}/${(await makeSubscription(client)).id}/cancel`),
  createCustomer: async () => ({
    method: 'POST',
    path: '/client',
    body: { ...payer(), status: 'ACTIVE' },
    other: { ...payer(), status: 'INACTIVE' },
  }),
  createProduct: async () => ({
    method: 'POST',
    path: '/product',
    body: PRODUCT,
    other: { ...PRODUCT, description: 'Italiano' },
  }),
  createWebhook: async () => ({
    method: 'POST',
    path: '/webhook',
    body: WEBHOOK,
    other: { ...WEBHOOK, events: ['charge.expired'] },
  }),
  changeCustomer: async (client) => ({
    method: 'PUT',
    path: '/client',
    ...ids(await idOf(client, '/client', { ...payer(), status: 'ACTIVE' })),
  }),
  deleteCustomer: async (client) => ({
    ...gone(`/client/${await idOf(client, '/client', { ...payer(), status: 'ACTIVE' })}`),
  }),
  changeProduct: async (client) => ({
    ...renamed(`/product/${await idOf(client, '/product', PRODUCT)}`),
  }),
  deleteProduct: async (client) => ({
    ...gone(`/product/${await idOf(client, '/product', PRODUCT)}`),
  }),
  changeWebhook: async (client) => ({
    ...renamed(`/webhook/${await idOf(client, '/webhook', WEBHOOK)}`),
  }),
  deleteWebhook: async (client) => ({
    ...gone(`/webhook/${await idOf(client, '/webhook', WEBHOOK)}`),
  }),
  rotateWebhookSecret: async (client) =>
    bare(`/webhook/${await idOf(client, '/webhook', WEBHOOK)}/rotate-secret`),
  testWebhook: async (client) => bare(`/webhook/${await idOf(client, '/webhook', WEBHOOK)}/test`),
  redeliver: async (client) => {
    const webhook = await idOf(client, '/webhook', WEBHOOK)
    return bare(`/webhook/delivery/${await idOf(client, `/webhook/${webhook}/test`, {})}/redeliver`)
  },
  replayDeliveries: async (client) => ({
    method: 'POST',
    path: `/webhook/${await idOf(client, '/webhook', WEBHOOK)}/replay`,
    body: {},
    other: { status: 'ALL' },
  }),
  changeCompany: async () => renamed('/company'),
  createRecipient: async () => ({
    method: 'POST',
    path: '/recipient',
    body: RECIPIENT,
    other: { ...RECIPIENT, name: 'Outra' },
  }),
  changeReminders: async () => ({
    method: 'PUT',
    path: '/reminder',
    body: { rules: [{ day: 1, enabled: true, channel: 'EMAIL' }] },
    other: { rules: [{ day: 2, enabled: true, channel: 'EMAIL' }] },
  }),
  changeRecipient: async (client) => renamed(`/recipient/${await makeRecipient(client)}`),
  startPayout: async (client, api) => {
    await makeRoom(client, api)
    const recipientId = await makeRecipient(client)
    await makeSettled(api, client, 2000, [{ recipientId, percent: 10_000 }])
    const path = `/recipient/${recipientId}/payout`
    return { method: 'POST', path, body: { value: 700 }, other: { value: 701 } }
  },
  refundCharge: async (client, api) => ({
    method: 'POST',
    path: `/refund/${(await makePaid(api, client, 1990)).id}`,
    body: { value: 500 },
    other: { value: 501 },
  }),
  acceptPayment: async (client, api) => ({
    method: 'POST',
    path: `/payment/unmatched/${await makeUnmatched(api, client, 700)}/accept`,
    body: { chargeId: (await makeCharge(client, 700)).id },
    other: { chargeId: (await makeCharge(client, 700)).id },
  }),
  refundPayment: async (client, api) => ({
    method: 'POST',
    path: `/payment/unmatched/${await makeUnmatched(api, client, 700)}/refund`,
    body: { comment: 'Um' },
    other: { comment: 'Dois' },
  }),
  startWithdrawal: async (client, api) => {
    await makeRoom(client, api)
    return { method: 'POST', path: PATH, body: { value: 700 }, other: { value: 701 } }
  },
  confirmWithdrawal: async (client, api) => {
    const path = `${await waiting(client, api)}/confirm`
    const otp = await lastCode(api, client.company.id)
    return { method: 'POST', path, body: { otp }, other: { otp: wrong(otp) } }
  },
  cancelWithdrawal: async (client, api) => bare(`${await waiting(client, api)}/cancel`),
  resendWithdrawalCode: async (client, api) => bare(`${await waiting(client, api)}/resend`),
  receivePayment: async () => ({
    method: 'POST',
    path: SANDBOX_PAYMENT,
    body: { amount: 700 },
    other: { amount: 701 },
  }),
  returnPayment: async (client, api) => ({
    method: 'POST',
    path: returnOf((await makePaid(api, client, 1990)).endToEndId),
    body: { value: 500 },
    other: { value: 501 },
  }),
  openDispute: async (client, api) => ({
    method: 'POST',
    path: disputeOf((await makePaid(api, client, 1990)).endToEndId),
    body: { value: 500 },
    other: { value: 501 },
  }),
  decideDispute: async (client, api) => ({
    method: 'POST',
    path: decisionOf(
      (await openDispute(client, (await makePaid(api, client, 1990)).endToEndId)).id,
    ),
    body: { decision: 'won' },
    other: { decision: 'lost' },
  }),
  acceptDispute: async (client, api) =>
    bare(
      `/dispute/${(await openDispute(client, (await makePaid(api, client, 1990)).endToEndId)).id}/accept`,
    ),
  defendDispute: async (client, api) => ({
    method: 'POST',
    path: `/dispute/${(await openDispute(client, (await makePaid(api, client, 1990)).endToEndId)).id}/defense`,
    body: { text: 'Entregue.' },
    other: { text: 'Entregue ontem.' },
  }),
  makeWithdrawalCode: async (client, api) =>
    bare(codeOf((await waiting(client, api)).slice(PATH.length + 1))),
  createSandbox: async () => ({
    method: 'POST',
    path: SANDBOX,
    body: { expiresIn: 60 },
    other: { expiresIn: 61 },
  }),
  deleteSandbox: async (client, api) => {
    await asMade(api, client)
    return { ...bare(SANDBOX), method: 'DELETE' }
  },
  // The last: what is due for a company whose clock is on its way waits until it is played.
  moveClock: async () => ({
    method: 'POST',
    path: CLOCK,
    body: { advance: 60 },
    other: { advance: 61 },
  }),
}
