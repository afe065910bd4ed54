import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROUTES } from '../../../src/http/routes/all.ts'
import { type Any, ajv, faultOf, readDocument } from '../../openapi/document.ts'
import { startApi } from '../../support/api.ts'
import { BODIES } from '../bodies.ts'
import { put } from '../paths.ts'

const api = await startApi()

const served = async (path: string) => readDocument((await api.call('GET', path)).body)
const head = await served('/openapi.json')
const old = await served('/openapi-2025-01-01.json')
const { json: document, operations, operationOf, resolve, closed } = head

test('the document is served to anybody, as OpenAPI 3.1', async () => {
  const reply = await api.call('GET', '/openapi.json')
  assert.equal(reply.status, 200)
  assert.match(reply.headers.get('content-type')!, /^application\/json/)
  assert.match(document.openapi, /^3\.1\.\d+$/)
  assert.equal(document.info.title, 'Vintém')
  assert.equal(document.info.version, '2026-08-16')
  assert.deepEqual(document.servers, [{ url: 'http://vintem.test' }])
  for (const requirement of document.security) {
    for (const name of Object.keys(requirement)) {
      const scheme = document.components.securitySchemes[name]
      const { description, ...rest } = scheme
      assert.ok(description)
      assert.deepEqual(rest, { type: 'apiKey', in: 'header', name: 'X-API-KEY' })
    }
  }
  assert.equal(old.json.info.version, '2025-01-01')
  const page = await api.call('GET', '/docs')
  assert.equal(page.status, 200)
  assert.match(page.headers.get('content-type')!, /^text\/html/)
  for (const path of ['/openapi.json', '/openapi-2025-01-01.json']) {
    assert.ok(page.text.includes(`"url": "${path}"`), `${path} can be chosen`)
  }
})

test('the document lists every operation of the route table and no other', () => {
  const listed = operations.map(({ method, path, operation }) => [
    `${method.toUpperCase()} ${path}`,
    operation.operationId,
  ])
  const routed = ROUTES.map(({ method, path, operationId }) => [`${method} ${path}`, operationId])
  assert.deepEqual(listed.sort(), routed.sort())
  assert.equal(
    new Set(operations.map(({ operation }) => operation.operationId)).size,
    operations.length,
  )
})

test('every operation is whole: parameters, bodies and answers are described', () => {
  for (const { method, path, operation } of operations) {
    const what = `${method} ${path}`
    assert.match(path, /^\/[\w\-/{}]*$/, what)
    assert.ok(operation.summary && operation.tags.length > 0, what)
    const parameters = operation.parameters.map(resolve)
    for (const { name, in: place, schema } of parameters) {
      assert.ok(name && ['path', 'query', 'header'].includes(place) && schema, `${what}: ${name}`)
    }
    const named = parameters.filter((one: Any) => one.in === 'path' && one.required === true)
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    assert.deepEqual(
      named.map(({ name }: Any) => name),
      inPath,
      what,
    )
    const headers = parameters.filter((one: Any) => one.in === 'header')
    const expected = method === 'get' ? ['X-Api-Version'] : ['Idempotency-Key', 'X-Api-Version']
    assert.deepEqual(headers.map(({ name }: Any) => name).sort(), expected, what)
    for (const [status, given] of Object.entries<Any>(operation.responses)) {
      const answer = resolve(given)
      assert.match(status, /^[2-5]\d\d$/, what)
      assert.ok(answer.description, `${what} ${status}`)
      assert.ok(answer.content['application/json'].schema, `${what} ${status}`)
    }
    const file = ROUTES.find(({ operationId }) => operationId === operation.operationId)!.csv
    const content = Object.keys(operation.responses['200']?.content ?? {})
    assert.equal(content.includes('text/csv'), file !== undefined, `${what} as a file`)
    for (const status of ['400', '401', '403', '429', '500']) {
      assert.ok(operation.responses[status], `${what} lists ${status}`)
    }
  }
})

test('every schema is JSON Schema', () => {
  for (const { method, path, operation } of operations) {
    const schemas = [
      operation.requestBody?.content['application/json'].schema,
      ...operation.parameters.map((one: Any) => resolve(one).schema),
      ...Object.values<Any>(operation.responses).map(
        (one) => resolve(one).content['application/json'].schema,
      ),
    ]
    for (const schema of schemas.filter(Boolean)) {
      assert.ok(ajv.validateSchema(closed(schema)), `${method} ${path}: ${ajv.errorsText()}`)
    }
  }
})

test('refusals that every operation knows are what the document says', async () => {
  const { schemas, examples } = document.components
  const client = await api.client()
  const replies = [
    await api.call('GET', '/nowhere'),
    await api.call('GET', '/client'),
    await client.get('/client', { headers: { 'X-API-KEY': 'x' } }),
    await client.get('/client', { headers: { 'X-Api-Version': '' } }),
    await client.call('POST', '/client', { raw: '{' }),
    await client.call('POST', '/client', { raw: 'x', headers: { 'content-type': 'text/plain' } }),
    await client.call('POST', '/client', { raw: ' '.repeat(70_000) }),
    await (await api.client({}, { scopes: [] })).get('/client'),
  ]
  const statuses = replies.map(({ status }) => status)
  assert.deepEqual(statuses, [404, 401, 401, 400, 400, 415, 413, 403])
  for (const { body } of replies) assert.equal(faultOf(closed(schemas.ApiError), body), null)
  // The examples are these very answers, where the document shows one for all operations.
  const [, ...known] = replies
  for (const { body } of known) {
    const example = examples[body.errors[0].code]
    assert.deepEqual(
      { ...body, message: '', errors: [] },
      { ...example.value, message: '', errors: [] },
    )
    if (body.errors[0].code === 'insufficient_scope') continue
    assert.equal(body.errors[0].description, example.value.errors[0].description)
  }
})

/** The schema with everything that it refers to. */
const inlined = (schema: Any): Any => ({ ...schema, components: document.components })

test('the document takes the bodies that the server takes, and refuses those that it refuses', async () => {
  const loose: string[] = []
  for (const body of BODIES) {
    const { schema } = operationOf(body.operationId).requestBody.content['application/json']
    const validate = ajv.compile(inlined(schema))
    const { good } = await body.prepare(await api.client(), api)
    assert.ok(validate(good), `${body.operationId}: ${ajv.errorsText(validate.errors)}`)
    for (const [field, values] of Object.entries(body.wrong)) {
      for (const value of values) {
        const what = `${body.operationId} ${field} = ${JSON.stringify(value).slice(0, 60)}`
        if (validate(put(good, field, value))) loose.push(what)
      }
    }
  }
  assert.deepEqual(loose, [])
})

test('the document says of every write whether it refuses or ignores an unknown field', async () => {
  for (const { json, operationOf: find, resolve: follow } of [head, old]) {
    for (const { operationId, method, unknownFields, status } of ROUTES) {
      if (method === 'GET') continue
      const { requestBody, responses, description } = find(operationId)
      const refuses = unknownFields === 'refused'
      const headers = Object.keys(responses[status].headers)
      assert.equal(headers.includes('X-Ignored-Fields'), !refuses, operationId)
      assert.equal(/Unknown fields of the body are refused/.test(description), refuses, operationId)
      if (!requestBody) continue
      const schema = follow(requestBody.content['application/json'].schema)
      assert.equal(schema.additionalProperties, refuses ? false : undefined, operationId)
    }
    const { NewRefund, NewWithdrawal, NewBankReturn } = json.components.schemas
    assert.deepEqual(NewWithdrawal.required, ['value'], 'generated clients keep its type')
    for (const { properties } of [NewRefund, NewWithdrawal, NewBankReturn]) {
      assert.match(properties.amount.description, /^Another name of `value`/)
      const { description: _, ...amount } = properties.amount
      const { description: __, ...value } = properties.value
      assert.deepEqual(amount, value)
    }
  }
})

test('a body is said to be required where it has a field that is', () => {
  const expected: Record<string, boolean> = {
    createPixCharge: true,
    createChargeBatch: true,
    createPlan: true,
    createReusableLink: true,
    changeReusableLink: false,
    createStaticCode: true,
    createPaymentLink: false,
    duplicateCharge: false,
    createCustomer: true,
    changeCustomer: true,
    createProduct: true,
    changeProduct: false,
    createWebhook: true,
    changeWebhook: false,
    replayDeliveries: false,
    refundCharge: false,
    refundPayment: false,
    acceptPayment: false,
    startWithdrawal: true,
    confirmWithdrawal: true,
    createSandbox: false,
    moveClock: false,
    receivePayment: true,
    returnPayment: false,
    openDispute: false,
    decideDispute: true,
    defendDispute: true,
    createRecurrence: true,
    createRecurrenceTemplate: true,
    changeCompany: false,
    changeReminders: false,
    createRecipient: true,
    changeRecipient: false,
    startPayout: false,
  }
  const documented = BODIES.map(({ operationId }) => [
    operationId,
    operationOf(operationId).requestBody.required ?? false,
  ])
  assert.deepEqual(Object.fromEntries(documented), expected)
})

test('defaults are told in words, each that the server applies', () => {
  const bodyOf = (id: string) =>
    resolve(operationOf(id).requestBody.content['application/json'].schema)
  const schema = bodyOf('duplicateCharge')
  const said = 'a duplicate lives as long as its original'
  assert.doesNotMatch(schema.properties.expiresIn.description, /\d/, said)
  const pix = bodyOf('createPixCharge')
  assert.match(pix.properties.expiresIn.description, /\b1800\b/)
  const link = bodyOf('createPaymentLink')
  assert.match(link.properties.expiresIn.description, /\b604800\b/)
  assert.equal(link.properties.expiresIn.default, undefined)
})
