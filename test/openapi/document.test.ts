import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CATALOGUE } from '../../src/lib/problems.ts'
import { LATEST, VERSION_NAMES } from '../../src/versions/history.ts'
import { type Any, documentOf, faultOf } from './document.ts'

const documents = VERSION_NAMES.map(documentOf)
const [old, head] = [documentOf('2025-01-01'), documentOf('2026-08-16')]

const refsIn = (value: unknown): string[] =>
  [...JSON.stringify(value).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref!)

for (const { name, json, operations, resolve, closed } of documents) {
  test(`${name}: every reference leads somewhere, and nothing is named that nobody refers to`, () => {
    const refs = new Set(refsIn(json))
    for (const ref of refs) assert.ok(resolve({ $ref: ref }), ref)
    for (const kind of ['schemas', 'parameters', 'headers', 'responses', 'examples']) {
      for (const one of Object.keys(json.components[kind])) {
        assert.ok(refs.has(`#/components/${kind}/${one}`), `${kind} ${one} is used`)
      }
    }
  })

  test(`${name}: every body and every resource has a name`, () => {
    const nameOf = (schema: Any): string | undefined => (schema.items ?? schema).$ref
    for (const { operation } of operations) {
      const { operationId, requestBody, responses } = operation
      const body = requestBody?.content['application/json'].schema
      if (body) assert.match(nameOf(body) ?? '', /schemas/, `body of ${operationId}`)
      const [success] = Object.values<Any>(responses)
      const { schema } = success.content['application/json']
      const data = name === LATEST.name ? schema.properties.data : schema
      assert.match(nameOf(data) ?? '', /schemas/, `answer of ${operationId}`)
    }
    for (const known of [
      'Charge',
      'Customer',
      'Product',
      'Webhook',
      'Recurrence',
      'Withdrawal',
      'Refund',
      'Delivery',
      'Event',
      'UnmatchedPayment',
      'Company',
      'Balance',
      'ApiError',
      'ErrorCode',
    ]) {
      assert.ok(json.components.schemas[known], known)
    }
  })

  test(`${name}: every answer of every operation has examples that keep to its schema`, () => {
    for (const { operation } of operations) {
      for (const [status, given] of Object.entries<Any>(operation.responses)) {
        for (const [type, media] of Object.entries<Any>(resolve(given).content)) {
          const what = `${operation.operationId} ${status} ${type}`
          const examples = Object.values<Any>(media.examples ?? { one: { value: media.example } })
          assert.ok(examples.length > 0, what)
          for (const example of examples.map(resolve)) {
            assert.ok(example.value !== undefined, what)
            assert.equal(faultOf(closed(media.schema), example.value), null, what)
          }
        }
      }
      const body = operation.requestBody?.content['application/json']
      if (body) {
        assert.equal(faultOf(closed(body.schema), body.example), null, operation.operationId)
      }
    }
  })

  test(`${name}: every refusal has an example for each of its codes`, () => {
    for (const { operation } of operations) {
      for (const [status, given] of Object.entries<Any>(operation.responses)) {
        if (Number(status) < 400) continue
        const { description, content } = resolve(given)
        const listed = [...description.matchAll(/^`(\w+)`:/gm)].map(([, code]) => code)
        const { examples } = content['application/json']
        assert.deepEqual(Object.keys(examples), listed, `${operation.operationId} ${status}`)
        for (const [code, example] of Object.entries(examples)) {
          const { value } = resolve(example)
          const shown = value.errors?.[0].code ?? value.error ?? 'withdrawal_pending'
          assert.equal(shown, code)
          assert.equal(String(CATALOGUE[code as keyof typeof CATALOGUE][0]), status)
        }
      }
    }
  })

  test(`${name}: every answer lists its headers, each write of its Idempotency-Key`, () => {
    for (const { method, operation } of operations) {
      const what = operation.operationId
      const parameters = operation.parameters.map(resolve).map((one: Any) => one.name)
      assert.equal(parameters.includes('Idempotency-Key'), method !== 'get', what)
      for (const [status, given] of Object.entries<Any>(operation.responses)) {
        const headers = Object.keys(resolve(given).headers)
        assert.ok(headers.includes('X-Request-Id') && headers.includes('X-Api-Version'), what)
        const success = Number(status) < 300
        assert.equal(headers.includes('Idempotent-Replayed'), success && method !== 'get', what)
        assert.equal(headers.includes('Link'), success && parameters.includes('after'), what)
        const waits = ['429', '503'].includes(status) || (status === '409' && method !== 'get')
        assert.equal(headers.includes('Retry-After'), waits, `${what} ${status}`)
      }
      if (method !== 'get') {
        assert.match(JSON.stringify(operation.responses['409']), /idempotency_in_progress/, what)
        assert.match(JSON.stringify(operation.responses['422']), /idempotency_key_reused/, what)
      }
      assert.deepEqual(operation.security, [{ ApiKey: [operation['x-scope']] }], what)
    }
  })

  test(`${name}: the introduction explains keys, errors, lists, retries, versions and events`, () => {
    const headings = [...json.info.description.matchAll(/^## (.*)$/gm)].map(([, text]) => text)
    const expected = ['Keys', 'Errors', 'Lists', 'Retries', 'Versions', 'Events', 'Trying out']
    assert.deepEqual(headings, expected)
    const tags = new Set(operations.flatMap(({ operation }) => operation.tags))
    assert.deepEqual(new Set(json.tags.map((tag: Any) => tag.name)), tags)
  })
}

test('a value that is one of a few is an enum with a type', () => {
  const { schemas } = head.json.components
  const enums = Object.entries<Any>(schemas).filter(([, schema]) => schema.enum)
  assert.ok(enums.length >= 20)
  for (const [name, schema] of enums) assert.equal(schema.type, 'string', name)
  const untyped = [...JSON.stringify(head.json).matchAll(/\{"enum":/g)]
  assert.equal(untyped.length, 0)
  const { Charge, CreatedPixCharge, Product, Company, ShippingAddress } = schemas
  const status = { $ref: '#/components/schemas/PaymentStatus' }
  assert.deepEqual(Charge.properties.paymentStatus, status)
  assert.equal(CreatedPixCharge.properties.status.$ref, status.$ref)
  assert.equal(Product.properties.categories.items.$ref, '#/components/schemas/ProductCategory')
  assert.equal(Company.properties.apiVersion.$ref, '#/components/schemas/ApiVersionName')
  assert.equal(ShippingAddress.properties.state.enum.length, 27)
})

test('the older document has bare answers, legacy errors and RECIEVED; the newest has neither', () => {
  const { schemas } = old.json.components
  assert.ok(schemas.PaymentStatus.enum.includes('RECIEVED'))
  assert.ok(!schemas.PaymentStatus.enum.includes('RECEIVED'))
  assert.deepEqual(schemas.ApiError.required, ['statusCode', 'message', 'error'])
  const success = (id: string) => old.operationOf(id).responses['200'].content['application/json']
  assert.deepEqual(success('getCharge').schema, { $ref: '#/components/schemas/Charge' })
  assert.equal(success('listCharges').schema.type, 'array')
  const shown = JSON.stringify(success('getCharge').examples)
  assert.match(shown, /"paymentStatus":"RECIEVED"/)
  assert.doesNotMatch(shown, /"paymentStatus":"RECEIVED"/)
  const conflict = old.operationOf('startWithdrawal').responses['409'].content['application/json']
  const { value } = conflict.examples.withdrawal_pending
  assert.deepEqual(Object.keys(value), ['statusCode', 'message', 'withdrawId'])
  assert.doesNotMatch(JSON.stringify(head.json), /RECIEVED/)
})
