import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ROUTES } from '../../src/http/routes/all.ts'
import { type Client, type Reply, startApi } from '../support/api.ts'
import { BODIES, type BodyCase, fieldsOf, put, without } from './bodies.ts'
import { stored } from './storage.ts'

const api = await startApi()
const client = await api.client()
type Prepared = BodyCase & { client: Client; path: string; good: Record<string, unknown> }

const cases: Prepared[] = await Promise.all(
  BODIES.map(async (body) => {
    const client = await api.client()
    return { ...body, client, ...(await body.prepare(client, api)) }
  }),
)

const send = ({ client, method, path }: Prepared, json: unknown) =>
  client.call(method, path, { json })

/** The field that each violation starts with, in the order they are listed. */
function namedFields({ status, body }: Reply, what: string): string[] {
  assert.equal(status, 400, `${what}: ${JSON.stringify(body)}`)
  assert.equal(body.status, 400)
  assert.equal(body.data, null)
  return body.errors.map((error: { code: string; description: string }) => {
    assert.equal(error.code, 'invalid_value', what)
    const [, path] = /^([\w.[\]]+): \S/.exec(error.description) ?? []
    assert.ok(path, `${what}: "${error.description}" starts with a field`)
    return path
  })
}

const within = (path: string, field: string) =>
  path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`)

test('every route with a body has a table of wrong values for each field of its schema', () => {
  const taking = ROUTES.filter(({ body }) => body).map(({ operationId }) => operationId)
  assert.deepEqual(BODIES.map(({ operationId }) => operationId).sort(), taking.sort())
  for (const { operationId, wrong } of BODIES) {
    const { body } = ROUTES.find((route) => route.operationId === operationId)!
    assert.deepEqual(Object.keys(wrong).sort(), fieldsOf(body!).sort(), operationId)
  }
})

for (const prepared of cases) {
  const { operationId, wrong, required } = prepared

  test(`${operationId}: each wrong value names its field alone, and nothing is stored`, async () => {
    const before = await stored(api)
    for (const [field, values] of Object.entries(wrong)) {
      for (const value of values) {
        const what = `${field} = ${JSON.stringify(value)?.slice(0, 60)}`
        const reply = await send(prepared, put(prepared.good, field, value))
        for (const path of namedFields(reply, what)) assert.ok(within(path, field), what + path)
      }
    }
    assert.deepEqual(await stored(api), before)
  })

  test(`${operationId}: each missing field is named, and nothing is stored`, async () => {
    const before = await stored(api)
    for (const field of required) {
      const reply = await send(prepared, without(prepared.good, field))
      assert.deepEqual(namedFields(reply, field), [field])
    }
    assert.deepEqual(await stored(api), before)
  })

  test(`${operationId}: every violation of a body is named at once`, async () => {
    const before = await stored(api)
    const fields = Object.keys(wrong).filter((name) => !(name in prepared.parents))
    const faults = fc
      .subarray(fields, { minLength: 1 })
      .chain((chosen) =>
        fc.record(
          Object.fromEntries(chosen.map((name) => [name, fc.constantFrom(...wrong[name]!)])),
        ),
      )
    await fc.assert(
      fc.asyncProperty(faults, async (chosen) => {
        const body = Object.entries(chosen).reduce(
          (all, [field, value]) => put(all, field, value),
          prepared.good,
        )
        const named = namedFields(await send(prepared, body), JSON.stringify(chosen))
        for (const field of Object.keys(chosen)) {
          assert.ok(
            named.some((path) => within(path, field)),
            `${field} is named in ${named}`,
          )
        }
      }),
      { numRuns: 10 },
    )
    assert.deepEqual(await stored(api), before)
  })

  test(`${operationId}: null, text, a number and an array are no body`, async () => {
    const before = await stored(api)
    for (const body of [null, 'text', 7, true, [], [prepared.good]]) {
      const reply = await send(prepared, body)
      assert.deepEqual(namedFields(reply, JSON.stringify(body)), ['body'])
    }
    assert.deepEqual(await stored(api), before)
  })
}

test('the good body of each table is accepted, so its refusals are due to the wrong value', async () => {
  for (const prepared of cases) {
    const { status, text } = await send(prepared, prepared.good)
    assert.ok(status === 200 || status === 201, `${prepared.operationId}: ${text}`)
  }
})

test('an address that no client could open is refused wherever an address is taken', async () => {
  const before = await stored(api)
  for (const [operationId, fields] of Object.entries({
    createPaymentLink: ['successUrl', 'failedUrl'],
    createProduct: ['imageUrl'],
    createWebhook: ['url'],
  })) {
    const prepared = cases.find((one) => one.operationId === operationId)!
    for (const field of fields) {
      for (const url of ['http://[bad', 'https://a.example:99999/', 'https://%']) {
        const reply = await send(prepared, put(prepared.good, field, url))
        assert.deepEqual(namedFields(reply, `${field} = ${url}`), [field])
      }
    }
  }
  assert.deepEqual(await stored(api), before)
})

// What no schema can say is a violation like any other: a body is corrected once, not rule by rule.
const mixed = [
  {
    name: 'a link without customer and total',
    path: '/charge/payment-link',
    body: {},
    fields: ['customer', 'total'],
  },
  {
    name: 'a link with two customers, no total and a wrong address',
    path: '/charge/payment-link',
    body: {
      customerId: 'clnt_00000000000000000000000000',
      customer: { name: 'Maria', taxId: '52998224725' },
      successUrl: 'ftp://example.com',
    },
    fields: ['customerId', 'successUrl', 'total'],
  },
  {
    name: 'a webhook with a password in its address and no name',
    path: '/webhook',
    body: { url: 'https://user:password@example.com', name: '', events: ['charge.paid'] },
    fields: ['name', 'url'],
  },
  {
    name: 'a recurring product without frequency and with a negative price',
    path: '/product',
    body: { name: 'Pão', description: '', price: -1, type: 'RECURRING' },
    fields: ['frequency', 'price'],
  },
  {
    name: 'a live charge with wrong check digits and too small an amount',
    path: '/charge/pix',
    live: true,
    body: { amount: 499, devMode: true, customer: { name: 'Maria', taxId: '12345678901' } },
    fields: ['amount', 'customer.taxId'],
  },
]

for (const { name, path, body, fields, live } of mixed) {
  test(`${name} hears of all that is wrong at once`, async () => {
    const asking = live ? await api.client({ mode: 'live', pixKey: 'dona@example.com' }) : client
    const before = await stored(api)
    const named = new Set(namedFields(await asking.post(path, body), name))
    assert.deepEqual([...named].sort(), fields)
    assert.deepEqual(await stored(api), before)
  })
}

test('the older version tells every violation too, in its own shape', async () => {
  const before = await stored(api)
  const { status, body } = await client.post(
    '/charge/pix',
    { amount: 499, customer: { name: '' } },
    { headers: { 'X-Api-Version': '2025-01-01' } },
  )
  assert.equal(status, 400)
  assert.deepEqual(Object.keys(body), ['statusCode', 'message', 'error'])
  assert.equal(body.statusCode, 400)
  assert.equal(body.error, 'invalid_value')
  for (const field of ['amount:', 'customer.name:', 'customer.taxId:']) {
    assert.ok(body.message.includes(field), `${field} in ${body.message}`)
  }
  assert.deepEqual(await stored(api), before)
})

test('the bounds themselves are accepted', async () => {
  const customer = { name: 'M', taxId: '52998224725' }
  const bodies = [
    { amount: 500, customer },
    { amount: 999_999_999_999, customer },
    { amount: 500, customer, expiresIn: 1 },
    { amount: 500, customer, expiresIn: 31_536_000 },
    { amount: 500, customer: { ...customer, name: '😀'.repeat(255) } },
    { amount: 500, customer, externalId: 'é'.repeat(255) },
    { amount: 500, customer: { name: 'Padaria', taxId: '12ABC34501DE35' } },
  ]
  for (const body of bodies) {
    const { status, text } = await client.post('/charge/pix', body)
    assert.equal(status, 201, text)
  }
  const cheapest = await client.post('/charge/pix/static', { amount: 1 })
  assert.equal(cheapest.status, 201)
})

test('unknown fields are ignored and never stored', async () => {
  const canary = 'canary-7f3a'
  const customer = { name: 'Maria', taxId: '52998224725', secret: canary }
  const { status, text } = await client.post('/charge/pix', { amount: 500, customer, canary })
  assert.equal(status, 201)
  assert.ok(!text.includes(canary))
  const { text: made } = await client.post('/product', {
    ...{ name: 'Pão', description: '', price: 1, canary },
    marketplaceStatus: 'APPROVED',
    companyId: canary,
    id: canary,
  })
  assert.ok(!made.includes(canary))
  assert.ok(!made.includes('APPROVED'), 'what only an operator decides is not taken from a body')
  const rows = await api.rows(
    `select p::text from products p union all select c::text from charges c`,
  )
  assert.ok(!JSON.stringify(rows).includes(canary))
})
