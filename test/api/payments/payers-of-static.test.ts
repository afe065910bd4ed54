import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditCompany } from '../../../src/core/audits/commands.ts'
import { matchPayments } from '../../../src/core/payments/match.ts'
import { toCents } from '../../../src/lib/money.ts'
import { type Client, payer, startApi } from '../../support/api.ts'
import { makeCharge, order, SANDBOX_PAYMENT } from '../../support/payments.ts'

const api = await startApi()

const MARIA = { name: 'Maria da Silva', taxId: '52998224725' }

async function makeCode(client: Client, fields = {}) {
  const { status, body, text } = await client.post('/charge/pix/static', { amount: 250, ...fields })
  assert.equal(status, 201, text)
  return body.data
}

const newest = async (client: Client) => (await client.get('/charge?limit=1')).body.data[0]
const customers = async (client: Client) => (await client.get('/client')).body.data

test('who pays a static code becomes a customer, once, and the sale shows them', async () => {
  const client = await api.client()
  const { brCode } = await makeCode(client)
  for (const taxId of ['52998224725', '529.982.247-25']) {
    assert.equal((await order(api, { brCode, payer: { name: MARIA.name, taxId } })).status, 201)
    const { customer } = await newest(client)
    assert.deepEqual(
      [customer.name, customer.taxId],
      ['Maria da Silva', '***.***.247-25'],
      JSON.stringify(customer),
    )
  }
  const [maria, ...others] = await customers(client)
  assert.deepEqual([maria.name, others], ['Maria da Silva', []])
  const sales = await client.get(`/charge?customerId=${maria.id}`)
  assert.equal(sales.body.data.length, 2)
  assert.equal((await client.get('/charge?taxId=52998224725')).body.data.length, 2)
  const stored = JSON.stringify(await api.rows('select c::text from charges c'))
  assert.ok(!stored.includes(MARIA.taxId))
})

test('a customer who is there already is found by tax id, and keeps their name', async () => {
  const client = await api.client()
  await makeCharge(client, 700, { customer: payer(MARIA) })
  const { brCode } = await makeCode(client)
  await order(api, { brCode, payer: { ...MARIA, name: 'MARIA SILVA' } })
  assert.equal((await newest(client)).customer.name, 'MARIA SILVA')
  assert.deepEqual(
    (await customers(client)).map(({ name }: { name: string }) => name),
    ['Maria da Silva'],
  )
})

test('a payer whom the bank masks, or names in part, is no customer', async () => {
  const client = await api.client()
  const { brCode } = await makeCode(client)
  for (const from of [
    undefined,
    { name: 'Rui' },
    { taxId: MARIA.taxId },
    { ...MARIA, name: ' ' },
  ]) {
    await order(api, { brCode, ...(from && { payer: from }) })
    assert.equal((await newest(client)).customer, undefined)
  }
  assert.deepEqual(await customers(client), [])
})

test('sales of new payers at the same moment make each customer once', async () => {
  const client = await api.client()
  const codes = await Promise.all([makeCode(client), makeCode(client)])
  const payers = ['52998224725', '11144477735', '12345678909']
  await Promise.all(
    Array.from({ length: 24 }, (_, n) =>
      order(api, {
        brCode: codes[n % 2].brCode,
        payer: { name: `Ana ${n % 3}`, taxId: payers[n % 3] },
      }),
    ),
  )
  assert.equal((await customers(client)).length, 3)
  const { body } = await client.get('/charge?limit=100')
  assert.equal(body.data.length, 24)
  const { faults } = await auditCompany(api.app, client.company.id, { whole: true })
  assert.deepEqual(faults, [])
})

test('sales have the reference of their code, and can be searched by it', async () => {
  const client = await api.client()
  const code = await makeCode(client, { externalId: 'balcão 7' })
  assert.equal(code.externalId, 'balcão 7')
  assert.equal('externalId' in (await makeCode(client)), false)
  await order(api, { brCode: code.brCode })
  await order(api, { brCode: code.brCode })
  const { body } = await client.get(`/charge?externalId=${encodeURIComponent('balcão 7')}`)
  assert.deepEqual(
    body.data.map(({ externalId }: { externalId: string }) => externalId),
    ['balcão 7', 'balcão 7'],
  )
  const { status } = await client.post('/charge/pix/static', { amount: 1, externalId: 7 })
  assert.equal(status, 400)
})

test('who sends a Pix to the key becomes a customer when the merchant keeps the money', async () => {
  const client = await api.client()
  const receive = async (from?: object) =>
    (await client.post(SANDBOX_PAYMENT, { amount: 700, payer: from })).body.data.endToEndId
  const [one, other] = [await receive(MARIA), await receive({ name: 'Rui' })]
  assert.deepEqual(await customers(client), [])
  for (const id of [one, one, other]) {
    assert.equal((await client.post(`/payment/unmatched/${id}/accept`)).status, 200)
  }
  assert.deepEqual(
    (await customers(client)).map(({ name }: { name: string }) => name),
    ['Maria da Silva'],
  )
})

test('a name with a character that no column takes does not hold back the money', async () => {
  const client = await api.client()
  const { correlationID } = await makeCode(client)
  const txid = correlationID.slice('qrs_0'.length)
  const from = { ...MARIA, name: 'Maria\0 da Silva' }
  const pixOf = (n: number, fields: { txid: string | null }) => ({
    endToEndId: `E9999999920260820150000000000${n}`,
    amount: toCents(250),
    receivedAt: api.clock.now(),
    payer: from,
    ...fields,
  })
  const arrival = { source: 'simulated' as const, now: api.clock.now() }
  const sent = [pixOf(7001, { txid }), pixOf(7002, { txid: null })]
  await api.app.db.transaction((tx) => matchPayments(tx, api.app, client.company, sent, arrival))
  assert.equal((await newest(client)).customer.name, 'Maria da Silva')
  const path = `/payment/unmatched/${sent[1]!.endToEndId}/accept`
  assert.equal((await client.post(path)).status, 200)
})
