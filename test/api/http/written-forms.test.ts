import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { ROUTES } from '../../../src/http/routes/all.ts'
import { VERSION_NAMES } from '../../../src/versions/history.ts'
import { readDocument } from '../../openapi/document.ts'
import { type Client, payer, startApi } from '../../support/api.ts'
import { BODIES } from '../bodies.ts'
import { put } from '../paths.ts'

const api = await startApi()
const client = await api.client()

const PLAIN = { taxId: '52998224725', phone: '11988888888', postalCode: '01310100' }
const WRITTEN = { taxId: '529.982.247-25', phone: '+55 (11) 98888-8888', postalCode: '01310-100' }
const SHOWN = { ...PLAIN, taxId: '529.982.247-25' }

const customersOf = async (own: Client) => (await own.get('/client')).body.data
const pick = ({ taxId, phone, postalCode }: Record<string, string>) => ({
  taxId,
  phone,
  postalCode,
})

test('a payer written with punctuation is the payer written without it', async () => {
  const own = await api.client()
  for (const person of [PLAIN, WRITTEN]) {
    const pix = await own.post('/charge/pix', { amount: 1990, customer: payer(person) })
    assert.equal(pix.status, 201, pix.text)
    const link = await own.post('/charge/payment-link', { total: 1990, customer: payer(person) })
    assert.equal(link.status, 201, link.text)
    const { body } = await own.get(`/charge/${pix.body.data.id}`)
    assert.deepEqual(
      [body.data.customer.taxId, body.data.customer.phone],
      ['***.***.247-25', '(**) *****-8888'],
    )
  }
  const customers = await customersOf(own)
  assert.deepEqual(customers.map(pick), [SHOWN])
})

test('a customer is made, changed and found by what is written with punctuation', async () => {
  const own = await api.client()
  const made = await own.post('/client', { ...payer(WRITTEN), status: 'ACTIVE' })
  assert.deepEqual([made.status, pick(made.body.data)], [201, SHOWN])
  const { id } = made.body.data
  const changes = { taxId: '12.abc.345/01de-35', phone: '(21) 3888-8888', postalCode: '20.040-002' }
  const changed = await own.put('/client', { id, ...changes })
  assert.deepEqual(pick(changed.body.data), {
    taxId: '12.ABC.345/01DE-35',
    phone: '2138888888',
    postalCode: '20040002',
  })
  for (const taxId of ['12ABC34501DE35', '12.abc.345/01de-35', '12 ABC 345 01DE 35']) {
    const found = await own.get(`/client?taxId=${encodeURIComponent(taxId)}`)
    assert.deepEqual([found.status, found.body.data.length], [200, 1], taxId)
  }
})

test('a live company’s check digits are checked whatever the punctuation', async () => {
  const live = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  const charge = (taxId: string) =>
    live.post('/charge/pix', { amount: 1990, devMode: true, customer: payer({ taxId }) })
  for (const taxId of ['529.982.247-26', '11.222.333/0001-82']) {
    const { status, body } = await charge(taxId)
    assert.equal(status, 400)
    assert.match(body.message, /^customer\.taxId: has wrong check digits/)
  }
  assert.equal((await charge('529.982.247-25')).status, 201)
})

test('a payer who subscribes may write with punctuation too', async () => {
  const product = await client.post('/product', {
    name: 'Pão',
    description: '',
    price: 900,
    type: 'RECURRING',
    frequency: 'MONTHLY',
  })
  const { body } = await client.post('/pix-automatic/recurrences/template', {
    productId: product.body.data.id,
    customerId: '',
  })
  const { body: shown } = await client.get(`/pix-automatic/recurrences/${body.data.id}`)
  const path = `${new URL(shown.data.paymentLinkUrl).pathname}/subscription`
  const json = { customer: payer({ ...WRITTEN, email: '', foo: 1 }) }
  const { status, text, headers } = await api.call('POST', path, { json })
  assert.equal(status, 201, text)
  assert.equal(headers.get('x-ignored-fields'), 'customer.foo')
})

type Schema = { type?: unknown; enum?: unknown[]; format?: string } & Record<string, unknown>
type Texts = { path: string; required: boolean; schema: Schema }

/** Every field of text in a schema, with its path. */
function textsOf(schema: Schema, at = ''): Texts[] {
  const required = (schema.required ?? []) as string[]
  const fields = Object.entries((schema.properties ?? {}) as Record<string, Schema>)
  return fields.flatMap(([name, field]) => {
    const path = at ? `${at}.${name}` : name
    const isText = [field.type].flat().includes('string') || field.enum !== undefined
    const own = isText ? [{ path, required: required.includes(name), schema: field }] : []
    const items =
      field.items && !field['x-each'] ? textsOf(field.items as Schema, `${path}[0]`) : []
    return [...own, ...textsOf(field, path), ...items]
  })
}

const { body: document } = await api.call('GET', '/openapi.json')
const { operationOf, closed } = readDocument(document)
const ajv = new Ajv({ strict: false, validateFormats: false })

/** Texts that may be absent, but not beside the other fields of the body. */
const NEEDED: Record<string, RegExp> = {
  'createProduct frequency': /frequency: required when/,
  'acceptPayment chargeId': /difference: only with chargeId/,
  'createPixCharge dueDate': /fine: needs a dueDate/,
  'createPaymentLink dueDate': /fine: needs a dueDate/,
  'createPlan firstDueDate': /firstDueDate: send it, or all dueDates/,
}

for (const { operationId, method, prepare } of BODIES) {
  const route = ROUTES.find((one) => one.operationId === operationId)!
  const blank = textsOf(route.body as Schema).filter(({ required }) => !required)

  test(`${operationId}: optional text that is empty counts as absent`, async () => {
    const own = await api.client()
    const { path, good } = await prepare(own, api)
    const { requestBody } = operationOf(operationId)
    const validate = ajv.compile(closed(requestBody.content['application/json'].schema))
    for (const { path: field, schema } of blank) {
      // A discount by day rules out the others, so that a body has one of them.
      if (field.startsWith('discount') && !(field.split(/[.[]/)[0]! in good)) continue
      const json = put(good, field, '')
      const { status, text } = await own.call(method, path, { json })
      // What the body names or asks for may be gone or done by now; the body itself is right.
      const needed = NEEDED[`${operationId} ${field}`]
      if (needed) assert.match(text, needed)
      else assert.notEqual(status, 400, `${field}: ${text}`)
      if (!schema.enum) assert.ok(validate(json), `the document allows an empty ${field}`)
    }
  })
}

test('a charge with every optional field empty is stored like one without them', async () => {
  const own = await api.client()
  const blank = { email: '', phone: '', postalCode: '', address: '', number: '', line1: '' }
  const customer = { name: 'Maria', taxId: '52998224725', district: '', ...blank }
  const urls = { successUrl: '', failedUrl: '', customerId: '', externalId: '' }
  const link = await own.post('/charge/payment-link', { total: 500, customer, ...urls })
  assert.deepEqual([link.status, link.body.data.externalId], [201, null])
  const { data } = (await own.get(`/charge/${link.body.data.id}`)).body
  assert.deepEqual(Object.keys(data.customer), ['name', 'taxId'])
  for (const name of ['successUrl', 'failedUrl', 'externalId']) assert.ok(!(name in data), name)
  const [stored] = await customersOf(own)
  for (const name of Object.keys(blank)) assert.ok(!(name in stored), name)
})

test('in a change an empty field stays as it was, and null takes it away', async () => {
  const own = await api.client()
  const { body } = await own.post('/client', {
    ...payer(WRITTEN),
    line1: 'cj. 3',
    status: 'ACTIVE',
  })
  const { id } = body.data
  const same = await own.put('/client', { id, name: '', phone: '', postalCode: '', line1: '' })
  const { updatedAt, ...before } = body.data
  assert.equal(same.status, 200, same.text)
  assert.deepEqual({ ...before, updatedAt: same.body.data.updatedAt }, same.body.data)
  const changed = await own.put('/client', { id, line1: null, postalCode: null })
  assert.ok(!('line1' in changed.body.data) && !('postalCode' in changed.body.data))
})

test('empty text in a required field, in an array or for another type stays a violation', async () => {
  const charge = { amount: 1990, customer: payer() }
  const wrong: [string, object][] = [
    ['customer.name', { ...charge, customer: payer({ name: '' }) }],
    ['customer.taxId', { ...charge, customer: payer({ taxId: '' }) }],
    ['customer', { ...charge, customer: '' }],
    ['expiresIn', { ...charge, expiresIn: '' }],
    ['devMode', { ...charge, devMode: '' }],
    ['customer.phone', { ...charge, customer: payer({ phone: ' ' }) }],
    ['customer.phone', { ...charge, customer: payer({ phone: `11988888888${' '.repeat(60)}` }) }],
    ['customer.taxId', { ...charge, customer: payer({ taxId: 52998224725 }) }],
    ['customer.phone', { ...charge, customer: payer({ phone: '１１988888888' }) }],
  ]
  for (const [field, json] of wrong) {
    const { status, body } = await client.post('/charge/pix', json)
    assert.equal(status, 400, field)
    assert.ok(body.message.startsWith(`${field}: `), body.message)
  }
  const events = await client.post('/webhook', {
    url: 'https://a.example',
    name: 'a',
    events: [''],
  })
  assert.equal(events.status, 400)
})

test('an empty filter is refused: without it everything would be found', async () => {
  for (const name of ['externalId', 'status', 'createdFrom']) {
    assert.equal((await client.get(`/charge?${name}=`)).status, 400, name)
  }
  assert.equal((await client.get('/client?taxId=')).status, 400)
})

for (const version of VERSION_NAMES) {
  test(`${version}: an empty Idempotency-Key is as if none was sent`, async () => {
    const headers = { 'Idempotency-Key': '', 'X-Api-Version': version }
    const ids = new Set<string>()
    for (let i = 0; i < 2; i++) {
      const json = { amount: 1990, customer: payer() }
      const { status, body, headers: got } = await client.post('/charge/pix', json, { headers })
      assert.equal(status, 201)
      assert.equal(got.get('idempotent-replayed'), null)
      ids.add((body.data ?? body).id)
    }
    assert.equal(ids.size, 2)
  })

  test(`${version}: the form of an automation tool, punctuated and half empty, makes a charge`, async () => {
    const headers = { 'Idempotency-Key': '', 'X-Api-Version': version }
    const customer = {
      name: 'Maria da Silva',
      email: 'maria@example.com',
      ...WRITTEN,
      address: '',
      district: '',
      number: '',
      line1: '',
    }
    const json = { amount: 1990, customer, expiresIn: 1800, externalId: '', devMode: true }
    const { status, text } = await client.post('/charge/pix', json, { headers })
    assert.equal(status, 201, text)
  })
}

test('the same request is known by what was sent, in whatever order its fields are', async () => {
  const own = await api.client()
  const people = fc.record({
    taxId: fc.constantFrom('52998224725', '529.982.247-25'),
    phone: fc.constantFrom('11988888888', '(11) 98888-8888', ''),
    line1: fc.constantFrom('', 'cj. 3', undefined),
  })
  let next = 0
  await fc.assert(
    fc.asyncProperty(people, people, async (first, second) => {
      const headers = { 'Idempotency-Key': `sent ${next++}` }
      const post = (json: object) => own.post('/charge/pix', json, { headers })
      const made = await post({ amount: 500, customer: payer(first), foo: 1 })
      const again = await post({ foo: 1, customer: payer(first), amount: 500 })
      assert.deepEqual([again.status, again.text], [201, made.text])
      const other = await post({ amount: 500, customer: payer(second), foo: 1 })
      const isSame = JSON.stringify(first) === JSON.stringify(second)
      assert.equal(other.status, isSame ? 201 : 422)
    }),
    { numRuns: 15 },
  )
})
