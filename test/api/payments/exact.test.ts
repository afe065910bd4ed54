import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditCompany } from '../../../src/core/audits/commands.ts'
import { matchPayments } from '../../../src/core/payments/match.ts'
import { toCents } from '../../../src/lib/money.ts'
import type { PixPayer, ReceivedPix } from '../../../src/provider/port.ts'
import { expireDueCharges, reconcileDue } from '../../../src/worker/due.ts'
import { type Client, eventsOf, payer, startApi } from '../../support/api.ts'
import {
  balancesOf,
  decisionOf,
  disputeOf,
  makeCharge,
  movementsOf,
  pay,
  SANDBOX_PAYMENT,
  stateOf,
} from '../../support/payments.ts'

const api = await startApi()
const { app } = api

const PAYER = { name: 'Maria da Silva', taxId: '52998224725' }
const OTHER = { name: 'Paulo Reis', taxId: '11144477735' }
const PAID = ['COMPLETED', 'PAID']
const OPEN = ['OPEN', 'PROCESSING']

async function shop(settlesExactPayments = true): Promise<Client> {
  const client = await api.client()
  const { status, text } = await client.put('/company', { settlesExactPayments })
  assert.equal(status, 200, text)
  return client
}

/** Somebody types the Pix key of the company. */
async function receive(client: Client, amount: number, from: PixPayer | null = PAYER) {
  const json = { amount, ...(from && { payer: from }) }
  const { status, body, text } = await client.post(SANDBOX_PAYMENT, json)
  assert.equal(status, 201, text)
  return body.data
}

const typesOf = async ({ company }: Client) =>
  (await eventsOf(api, company.id)).map(({ type }) => type)

/** The bank knows nothing of payments that a test lists itself. */
async function requireClean({ company }: Client, isListed = false): Promise<void> {
  const { faults } = await auditCompany(app, company.id, { whole: true })
  const isExpected = (fault: string) => isListed && fault.endsWith('the bank says nothing')
  assert.deepEqual(
    faults.filter((fault) => !isExpected(fault)),
    [],
  )
}

const charge = (client: Client, amount: number, fields = {}) =>
  makeCharge(client, amount, { customer: payer(PAYER), ...fields })

test('a payment to the key settles the only charge of its payer and amount, if the company wants that', async () => {
  const client = await shop()
  const { id } = await charge(client, 1990)
  await charge(client, 2990)
  await makeCharge(client, 1990, { customer: payer(OTHER) })
  api.clock.advance(240)
  const { endToEndId, ...paid } = await receive(client, 1990)
  assert.deepEqual(
    [paid.status, paid.reason, paid.settled],
    ['ACCEPTED', 'UNKNOWN', { chargeId: id, amount: 1990 }],
  )
  const { body } = await client.get(`/charge/${id}`)
  assert.deepEqual([body.data.status, body.data.endToEndId], ['COMPLETED', endToEndId])
  assert.deepEqual(await movementsOf(api, client), [
    ['PAYMENT_UNMATCHED', endToEndId, 'bank>unmatched', 1990],
    ['CHARGE_PAID', endToEndId, 'unmatched>pending', 1990],
  ])
  const types = await typesOf(client)
  assert.deepEqual(types.slice(-1), ['charge.paid'])
  assert.ok(!types.includes('payment.unmatched'))
  assert.deepEqual((await client.get('/payment/unmatched')).body.data, [])
  const [entry] = await api.rows(
    `select author_kind, record_id, details from activity
     where company_id = $1 and action = 'charge.settle-by-rule'`,
    [client.company.id],
  )
  const details = { amount: 1990, endToEndId }
  assert.deepEqual(entry, { author_kind: 'service', record_id: id, details })
  await requireClean(client)
})

test('without the rule the payment waits, also if the rule comes later', async () => {
  const client = await shop(false)
  const { id } = await charge(client, 1990)
  const { status, endToEndId } = await receive(client, 1990)
  assert.equal(status, 'UNMATCHED')
  await client.put('/company', { settlesExactPayments: true })
  await record(client, [{ endToEndId, payer: PAYER }])
  assert.deepEqual(await stateOf(client, id), OPEN)
  assert.equal((await balancesOf(api, client)).unmatched, 1990)
})

test('what is not exact waits for a decision', async () => {
  const client = await shop()
  const { id } = await charge(client, 1990)
  for (const [amount, from] of [
    [1991, PAYER],
    [1990, OTHER],
    [1990, { name: 'Maria da Silva', taxId: '***.982.247-**' }],
    [1990, { name: 'Maria da Silva' }],
    [1990, null],
  ] as [number, PixPayer | null][]) {
    const [one] = await record(client, [{ amount, payer: from ?? {} }])
    const { body } = await client.get('/payment/unmatched?limit=1')
    assert.equal(body.data[0].endToEndId, one!.endToEndId)
  }
  assert.deepEqual(await stateOf(client, id), OPEN)
  await requireClean(client, true)
})

test('money that the bank has returned settles nothing, so that the charge can still be paid', async () => {
  const client = await shop()
  const { id, brCode } = await charge(client, 1990)
  const now = api.clock.now()
  const returned = (amount: number) => [
    {
      returnId: `D99999999202608201500${String(++count).padStart(11, '0')}`,
      orderId: null,
      amount: toCents(amount),
      at: now,
      reason: 'OTHER' as const,
    },
  ]
  await record(client, [{ returns: returned(1990) }, { returns: returned(1) }])
  assert.deepEqual(await stateOf(client, id), OPEN)
  await pay(api, brCode)
  assert.deepEqual(await stateOf(client, id), PAID)
  await requireClean(client, true)
})

test('a charge that was paid after the payment arrived could be paid by it too, so none is chosen', async () => {
  const client = await shop()
  const [one, two] = [await charge(client, 1990), await charge(client, 1990)]
  const receivedAt = api.clock.now()
  api.clock.advance(60)
  await pay(api, one.brCode)
  // Reconciliation learns of the payment days later.
  api.clock.advance(600)
  await record(client, [{ receivedAt }])
  assert.deepEqual(await stateOf(client, two.id), OPEN)
  assert.equal((await balancesOf(api, client)).unmatched, 1990)
  await requireClean(client, true)
})

let count = 0

/** Records payments as a bank lists them. */
async function record(
  client: Client,
  payments: (Partial<Omit<ReceivedPix, 'amount'>> & { amount?: number })[],
): Promise<ReceivedPix[]> {
  const now = api.clock.now()
  const listed = payments.map(({ amount = 1990, ...fields }) => ({
    endToEndId: `E99999999202608201500${String(++count).padStart(11, '0')}`,
    txid: null,
    receivedAt: now,
    payer: PAYER,
    ...fields,
    amount: toCents(amount),
  }))
  const { body } = await client.get('/company')
  const company = { ...client.company, settlesExactPayments: !!body.data.settlesExactPayments }
  await app.db.transaction((tx) =>
    matchPayments(tx, app, company, listed, { source: 'simulated', now }),
  )
  return listed
}

test('of two charges that fit none is chosen', async () => {
  const client = await shop()
  const [one, two] = [await charge(client, 1990), await charge(client, 1990)]
  assert.equal((await receive(client, 1990)).status, 'UNMATCHED')
  assert.deepEqual(await stateOf(client, one.id), OPEN)
  await pay(api, two.brCode)
  assert.equal((await receive(client, 1990)).settled.chargeId, one.id)
  await requireClean(client)
})

test('a charge is settled in its time only, also if we learn of the payment after it', async () => {
  const client = await shop()
  const { id } = await charge(client, 1990, { expiresIn: 60 })
  const receivedAt = api.clock.now()
  api.clock.advance(61)
  assert.equal((await receive(client, 1990)).status, 'UNMATCHED', 'too late')
  await expireDueCharges.run(app)
  await record(client, [{ receivedAt }])
  assert.deepEqual(await stateOf(client, id), PAID)
  const later = await charge(client, 2990)
  await record(client, [{ amount: 2990, receivedAt }])
  assert.deepEqual(await stateOf(client, later.id), OPEN, 'made after the payment')
  await requireClean(client, true)
})

test('a charge with a due date is settled by what it asks on that day', async () => {
  const client = await shop()
  const fine = { type: 'FIXED', value: 300 }
  const { id } = await charge(client, 1990, { dueDate: '2026-08-21', fine })
  api.clock.advance(5 * 86_400)
  assert.equal((await receive(client, 1990)).status, 'UNMATCHED')
  assert.equal((await receive(client, 2290)).settled.chargeId, id)
  await requireClean(client)
})

test('a payment whose txid we do not know is treated alike, except if it could be ours', async () => {
  const client = await shop()
  const { id } = await charge(client, 1990)
  await record(client, [{ txid: '0'.repeat(26) }, { txid: '7'.repeat(25) }])
  assert.deepEqual(await stateOf(client, id), OPEN)
  await record(client, [{ txid: 'PEDIDO123' }])
  assert.deepEqual(await stateOf(client, id), PAID)
  await requireClean(client, true)
})

test('a payment that settled a charge pays no other when its bank names one later', async () => {
  const client = await shop()
  const [one, other] = [await charge(client, 1990), await charge(client, 2990)]
  const [{ endToEndId }] = (await record(client, [{}])) as [ReceivedPix]
  const txid = other.id.slice('charge_'.length)
  await record(client, [{ endToEndId, txid, amount: 2990 }])
  await record(client, [{ endToEndId, txid: one.id.slice('charge_'.length) }])
  assert.deepEqual(await stateOf(client, one.id), PAID)
  assert.deepEqual(await stateOf(client, other.id), OPEN)
  await requireClean(client, true)
})

test('what arrives together: the first pays the charge, the others wait', async () => {
  const client = await shop()
  const { id } = await charge(client, 1990)
  const txid = id.slice('charge_'.length)
  const at = (seconds: number) => new Date(api.clock.now().getTime() + seconds * 1000)
  api.clock.advance(10)
  const [, , first] = await record(client, [
    { receivedAt: at(-1) },
    { txid, receivedAt: at(-2) },
    { receivedAt: at(-3) },
  ])
  assert.equal((await client.get(`/charge/${id}`)).body.data.endToEndId, first!.endToEndId)
  const { body } = await client.get('/payment/unmatched')
  assert.deepEqual(body.data.map(({ reason }: { reason: string }) => reason).sort(), [
    'DUPLICATE',
    'UNKNOWN',
  ])
  await requireClean(client, true)
})

test('twenty payments at once, half of them by the code, settle a charge once', async () => {
  const client = await shop()
  const { id, brCode } = await charge(client, 1990)
  await Promise.all(
    Array.from({ length: 20 }, (_, n) => (n % 2 ? receive(client, 1990) : pay(api, brCode))),
  )
  assert.deepEqual(await stateOf(client, id), PAID)
  const rows = await api.rows(
    `select count(*)::int, count(*) filter (where status = 'MATCHED' or settled > 0)::int as paid
     from payments where company_id = $1`,
    [client.company.id],
  )
  assert.deepEqual(rows, [{ count: 20, paid: 1 }])
  assert.equal((await typesOf(client)).filter((type) => type === 'charge.paid').length, 1)
  assert.deepEqual(await balancesOf(api, client), {
    ...(await balancesOf(api, client)),
    pending: 1990,
    unmatched: 19 * 1990,
  })
  await requireClean(client)
})

test('if recording is cut off nothing is written, and reconciliation settles the charge once', async () => {
  const client = await shop()
  const { id } = await charge(client, 1990)
  await api.rows(`create function cut_off() returns trigger language plpgsql as
    $$ begin raise 'cut off'; end $$`)
  await api.rows(`create trigger cut_off before insert on postings for each row
    when (new.company_id = '${client.company.id}') execute function cut_off()`)
  const json = { amount: 1990, payer: PAYER }
  assert.equal((await client.post(SANDBOX_PAYMENT, json)).status, 500)
  const countOf = async (table: string) =>
    (await api.rows(`select from ${table} where company_id = $1`, [client.company.id])).length
  assert.deepEqual(await stateOf(client, id), OPEN)
  assert.equal(await countOf('payments'), 0)
  await api.rows('drop trigger cut_off on postings')
  api.clock.advance(120)
  await Promise.all([reconcileDue.run(app), reconcileDue.run(app)])
  api.clock.advance(120)
  await reconcileDue.run(app)
  assert.deepEqual(await stateOf(client, id), PAID)
  assert.equal(await countOf('payments'), 1)
  assert.equal((await typesOf(client)).filter((type) => type === 'charge.paid').length, 1)
  await requireClean(client)
})

test('a payer with very many charges is left to a person', async () => {
  const client = await shop()
  const { id } = await charge(client, 1990)
  await api.rows(
    `insert into charges select (jsonb_populate_record(c, jsonb_build_object(
       'id', gen_random_uuid(), 'external_id', null, 'amount', 5000 + n))).*
     from charges c, generate_series(1, 500) n where c.company_id = $1`,
    [client.company.id],
  )
  assert.equal((await receive(client, 1990)).status, 'UNMATCHED')
  assert.deepEqual(await stateOf(client, id), OPEN)
})

test('what one payment costs does not grow with the customers of a tax id', async () => {
  const client = await shop()
  const { id } = await charge(client, 1990)
  const twins = (count: number) =>
    api.rows(
      `insert into customers (company_id, id, name, status, tax_id_index, sealed, origin,
         created_at, updated_at)
       select company_id, gen_random_uuid(), name, status, tax_id_index, sealed, 'client',
         created_at, updated_at
       from customers, generate_series(1, $2::int) where company_id = $1 and origin = 'charge'`,
      [client.company.id, count],
    )
  await twins(499)
  assert.equal((await receive(client, 1990)).settled.chargeId, id)
  const next = await charge(client, 2990)
  await twins(1)
  assert.equal((await receive(client, 2990)).status, 'UNMATCHED')
  assert.deepEqual(await stateOf(client, next.id), OPEN)
  await requireClean(client)
})

test('the charge can be refunded, and returned by the bank, like any other', async () => {
  const client = await shop()
  const { id } = await charge(client, 1990)
  const { endToEndId } = await receive(client, 1990)
  assert.equal((await client.post(`/refund/${id}`, { value: 990 })).status, 201)
  const path = `${SANDBOX_PAYMENT}/${endToEndId}/return`
  assert.equal((await client.post(path, { value: 1000 })).status, 201)
  await requireClean(client)
})

test('the payer can dispute it, and the charge and the books follow', async () => {
  for (const decision of ['won', 'lost']) {
    const client = await shop()
    const { id } = await charge(client, 1990)
    const { endToEndId } = await receive(client, 1990)
    const opened = await client.post(disputeOf(endToEndId), { reason: 'FRAUD' })
    assert.equal(opened.status, 201, opened.text)
    assert.equal(opened.body.data.chargeId, id)
    const { status, text } = await client.post(decisionOf(opened.body.data.id), { decision })
    assert.equal(status, 200, text)
    const after = decision === 'won' ? PAID : ['COMPLETED', 'REFUNDED']
    assert.deepEqual(await stateOf(client, id), after)
    await requireClean(client)
  }
})
