import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventsOf, payer, type Reply, startApi } from '../../support/api.ts'
import { stored } from '../storage.ts'

const api = await startApi()
const live = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
const sandbox = await api.client()

const first = ({ body }: Reply) => body.errors[0]

test('a sandbox takes a tax id by its shape, a live company by its check digits', async () => {
  const made: Record<string, (taxId: string) => [string, string, unknown]> = {
    'a charge': (taxId) => [
      '/charge/pix',
      'customer.taxId',
      { amount: 700, devMode: true, customer: payer({ taxId }) },
    ],
    'a link': (taxId) => [
      '/charge/payment-link',
      'customer.taxId',
      { total: 700, devMode: true, customer: payer({ taxId }) },
    ],
    'a customer': (taxId) => ['/client', 'taxId', { ...payer({ taxId }), status: 'ACTIVE' }],
  }
  for (const [name, make] of Object.entries(made)) {
    for (const taxId of ['12345678901', '11111111111', '12345678000100', '12ABC34501DE36']) {
      const [path, field, json] = make(taxId)
      assert.equal((await sandbox.post(path, json)).status, 201, `${name} of ${taxId}`)
      const before = await stored(api)
      const refused = await live.post(path, json)
      assert.deepEqual([refused.status, first(refused).code], [400, 'invalid_value'], name)
      assert.ok(first(refused).description.startsWith(`${field}: `), first(refused).description)
      assert.deepEqual(await stored(api), before)
    }
    for (const taxId of ['52998224725', '11444777000161', '12ABC34501DE35']) {
      const [path, , json] = make(taxId)
      const reply = await live.post(path, json)
      assert.equal(reply.status, 201, `${name} of ${taxId}: ${reply.text}`)
    }
  }
})

test('a strict sandbox refuses the tax ids that a live company refuses', async () => {
  const strict = await api.client()
  assert.equal((await strict.get('/company')).body.data.strictTaxIds, undefined)
  const charge = { amount: 700, customer: payer({ taxId: '12345678901' }) }
  assert.equal((await strict.post('/charge/pix', charge)).status, 201)
  const changed = await strict.put('/company', { strictTaxIds: true })
  assert.equal(changed.body.data.strictTaxIds, true)
  for (const [path, json] of [
    ['/charge/pix', charge],
    ['/charge/payment-link', { total: 700, customer: charge.customer }],
    ['/client', { ...charge.customer, status: 'ACTIVE' }],
  ] as const) {
    const refused = await strict.post(path, json)
    assert.equal(refused.status, 400, path)
    assert.match(first(refused).description, /taxId: has wrong check digits/)
  }
  const right = await strict.post('/charge/pix', {
    ...charge,
    customer: payer({ taxId: '12345678909' }),
  })
  assert.equal(right.status, 201)
  await strict.put('/company', { strictTaxIds: false })
  assert.equal((await strict.post('/client', { ...charge.customer, status: 'ACTIVE' })).status, 201)
})

test('a live customer cannot be changed to wrong check digits', async () => {
  const { body } = await live.post('/client', { ...payer(), status: 'ACTIVE' })
  const before = await stored(api)
  const reply = await live.put('/client', { id: body.data.id, taxId: '12345678901' })
  assert.deepEqual([reply.status, first(reply).code], [400, 'invalid_value'])
  assert.deepEqual(await stored(api), before)
})

test('a live company without a bank cannot sell, and nothing is stored', async () => {
  const customer = payer()
  const before = await stored(api)
  for (const [path, json] of [
    ['/charge/pix', { amount: 700, customer }],
    ['/charge/pix/static', { amount: 700 }],
    ['/charge/payment-link', { total: 700, customer }],
  ] as const) {
    const reply = await live.post(path, json)
    assert.deepEqual([reply.status, first(reply).code], [503, 'provider_unavailable'], path)
    const old = await live.post(path, json, { headers: { 'X-Api-Version': '2025-01-01' } })
    assert.deepEqual([old.status, old.body.error], [503, 'provider_unavailable'])
  }
  assert.deepEqual(await stored(api), before)
})

test('bad input to a live company is reported before the missing bank', async () => {
  const reply = await live.post('/charge/pix', { amount: 1, customer: payer() })
  assert.deepEqual([reply.status, first(reply).code], [400, 'invalid_value'])
})

test('a live company can try everything in dev mode', async () => {
  const own = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  const { body } = await own.post('/charge/pix', { amount: 700, customer: payer(), devMode: true })
  const paid = await own.post(`/charge/${body.data.id}/simulate-payment`)
  assert.equal(paid.body.data.paymentStatus, 'PAID')
  const types = (await eventsOf(api, own.company.id)).map(({ type }) => type)
  assert.deepEqual(types, ['charge.pending', 'charge.processing', 'charge.paid'])
  const code = await own.post('/charge/pix/static', { amount: 1, devMode: true })
  assert.equal(code.status, 201)
  const link = { total: 700, customer: payer(), devMode: true }
  const made = await own.post('/charge/payment-link', link)
  assert.equal((await own.post(`/charge/${made.body.data.id}/simulate-payment`)).status, 200)
})

test('the company of a key is shown as it is', async () => {
  const { body } = await live.get('/company')
  assert.deepEqual(body.data, {
    id: live.company.id,
    name: 'Padaria São João',
    taxId: '11222333000181',
    email: 'dona@example.com',
    color: '#0f766e',
    pixKey: 'dona@example.com',
    city: 'Sao Paulo',
    mode: 'live',
    apiVersion: '2026-08-16',
    language: 'pt',
    mailsReceipts: true,
    settlementDelay: 0,
    createdAt: '2026-08-20T15:00:00.000Z',
  })
  const other = await sandbox.get('/company')
  assert.deepEqual([other.body.data.mode, other.body.data.settlementDelay], ['sandbox', 60])
})
