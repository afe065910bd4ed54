import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import Type from 'typebox'
import { ROUTES } from '../../../src/http/routes/all.ts'
import { validator } from '../../../src/http/violations.ts'
import { VERSION_NAMES } from '../../../src/versions/history.ts'
import { type Client, payer, type Reply, startApi } from '../../support/api.ts'
import { isLong } from '../../support/long.ts'
import { BODIES, type BodyCase } from '../bodies.ts'
import { fieldsOf, put, without } from '../paths.ts'
import { stored } from '../storage.ts'

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
    const isTried = (name: string) => !(name in prepared.parents) && wrong[name]!.length > 0
    const fields = Object.keys(wrong).filter(isTried)
    const faults = fc
      // A reply names twenty violations at most.
      .subarray(fields, { minLength: 1, maxLength: Math.min(20, fields.length) })
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
      { numRuns: isLong ? 10 : 4 },
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
  test(`${name} is answered with all that is wrong at once`, async () => {
    const asking = live ? await api.client({ mode: 'live', pixKey: 'dona@example.com' }) : client
    const before = await stored(api)
    const named = new Set(namedFields(await asking.post(path, body), name))
    assert.deepEqual([...named].sort(), fields)
    assert.deepEqual(await stored(api), before)
  })
}

for (const version of VERSION_NAMES) {
  const headers = { 'X-Api-Version': version }

  test(`${version}: the message names the first violation and how many more fields are invalid`, async () => {
    const before = await stored(api)
    const customer = payer()
    const cases: [body: object, message: string][] = [
      [{ amount: 499, customer }, 'amount: must be at least 500'],
      [
        { amount: 499, customer: { ...customer, name: '' } },
        'amount: must be at least 500, and 1 more field is invalid',
      ],
      [
        { amount: 499, customer: { name: '' } },
        'amount: must be at least 500, and 2 more fields are invalid',
      ],
    ]
    for (const [json, message] of cases) {
      const { status, body } = await client.post('/charge/pix', json, { headers })
      assert.deepEqual([status, body.message], [400, message])
    }
    assert.deepEqual(await stored(api), before)
  })

  test(`${version}: the message counts all violations, however many are listed`, async () => {
    const items = Array.from({ length: 15 }, () => ({}))
    const json = { customer: payer(), total: 500, items }
    const { status, body } = await client.post('/charge/payment-link', json, { headers })
    assert.equal(status, 400)
    assert.equal(body.message, 'items[0].productId: is required, and 29 more fields are invalid')
    if (body.errors) assert.equal(body.errors.length, 20)
  })
}

test('products that do not exist are counted in the message like any other violation', async () => {
  const productId = 'prod_00000000000000000000000000'
  const items = [
    { productId, quantity: 1 },
    { productId, quantity: 2 },
  ]
  const { status, body } = await client.post('/charge/payment-link', { customer: payer(), items })
  assert.equal(status, 404)
  assert.equal(
    body.message,
    'items[0].productId: the company has no such product, and 1 more field is invalid',
  )
  assert.equal(body.errors.length, 2)
})

test('a format that nothing checks is an error of the program, for body and query', () => {
  for (const part of ['body', 'query'] as const) {
    const read = validator(part, Type.Object({ id: Type.String({ format: 'uid' }) }))
    assert.throws(() => read({ id: 'x' }), /unknown format "uid"/)
  }
})
