import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { ROUTES } from '../../src/http/routes/all.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { startApi } from '../support/api.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document of any shape is what is under test
type Any = any

const api = await startApi({ CLOCK_WAIT_SECONDS: '120' })
const worker = startWorker(api.app)
api.atEnd(() => worker.stop())
const { body: json, headers } = await api.call('GET', '/collection.json')
const requests: Any[] = json.item.flatMap(({ item }: Any) => item)

const text = { type: 'string' }
const some = (properties: Record<string, object>, ...required: string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const many = (items: object) => ({ type: 'array', items })
const pair = some({ key: text, value: text, type: { const: 'string' }, description: text }, 'key')
const script = some({ type: { const: 'text/javascript' }, exec: many(text) }, 'exec')
const query = some({ key: text, value: text, description: text, disabled: { type: 'boolean' } })
const url = some({ raw: text, host: many(text), path: many(text), query: many(query) }, 'raw')
const raw = some({ raw: some({ language: { const: 'json' } }) }, 'raw')
const auth = some({ type: { const: 'apikey' }, apikey: many(pair) }, 'type')
const request = some(
  {
    auth,
    method: { enum: ['GET', 'POST', 'PUT', 'DELETE'] },
    header: many(some({ key: text, value: text }, 'key', 'value')),
    url,
    description: text,
    body: some({ mode: { const: 'raw' }, raw: text, options: raw }, 'mode', 'raw'),
  },
  'method',
  'url',
)
const item = some(
  {
    name: text,
    event: many(some({ listen: { enum: ['test', 'prerequest'] }, script }, 'listen')),
    request,
    response: many({}),
  },
  'name',
  'request',
)
/** What version 2.1.0 of the format says of the parts that are used here, and no other parts. */
const FORMAT = some(
  {
    info: some({ name: text, description: text, schema: text }, 'name', 'schema'),
    auth,
    variable: many(pair),
    item: many(some({ name: text, item: many(item) }, 'item')),
  },
  'info',
  'item',
)

test('it has the form of the format, and nothing else', () => {
  const check = new Ajv({ allErrors: true }).compile(FORMAT)
  assert.ok(check(json), JSON.stringify(check.errors?.slice(0, 5)))
})

test('it has the form that clients import: folders of requests, a key and variables', () => {
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
  assert.match(json.info.schema, /collection\/v2\.1\.0\/collection\.json$/)
  assert.deepEqual(json.auth.apikey, [
    { key: 'key', value: 'X-API-KEY', type: 'string' },
    { key: 'value', value: '{{key}}', type: 'string' },
    { key: 'in', value: 'header', type: 'string' },
  ])
  const known = new Set(json.variable.map(({ key }: Any) => key))
  assert.ok(known.has('baseUrl') && known.has('key'))
  const names = new Set<string>()
  for (const { name, request, event } of requests) {
    assert.ok(!names.has(name), `${name} is there once`)
    names.add(name)
    assert.equal(request.url.raw, `{{baseUrl}}/${request.url.path.join('/')}`)
    const isChange = request.method !== 'GET'
    const key = request.header.find((one: Any) => one.key === 'Idempotency-Key')
    assert.equal(key?.value, isChange ? '{{$guid}}' : undefined, name)
    for (const [, variable] of JSON.stringify({ request, event }).matchAll(/\{\{(\w+)\}\}/g)) {
      assert.ok(known.has(variable), `${name}: ${variable}`)
    }
    if (request.body) assert.equal(typeof JSON.parse(request.body.raw), 'object', name)
    for (const one of request.url.query ?? []) assert.equal(one.disabled, true)
  }
})

const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '{{\\w+}}')}$`)

test('every operation is in it, and every request is an operation', () => {
  const asked = requests.map(({ request }) => `${request.method} /${request.url.path.join('/')}`)
  const unasked = ROUTES.filter(({ method, path }) => {
    const pattern = patternOf(`${method} ${path}`)
    return !asked.some((one) => pattern.test(one))
  })
  assert.deepEqual(
    unasked.map(({ operationId }) => operationId),
    [],
  )
  const known = ROUTES.map(({ method, path }) => patternOf(`${method} ${path}`))
  for (const one of asked)
    assert.ok(
      known.some((pattern) => pattern.test(one)),
      one,
    )
})

/** Sends a request as Postman does, runs its script, and gives the status and the answer. */
async function send({ request, event = [] }: Any, variables: Map<string, string>) {
  const fill = (text: string) =>
    text.replace(/\{\{(\$?\w+)\}\}/g, (_, name) =>
      name === '$guid' ? crypto.randomUUID() : variables.get(name)!,
    )
  const pairs = (request.auth ?? json.auth).apikey.map(({ key, value }: Any) => [key, value])
  const { key, value } = Object.fromEntries(pairs)
  const headers = [{ key, value }, ...request.header].map((one) => [one.key, fill(one.value)])
  const reply = await fetch(fill(request.url.raw), {
    method: request.method,
    headers: Object.fromEntries(headers),
    ...(request.body && { body: fill(request.body.raw) }),
  })
  const answer = await reply.json()
  const set = (name: string, value: string) => variables.set(name, value)
  const pm = { response: { json: () => answer }, variables: { set }, collectionVariables: { set } }
  for (const { script } of event) new Function('pm', script.exec.join('\n'))(pm)
  return { status: reply.status, answer }
}

test('sent from the first to the last, every request works', async () => {
  const { key } = await api.client()
  const variables = new Map<string, string>(json.variable.map((one: Any) => [one.key, one.value]))
  variables.set('baseUrl', api.url).set('key', key)
  const refused: string[] = []
  for (const one of requests) {
    const { status, answer } = await send(one, variables)
    if (status >= 300) refused.push(`${one.name}: ${status} ${JSON.stringify(answer)}`)
  }
  assert.deepEqual(refused, [])
})
