import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { ROUTES } from '../../src/http/routes/all.ts'
import { startApi } from '../support/api.ts'
import { BODIES } from './bodies.ts'
import { tryAll } from './every-route.ts'
import { put } from './paths.ts'

const api = await startApi()

// biome-ignore lint/suspicious/noExplicitAny: a document of any shape is what is under test
type Any = any

const document: Any = (await api.call('GET', '/openapi.json')).body
const operations: [string, string, Any][] = Object.entries<Any>(document.paths).flatMap(
  ([path, item]) =>
    Object.entries<Any>(item).map(([method, operation]): [string, string, Any] => [
      method,
      path,
      operation,
    ]),
)
const operationOf = (id: string): Any => operations.find(([, , o]) => o.operationId === id)![2]

const ajv = new Ajv2020({ allErrors: true, strict: false })
;(addFormats as unknown as (ajv: Ajv2020) => void)(ajv)

/** What a $ref points to. */
const resolve = (ref: string): Any =>
  ref
    .replace(/^#\//, '')
    .split('/')
    .reduce((at, part) => at?.[part], document)

/** The same schema without references, where no object may have a field that it does not name. */
function closed(schema: Any): Any {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  if (schema.$ref) return closed(resolve(schema.$ref))
  const copy: Any = {}
  for (const [name, value] of Object.entries(schema)) {
    copy[name] = name === 'properties' ? mapValues(value as Any, closed) : closed(value)
  }
  return copy.properties ? { ...copy, additionalProperties: false } : copy
}

const mapValues = (fields: Record<string, Any>, change: (value: Any) => Any) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, change(value)]))

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
      assert.deepEqual(scheme, { type: 'apiKey', in: 'header', name: 'X-API-KEY' })
    }
  }
  const page = await api.call('GET', '/docs')
  assert.equal(page.status, 200)
  assert.match(page.headers.get('content-type')!, /^text\/html/)
})

test('the document lists every operation of the route table and no other', () => {
  const listed = operations.map(([method, path, { operationId }]) => [
    `${method.toUpperCase()} ${path}`,
    operationId,
  ])
  const routed = ROUTES.map(({ method, path, operationId }) => [`${method} ${path}`, operationId])
  assert.deepEqual(listed.sort(), routed.sort())
  assert.equal(new Set(operations.map(([, , o]) => o.operationId)).size, operations.length)
})

test('every operation is whole: parameters, bodies and answers are described', () => {
  for (const [method, path, operation] of operations) {
    const what = `${method} ${path}`
    assert.match(path, /^\/[\w\-/{}]*$/, what)
    assert.ok(operation.summary && operation.tags.length > 0, what)
    const parameters = operation.parameters.map((one: Any) => (one.$ref ? resolve(one.$ref) : one))
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
    for (const [status, answer] of Object.entries<Any>(operation.responses)) {
      assert.match(status, /^[2-5]\d\d$/, what)
      assert.ok(answer.description, `${what} ${status}`)
      assert.ok(answer.content['application/json'].schema, `${what} ${status}`)
    }
    const file = ROUTES.find(({ operationId }) => operationId === operation.operationId)!.csv
    const content = Object.keys(operation.responses['200']?.content ?? {})
    assert.equal(content.includes('text/csv'), file !== undefined, `${what} as a file`)
    for (const status of ['400', '401', '403', '429', '500']) {
      assert.ok(operation.responses[status], `${what} tells of ${status}`)
    }
  }
})

test('every reference leads somewhere and every schema is JSON Schema', () => {
  const refs = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref!)
  assert.ok(refs.length > 0)
  for (const ref of refs) assert.ok(resolve(ref), ref)
  for (const [method, path, operation] of operations) {
    const schemas = [
      operation.requestBody?.content['application/json'].schema,
      ...operation.parameters.map((one: Any) => one.schema),
      ...Object.values<Any>(operation.responses).map(
        (one) => one.content['application/json'].schema,
      ),
    ]
    for (const schema of schemas.filter(Boolean)) {
      assert.ok(ajv.validateSchema(closed(schema)), `${method} ${path}: ${ajv.errorsText()}`)
    }
  }
})

test('every answer of the newest version is what the document says, field by field', async () => {
  const seen = new Set<string>()
  for (const { operationId, name, reply } of await tryAll(api, '2026-08-16')) {
    const what = `${operationId} ${name}`
    const answer = operationOf(operationId).responses[reply.status]
    assert.ok(answer, `${what}: ${reply.status} is documented`)
    const [type] = reply.headers.get('content-type')!.split(';')
    const validate = ajv.compile(closed(answer.content[type!].schema))
    const isAsSaid: boolean = validate(reply.body ?? reply.text)
    assert.ok(isAsSaid, `${what}: ${ajv.errorsText(validate.errors)}`)
    if (reply.status < 300) seen.add(operationId)
    for (const { code } of reply.body?.errors ?? []) {
      assert.ok(answer.description.includes(`\`${code}\``), `${what}: ${code} is documented`)
    }
  }
  assert.equal(seen.size, ROUTES.length, 'each operation was seen to succeed')
})

test('refusals that every operation knows are what the document says', async () => {
  const validate = ajv.compile(closed(document.components.schemas.Error))
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
  for (const { body } of replies) assert.ok(validate(body), ajv.errorsText(validate.errors))
})

test('the document takes the bodies that the server takes, and refuses those that it refuses', async () => {
  const loose: string[] = []
  for (const body of BODIES) {
    const { schema } = operationOf(body.operationId).requestBody.content['application/json']
    const validate = ajv.compile(schema)
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

test('a body is said to be required where it has a field that is', () => {
  const expected: Record<string, boolean> = {
    ...{ createPixCharge: true, createStaticCode: true, createPaymentLink: false },
    ...{ duplicateCharge: false, createCustomer: true, changeCustomer: true },
    ...{ createProduct: true, changeProduct: false, createWebhook: true, changeWebhook: false },
    ...{ replayDeliveries: false, refundCharge: false, refundPayment: false },
    ...{ startWithdrawal: true, confirmWithdrawal: true, moveClock: false },
    ...{ createRecurrence: true, createRecurrenceTemplate: true, changeCompany: false },
  }
  const told = BODIES.map(({ operationId }) => [
    operationId,
    operationOf(operationId).requestBody.required ?? false,
  ])
  assert.deepEqual(Object.fromEntries(told), expected)
})

test('no default is told that the server does not apply', () => {
  const { schema } = operationOf('duplicateCharge').requestBody.content['application/json']
  assert.equal(
    schema.properties.expiresIn.default,
    undefined,
    'a duplicate lives as long as its original',
  )
  const pix = operationOf('createPixCharge').requestBody.content['application/json'].schema
  assert.equal(pix.properties.expiresIn.default, 1800)
  const link = operationOf('createPaymentLink').requestBody.content['application/json'].schema
  assert.equal(link.properties.expiresIn.default, 604_800)
})
