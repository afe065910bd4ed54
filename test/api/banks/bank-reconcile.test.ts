import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { connectBank, disconnectBank } from '../../../src/core/banks/commands.ts'
import { findCompany } from '../../../src/core/companies/store.ts'
import { compareWithBank } from '../../../src/core/reconciliation/compare.ts'
import { carryOutRefunds } from '../../../src/worker/due.ts'
import { startBank } from '../../bank/bank.ts'
import { type Client, payer, startApi } from '../../support/api.ts'
import { pay } from '../../support/payments.ts'

const api = await startApi()
const bank = await startBank({ clock: api.clock })
after(() => {
  assert.deepEqual(bank.violations(), [])
  return bank.close()
})

let companies = 0

async function connect({ company }: Client): Promise<void> {
  const { id: _, ...connection } = bank.connection()
  const certificateEndsAt = new Date('2030-01-01T00:00:00Z')
  const fields = { ...connection, payouts: 'manual', certificateEndsAt } as const
  const { db, vault, clock } = api.app
  await db.transaction((tx) => connectBank(tx, vault, company.id, fields, clock.now()))
  // What happens from here on is later than the connection.
  api.clock.advance(1)
}

/** A live company at the bank, whose callbacks all get lost. */
async function connected(): Promise<Client> {
  // The account is a new one, too.
  bank.state().pix.clear()
  bank.state().refunds.length = 0
  const pixKey = `loja${companies++}@example.com`
  const client = await api.client({ mode: 'live', pixKey })
  await connect(client)
  return client
}

async function reconcile({ company }: Client, recordMissing = false) {
  const now = api.clock.now().getTime()
  const period = { from: new Date(now - 3600_000), to: new Date(now + 3600_000) }
  const current = await findCompany(api.app.db, company.id)
  const result = await compareWithBank(api.app, current!, period, { recordMissing })
  const short = ({ direction, amount, about }: (typeof result.missing)[number]) =>
    `${direction} ${amount}: ${about}`
  return {
    matched: [result.matched.count, result.matched.amount],
    recorded: result.recorded,
    unmatched: result.unmatched.map(short),
    missing: result.missing.map(short),
  }
}

async function charge(client: Client, amount: number): Promise<{ id: string; brCode: string }> {
  const { status, body, text } = await client.post('/charge/pix', { amount, customer: payer() })
  assert.equal(status, 201, text)
  return body.data
}

const AGREED = { unmatched: [], missing: [], recorded: 0 }

test('what only the bank has is missing, and is recorded only when that is wanted', async () => {
  const client = await connected()
  const { id, brCode } = await charge(client, 1000)
  bank.payer.pay(brCode)
  api.clock.advance(1)
  const before = await reconcile(client)
  assert.deepEqual(before, {
    ...AGREED,
    matched: [0, 0],
    missing: ['received 1000: we have nothing of it'],
  })
  const statusOf = async () => (await client.get(`/charge/${id}/status`)).body.data.paymentStatus
  assert.equal(await statusOf(), 'PROCESSING')
  assert.deepEqual(await reconcile(client, true), { ...AGREED, matched: [1, 1000], recorded: 1 })
  assert.equal(await statusOf(), 'PAID')
  assert.deepEqual(await reconcile(client, true), { ...AGREED, matched: [1, 1000] })
})

test('a payment that waits for a decision is unmatched until it is taken', async () => {
  const client = await connected()
  const pix = bank.payer.payKey(client.company.pixKey, 300)
  api.clock.advance(1)
  const { recorded, unmatched, missing } = await reconcile(client, true)
  const waits = 'received 300: it pays no charge (UNKNOWN) and waits for a decision'
  assert.deepEqual([recorded, unmatched, missing], [1, [waits], []])
  await client.post(`/payment/unmatched/${pix.endToEndId}/accept`)
  assert.deepEqual(await reconcile(client), { ...AGREED, matched: [1, 300] })
})

test('refunds are compared: done, under way, and made by the bank', async () => {
  const client = await connected()
  const { id, brCode } = await charge(client, 1000)
  const pix = bank.payer.pay(brCode)
  api.clock.advance(1)
  await reconcile(client, true)
  const refund = await client.post(`/refund/${id}`, { value: 400 })
  assert.equal(refund.status, 201, refund.text)
  await carryOutRefunds.run(api.app)
  api.clock.advance(1)
  assert.deepEqual(await reconcile(client), { ...AGREED, matched: [2, 1400] })

  bank.course({ refunds: 'later' })
  await client.post(`/refund/${id}`, { value: 100 })
  await carryOutRefunds.run(api.app)
  bank.finishRefunds()
  bank.course({ refunds: 'at once' })
  api.clock.advance(1)
  const found = await reconcile(client)
  assert.match(found.missing.join(), /^returned 100: our refund rfnd_\w+ is PROCESSING still$/)
  assert.deepEqual(await reconcile(client, true), { ...AGREED, matched: [3, 1500], recorded: 1 })

  const returnId = `D${pix.endToEndId.slice(1)}`
  const done = { askedAt: api.clock.now(), doneAt: api.clock.now(), status: 'DEVOLVIDO' } as const
  const { endToEndId } = pix
  bank.state().refunds.push({ id: 'byhand1', endToEndId, returnId, amount: 50, ...done })
  api.clock.advance(1)
  const { unmatched, missing } = await reconcile(client)
  const byBank = 'returned 50: the bank returned it by itself, and we have nothing of it'
  assert.deepEqual([unmatched, missing], [[], [byBank]])
  assert.deepEqual(await reconcile(client, true), { ...AGREED, matched: [4, 1550], recorded: 1 })
  api.clock.advance(2 * 24 * 3600)
  assert.deepEqual(await reconcile(client), { ...AGREED, matched: [0, 0] })
})

test('what only we have is missing, and cannot be recorded at the bank', async () => {
  const client = await connected()
  const { brCode } = await charge(client, 1000)
  const pix = bank.payer.pay(brCode)
  api.clock.advance(1)
  await reconcile(client, true)
  bank.state().pix.delete(pix.endToEndId)
  const { missing, recorded, matched } = await reconcile(client, true)
  const lost = 'received 1000: we have it, and the bank does not'
  assert.deepEqual([missing, recorded, matched], [[lost], 0, [0, 0]])
})

test('what arrived before the bank was connected is shown, and left alone', async () => {
  const client = await connected()
  const at = new Date(api.clock.now().getTime() - 60_000)
  bank.payer.payKey(client.company.pixKey, 700, { at })
  const before = 'received 700: it arrived before the bank was connected, for nothing of ours'
  assert.deepEqual(await reconcile(client, true), {
    ...AGREED,
    matched: [0, 0],
    unmatched: [before],
  })
})

test('what was paid for our charges while no bank was connected is found when one is again', async () => {
  const client = await connected()
  const { brCode } = await charge(client, 1000)
  await api.app.db.transaction((tx) => disconnectBank(tx, client.company.id))
  bank.payer.pay(brCode)
  bank.payer.payKey(client.company.pixKey, 50)
  api.clock.advance(60)
  await connect(client)
  assert.deepEqual((await reconcile(client)).missing, ['received 1000: we have nothing of it'])
  const { recorded, matched, missing, unmatched } = await reconcile(client, true)
  assert.deepEqual([recorded, matched, missing, unmatched.length], [1, [1, 1000], [], 1])
})

test('new credentials at the same bank: what arrived while the old ones failed is still missing', async () => {
  const client = await connected()
  bank.payer.payKey(client.company.pixKey, 700)
  api.clock.advance(600)
  await connect(client)
  assert.deepEqual((await reconcile(client)).missing, ['received 700: we have nothing of it'])
})

test('a refund of a payment before the period is asked for by name', async () => {
  const client = await connected()
  const { id, brCode } = await charge(client, 1000)
  bank.payer.pay(brCode)
  api.clock.advance(1)
  await reconcile(client, true)
  api.clock.advance(2 * 24 * 3600)
  await client.post(`/refund/${id}`, { value: 400 })
  await carryOutRefunds.run(api.app)
  api.clock.advance(1)
  assert.deepEqual(await reconcile(client), { ...AGREED, matched: [1, 400] })
  bank.state().refunds.length = 0
  const lost = ['returned 400: we have it, and the bank does not']
  assert.deepEqual(await reconcile(client), { ...AGREED, matched: [0, 0], missing: lost })
})

test('if the bank does not answer, that is said, and nothing is recorded', async () => {
  const client = await connected()
  bank.payer.payKey(client.company.pixKey, 700)
  api.clock.advance(1)
  bank.faults.next('GET /pix', '5xx', 9)
  await assert.rejects(reconcile(client, true), /The bank did not answer/)
  bank.faults.clear()
  assert.equal((await reconcile(client)).missing.length, 1)
})

test('the simulated bank of a sandbox is compared as well', async () => {
  const client = await api.client()
  const { brCode } = await charge(client, 1000)
  await pay(api, brCode)
  api.clock.advance(1)
  assert.deepEqual(await reconcile(client), { ...AGREED, matched: [1, 1000] })
})
