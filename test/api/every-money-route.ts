import assert from 'node:assert/strict'
import {
  carryOutRefunds,
  expireDueWithdrawals,
  payOutWithdrawals,
  releaseDueCharges,
} from '../../src/worker/due.ts'
import type { Client, TestApi } from '../support/api.ts'
import { lastCode } from '../support/mail.ts'
import { makeCharge, pay } from '../support/payments.ts'
import { PATH, wrong } from '../support/withdrawals.ts'
import { dataOf, type Made, NO_CHARGE, on, type Try } from './tries.ts'

const NO_PAYMENT = 'E99999999202608201500000000000zz'
const NO_WITHDRAWAL = 'wd_00000000000000000000000000'
const [REFUSED, CODE_LIFETIME_S] = [66_666, 600]

/**
 * Lets time pass for what needs it, and takes it back: what is asked afterwards has the time that
 * it had before, and so has its frozen answer.
 */
export async function later(api: TestApi, seconds: number, act: () => Promise<void>) {
  api.clock.advance(seconds)
  await act()
  api.clock.advance(-seconds)
}

/** Releases the money of paid charges, which changes PAID to RECEIVED. */
export const release = (api: TestApi, { company }: Client): Promise<void> =>
  later(api, company.releaseDelay_s, () => releaseDueCharges.run(api.app))

/** A charge of which all has gone back, after the bank refused to return a part of it. */
async function makeRefunded(api: TestApi, client: Client): Promise<string> {
  const { id, brCode } = await makeCharge(client, 70_000)
  await pay(api, brCode)
  for (const json of [{ value: REFUSED }, { value: 500, comment: 'Sem estoque' }, {}]) {
    assert.equal((await client.post(`/refund/${id}`, json)).status, 201)
    await carryOutRefunds.run(api.app)
  }
  return id
}

async function startWithdrawal(client: Client, value: number): Promise<string> {
  const reply = await client.post(PATH, { value })
  assert.equal(reply.status, 201, reply.text)
  return dataOf(reply).withdrawId
}

async function paidOut(api: TestApi, client: Client, value: number): Promise<string> {
  const id = await startWithdrawal(client, value)
  const otp = await lastCode(api, client.company.id)
  assert.equal((await client.post(`${PATH}/${id}/confirm`, { otp })).status, 200)
  await payOutWithdrawals.run(api.app)
  return id
}

type Money = Pick<Made, 'refunded' | 'unmatched' | 'returnable' | 'accepted'> &
  Pick<Made, 'completed' | 'failed' | 'expired' | 'called off'>

/** Refunds, unmatched payments and withdrawals in their states; one is left to be started. */
export async function prepareMoney(api: TestApi, client: Client, canceled: string): Promise<Money> {
  const refunded = await makeRefunded(api, client)
  const { brCode } = dataOf(await client.get(`/charge/${canceled}`))
  const accepted = await pay(api, brCode)
  await client.post(`/payment/unmatched/${accepted}/accept`)
  const [returnable, unmatched] = [await pay(api, brCode), await pay(api, brCode, { amount: 700 })]
  const [completed, failed] = [
    await paidOut(api, client, 5000),
    await paidOut(api, client, REFUSED),
  ]
  const calledOff = await startWithdrawal(client, 700)
  await client.post(`${PATH}/${calledOff}/cancel`)
  const expired = await startWithdrawal(client, 700)
  await later(api, CODE_LIFETIME_S, () => expireDueWithdrawals.run(api.app))
  return {
    refunded,
    unmatched,
    returnable,
    accepted,
    completed,
    failed,
    expired,
    'called off': calledOff,
  }
}

const refunds: Try[] = [
  ...on('refundCharge', {
    started: (client, { received }) =>
      client.post(`/refund/${received}`, { value: 500, comment: 'Um item' }),
    'started for the rest': (client, { received }) => client.post(`/refund/${received}`),
    refund_not_possible: (client, { open }) => client.post(`/refund/${open}`),
    charge_not_found: (client) => client.post(`/refund/${NO_CHARGE}`),
    invalid_value: (client, { paid }) => client.post(`/refund/${paid}`, { value: 0 }),
  }),
  ...on('listRefunds', {
    'completed and failed': (client, { refunded }) => client.get(`/refund/charge/${refunded}`),
    'under way': (client, { received }) => client.get(`/refund/charge/${received}`),
    nothing: (client, { open }) => client.get(`/refund/charge/${open}`),
    charge_not_found: (client) => client.get(`/refund/charge/${NO_CHARGE}`),
  }),
]

const payments: Try[] = [
  ...on('listUnmatchedPayments', {
    listed: (client) => client.get('/payment/unmatched'),
    'one page': (client) => client.get('/payment/unmatched?limit=1'),
    'those that were accepted': (client) => client.get('/payment/unmatched?status=ACCEPTED'),
    invalid_value: (client) => client.get('/payment/unmatched?status=MATCHED&after=x'),
  }),
  ...on('acceptPayment', {
    charge_not_settleable: (client, { unmatched, paid }) =>
      client.post(`/payment/unmatched/${unmatched}/accept`, { chargeId: paid }),
    charge_not_found: (client, { unmatched }) =>
      client.post(`/payment/unmatched/${unmatched}/accept`, { chargeId: NO_CHARGE }),
    invalid_value: (client, { unmatched }) =>
      client.post(`/payment/unmatched/${unmatched}/accept`, { difference: 'refund' }),
    accepted: (client, { unmatched }) => client.post(`/payment/unmatched/${unmatched}/accept`),
    'accepted already': (client, { accepted }) =>
      client.post(`/payment/unmatched/${accepted}/accept`),
    payment_not_found: (client) => client.post(`/payment/unmatched/${NO_PAYMENT}/accept`),
  }),
  ...on('refundPayment', {
    started: (client, { returnable }) =>
      client.post(`/payment/unmatched/${returnable}/refund`, { comment: 'Pago em dobro' }),
    payment_not_unmatched: (client, { accepted }) =>
      client.post(`/payment/unmatched/${accepted}/refund`),
    payment_not_found: (client) => client.post(`/payment/unmatched/${NO_PAYMENT}/refund`),
  }),
]

const balance: Try[] = [
  ...on('getBalance', {
    found: (client) => client.get('/account-balance'),
    invalid_api_version: (client) =>
      client.get('/account-balance', { headers: { 'X-Api-Version': 'x' } }),
  }),
  ...on('getStatement', {
    listed: (client) => client.get('/account-balance/statement?limit=5'),
    'of one kind': (client) => client.get('/account-balance/statement?type=CHARGE_SETTLED'),
    nothing: (client) => client.get('/account-balance/statement?to=2026-01-01T00:00:00Z'),
    'as a file': (client) => client.get('/account-balance/statement?account=unmatched&format=csv'),
    invalid_value: (client) => client.get('/account-balance/statement?type=NOPE&format=pdf'),
  }),
  ...on('listFigures', {
    listed: (client) => client.get('/account-balance/figures?from=2026-07-01&group=month'),
    'of two days': (client) => client.get('/account-balance/figures?from=2026-08-19&to=2026-08-20'),
    invalid_value: (client) => client.get('/account-balance/figures?from=x&group=year'),
  }),
]

/** The withdrawal that waits for its code. */
async function waiting(client: Client): Promise<string> {
  const [{ id }] = dataOf(await client.get(`${PATH}?status=PENDING_OTP`))
  return `${PATH}/${id}`
}

const withdrawals: Try[] = [
  ...on('startWithdrawal', {
    invalid_value: (client) => client.post(PATH, { value: 0 }),
    insufficient_balance: (client) => client.post(PATH, { value: 999_999_999 }),
    started: (client) => client.post(PATH, { value: 5000 }),
    withdrawal_pending: (client) => client.post(PATH, { value: 5000 }),
  }),
  ...on('listWithdrawals', {
    listed: (client) => client.get(PATH),
    'one page': (client) => client.get(`${PATH}?limit=1`),
    invalid_value: (client) => client.get(`${PATH}?limit=0&status=NOPE`),
  }),
  ...on('getWithdrawal', {
    'waiting for its code': async (client) => client.get(await waiting(client)),
    completed: (client, { completed }) => client.get(`${PATH}/${completed}`),
    failed: (client, { failed }) => client.get(`${PATH}/${failed}`),
    withdrawal_not_found: (client) => client.get(`${PATH}/${NO_WITHDRAWAL}`),
  }),
  ...on('resendWithdrawalCode', {
    'sent again': async (client) => client.post(`${await waiting(client)}/resend`),
    otp_expired: (client, { expired }) => client.post(`${PATH}/${expired}/resend`),
    withdrawal_not_confirmable: (client, { completed }) =>
      client.post(`${PATH}/${completed}/resend`),
    withdrawal_not_found: (client) => client.post(`${PATH}/${NO_WITHDRAWAL}/resend`),
  }),
  ...on('confirmWithdrawal', {
    invalid_value: async (client) => client.post(`${await waiting(client)}/confirm`, { otp: 1 }),
    otp_invalid: async (client, _made, api) => {
      const otp = wrong(await lastCode(api, client.company.id))
      return client.post(`${await waiting(client)}/confirm`, { otp })
    },
    confirmed: async (client, _made, api) => {
      const otp = await lastCode(api, client.company.id)
      return client.post(`${await waiting(client)}/confirm`, { otp })
    },
    otp_expired: (client, { expired }) =>
      client.post(`${PATH}/${expired}/confirm`, { otp: '000000' }),
    withdrawal_not_confirmable: (client, { completed }) =>
      client.post(`${PATH}/${completed}/confirm`, { otp: '000000' }),
    withdrawal_not_found: (client) =>
      client.post(`${PATH}/${NO_WITHDRAWAL}/confirm`, { otp: '000000' }),
  }),
  ...on('cancelWithdrawal', {
    'canceled already': (client, made) => client.post(`${PATH}/${made['called off']}/cancel`),
    withdrawal_not_confirmable: (client, { failed }) => client.post(`${PATH}/${failed}/cancel`),
    withdrawal_not_found: (client) => client.post(`${PATH}/${NO_WITHDRAWAL}/cancel`),
  }),
]

/** The last, because the balance is another one afterwards. */
const suggestions: Try[] = [
  ...on('suggestCharges', {
    'by amount and payer': async (client) => {
      const customer = { name: 'Ana Lima', taxId: '11144477735' }
      dataOf(await client.post('/charge/pix', { amount: 4321, customer }))
      const paid = await client.post('/sandbox/payment', { amount: 4321, payer: customer })
      const { endToEndId } = dataOf(paid)
      return client.get(`/payment/unmatched/${endToEndId}/suggestions`)
    },
    nothing: (client, { accepted }) => client.get(`/payment/unmatched/${accepted}/suggestions`),
    payment_not_found: (client) => client.get(`/payment/unmatched/${NO_PAYMENT}/suggestions`),
  }),
]

export const MONEY_TRIES: Try[] = [
  ...refunds,
  ...payments,
  ...balance,
  ...withdrawals,
  ...suggestions,
]
