import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { auditCompany } from '../../../src/core/audits/commands.ts'
import { returnAtSimulator } from '../../../src/core/refunds/bank-returns.ts'
import { RETURN_REASONS } from '../../../src/provider/port.ts'
import { carryOutRefunds, payOutWithdrawals, processDueCallbacks } from '../../../src/worker/due.ts'
import { type Client, eventsOf, payer, startApi } from '../../support/api.ts'
import { lastCode } from '../../support/mail.ts'
import {
  balancesOf,
  codeOf,
  makePaid,
  pay,
  returnOf,
  SANDBOX_PAYMENT,
  transfersOf,
} from '../../support/payments.ts'
import { makeRecipient, netOf } from '../../support/splits.ts'
import { answer, confirm, resend, start, wrong } from '../../support/withdrawals.ts'

const api = await startApi()
const { app } = api

const key = (text: string) => ({ headers: { 'Idempotency-Key': text } })

const balances = async (client: Client) => {
  const { available, pending, unmatched } = await balancesOf(api, client)
  return [available, pending, unmatched]
}

/** The books agree with themselves and with the simulated bank. */
async function requireAgreement({ company }: Client): Promise<void> {
  api.clock.advance(3600)
  const audit = await auditCompany(app, company.id, { whole: true })
  assert.deepEqual([audit.bank, audit.faults], ['asked', []])
}

const typesOf = async ({ company }: Client) =>
  (await eventsOf(api, company.id)).map(({ type }) => type)

test('a Pix to the key of a sandbox is unmatched as UNKNOWN, once for its key', async () => {
  const client = await api.client()
  const body = { amount: 1990, payer: { name: 'Maria', taxId: '52998224725' } }
  const reply = await client.post(SANDBOX_PAYMENT, body, key('one'))
  assert.equal(reply.status, 201, reply.text)
  const { endToEndId, amount, reason, status, payer } = reply.body.data
  assert.deepEqual([amount, reason, status], [1990, 'UNKNOWN', 'UNMATCHED'])
  assert.deepEqual(payer, { name: 'Maria', taxId: '***.***.247-25' })
  assert.equal((await client.post(SANDBOX_PAYMENT, body, key('one'))).text, reply.text)
  assert.deepEqual(await balances(client), [100_000, 0, 1990])
  const [event, ...others] = await eventsOf(api, client.company.id)
  assert.deepEqual(others, [])
  assert.deepEqual(event, {
    type: 'payment.unmatched',
    payload: {
      event: 'Payment.Unmatched',
      payment: { endToEndId, amount, reason },
      externalId: null,
    },
  })
  const accepted = await client.post(`/payment/unmatched/${endToEndId}/accept`)
  assert.equal(accepted.status, 200, accepted.text)
  assert.deepEqual(await balances(client), [101_990, 0, 0])
  await requireAgreement(client)
})

test('what a request that died has ordered at the bank, its repetition does not order again', async () => {
  const client = await api.client()
  const { endToEndId } = await makePaid(api, client, 5000)
  const requests: [path: string, json: unknown][] = [
    [SANDBOX_PAYMENT, { amount: 700 }],
    [returnOf(endToEndId), { value: 500 }],
  ]
  for (const [path, json] of requests) {
    const [one, two] = await Promise.all([
      client.post(path, json, key(path)),
      client.post(path, json, key(path)),
    ])
    assert.ok([one!.status, two!.status].includes(201), one!.text)
    // The answer was lost with the process; what the bank has done was not.
    await api.rows('delete from idempotency_keys where company_id = $1', [client.company.id])
    const again = await client.post(path, json, key(path))
    assert.equal(again.status, 201, again.text)
  }
  const moved = (await transfersOf(api, client)).map(([direction, , amount]) => [direction, amount])
  assert.deepEqual(moved.sort(), [
    ['received', 5000],
    ['received', 700],
    ['returned', 500],
  ])
  await requireAgreement(client)
})

test('the bank returns a payment by itself, for every reason and never more than it was', async () => {
  const amounts = fc.array(fc.integer({ min: 1, max: 1500 }), { minLength: 1, maxLength: 5 })
  const reason = fc.constantFrom(...RETURN_REASONS)
  await fc.assert(
    fc.asyncProperty(amounts, reason, async (values, reason) => {
      const client = await api.client()
      const { id, endToEndId } = await makePaid(api, client, 2000)
      let left = 2000
      for (const value of values) {
        const { status, body } = await client.post(returnOf(endToEndId), { value, reason })
        assert.equal(status, value <= left ? 201 : 409)
        if (status !== 201) continue
        left -= value
        assert.deepEqual(
          [body.data.value, body.data.bankReason, body.data.chargeId, body.data.status],
          [value, reason, id, 'COMPLETED'],
        )
      }
      const rest = await client.post(returnOf(endToEndId), {})
      assert.equal(rest.status, left > 0 ? 201 : 409)
      assert.deepEqual(await balances(client), [100_000, 0, 0])
      assert.equal((await client.get(`/charge/${id}`)).body.data.paymentStatus, 'REFUNDED')
      await requireAgreement(client)
    }),
    { numRuns: 8 },
  )
})

test('a refund and a return of the bank together give back no more than was paid', async () => {
  const client = await api.client()
  const { id, endToEndId } = await makePaid(api, client, 2000)
  assert.equal((await client.post(`/refund/${id}`, { value: 1500 })).status, 201)
  await carryOutRefunds.run(app)
  const more = await client.post(returnOf(endToEndId), { value: 501 })
  assert.deepEqual(answer(more), [409, 'refund_not_possible'])
  assert.match(more.body.errors[0].description, /only 500 cents of the payment are left/)
  assert.equal((await client.post(returnOf(endToEndId), {})).status, 201)
  const types = await typesOf(client)
  assert.deepEqual(types.filter((type) => /returned|refunded/.test(type)).sort(), [
    'charge.refunded',
    'charge.refunded',
    'payment.returned',
  ])
  await requireAgreement(client)
})

test('what is in pending when all of a charge has gone back, by a refund or the bank, becomes available', async () => {
  for (const endedBy of ['a refund', 'the bank', 'a refund of a split charge']) {
    const client = await api.client()
    const recipientId = await makeRecipient(client)
    const split = [{ recipientId, percent: 3000 }]
    const charge = { amount: 1000, ...(endedBy.includes('split') ? { split } : {}) }
    const made = await client.post('/charge/pix', { customer: payer(), ...charge })
    const { id, brCode } = made.body.data
    const endToEndId = await pay(api, brCode)
    assert.equal((await client.post(`/refund/${id}`, { value: 600 })).status, 201)
    assert.equal((await client.post(returnOf(endToEndId), { value: 500 })).status, 201)
    await carryOutRefunds.run(app)
    assert.deepEqual(await balances(client), [99_500, 1000, 0], 'the bank had only 500 left')
    const [path, json] =
      endedBy === 'the bank' ? [returnOf(endToEndId), {}] : [`/refund/${id}`, { value: 500 }]
    assert.equal((await client.post(path, json)).status, 201)
    await carryOutRefunds.run(app)
    assert.equal((await client.get(`/charge/${id}`)).body.data.paymentStatus, 'REFUNDED')
    assert.deepEqual(await balances(client), [100_000, 0, 0], endedBy)
    assert.deepEqual(await netOf(client, [recipientId]), [0])
    await requireAgreement(client)
  }
})

test('a return that was not recorded when its process died is recorded by the task', async () => {
  const client = await api.client()
  const { endToEndId } = await makePaid(api, client, 2000)
  await returnAtSimulator(app, client.company, endToEndId, {}, 'api_died')
  assert.deepEqual(await balances(client), [100_000, 2000, 0])
  api.clock.advance(60)
  await processDueCallbacks.run(app)
  assert.deepEqual(await balances(client), [100_000, 0, 0])
  await processDueCallbacks.run(app)
  const returned = (await typesOf(client)).filter((type) => type === 'payment.returned')
  assert.equal(returned.length, 1)
  await requireAgreement(client)
})

test('the code of a sandbox withdrawal confirms it, and the one that was mailed no longer does', async () => {
  const client = await api.client()
  const id = await start(client, 5000)
  const mailed = await lastCode(api, client.company.id)
  const made = await client.post(codeOf(id))
  assert.equal(made.status, 201, made.text)
  const { code } = made.body.data
  if (mailed !== code) {
    assert.deepEqual(answer(await confirm(client, id, mailed)), [400, 'otp_invalid'])
  }
  assert.equal((await confirm(client, id, code)).body.data.status, 'PROCESSING')
  await payOutWithdrawals.run(app)
  assert.deepEqual(await typesOf(client), ['withdrawal.completed'])
  assert.deepEqual(answer(await client.post(codeOf(id))), [409, 'withdrawal_not_confirmable'])
})

test('codes that are shown give no further tries, and are not counted', async () => {
  const client = await api.client()
  const id = await start(client, 5000)
  for (let tries = 0; tries < 2; tries += 1) {
    const { code } = (await client.post(codeOf(id))).body.data
    assert.equal((await confirm(client, id, wrong(code))).status, 400)
  }
  assert.equal((await resend(client, id)).body.data.attemptsLeft, 3)
  assert.equal((await client.post(codeOf(id))).status, 201)
  const elsewhere = await api.client()
  assert.deepEqual(answer(await elsewhere.post(codeOf(id))), [404, 'withdrawal_not_found'])
})

test('a live company has none of this, and nothing of it is changed', async () => {
  const live = await api.client({ mode: 'live', pixKey: 'viva@example.com' })
  const { endToEndId } = await makePaidTrial(live)
  const before = await transfersOf(api, live)
  // A code is refused before its withdrawal is looked up.
  const id = 'wd_00000000000000000000000000'
  const requests: [path: string, json: unknown][] = [
    [SANDBOX_PAYMENT, { amount: 700 }],
    [returnOf(endToEndId), {}],
    [codeOf(id), {}],
  ]
  for (const [path, json] of requests) {
    assert.deepEqual(answer(await live.post(path, json)), [404, 'sandbox_only'])
  }
  assert.deepEqual(await transfersOf(api, live), before)
  assert.deepEqual(await balances(live), [0, 0, 0])
  const waiting = await api.rows(
    'select id from bank_callbacks where company_id = $1 and processed_at is null',
    [live.company.id],
  )
  assert.deepEqual(waiting, [])
})

/** A trial of a live company, which the simulated bank has paid. */
async function makePaidTrial(live: Client): Promise<{ endToEndId: string }> {
  const customer = { name: 'Maria', taxId: '52998224725' }
  const { body } = await live.post('/charge/pix', { amount: 700, customer, devMode: true })
  assert.equal((await live.post(`/charge/${body.data.id}/simulate-payment`)).status, 200)
  return (await live.get(`/charge/${body.data.id}`)).body.data
}
