import assert from 'node:assert/strict'
import { test } from 'node:test'
import { summaryOf } from '../../src/db/statement-spans.ts'
import { createBatcher } from '../../src/lib/batch.ts'
import { readTelemetry } from '../../src/lib/telemetry-options.ts'
import { asSpan, causesNow } from '../../src/lib/tracing.ts'
import { startTraces } from '../../src/telemetry/traces.ts'
import { type Client, payer, startApi } from '../support/api.ts'
import { factOf, type SentSpan, startCollector } from '../support/collector.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { openDeliveryWorker, register } from '../support/webhooks.ts'

const collector = await startCollector()
process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url

const TELEMETRY = {
  traces: 'otlp',
  metrics: null,
  protocol: 'http/json',
  sampler: { name: 'parentbased_always_on', ratio: 1 },
  maxQueuedSpans: 100_000,
  metricInterval_ms: 60_000,
  variables: [],
} as const

const stop = startTraces(TELEMETRY, 'test')
const api = await startApi()
const worker = openDeliveryWorker(api)

type Sent = { client: Client; id: string; request: string }

/** Sends a request and gives its id, by which its span is found. */
async function post(client: Client, path: string, json?: unknown, headers = {}) {
  const reply = await client.post(path, json, { headers })
  assert.ok(reply.status < 300, reply.text)
  return { data: reply.body.data, request: reply.headers.get('x-request-id')! }
}

async function createCharge(client: Client, headers = {}): Promise<Sent> {
  const json = { amount: 1000, customer: payer(), devMode: true }
  const { data, request } = await post(client, '/charge/pix', json, headers)
  return { client, id: data.id, request }
}

const receiver = await startReceiver()
const clients = [await api.client(), await api.client()] as const
for (const client of clients)
  await register(client, receiver.url, ['charge.pending', 'charge.paid'])

const made = [await createCharge(clients[0])]
const CALLER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const called = await createCharge(clients[0], { traceparent: CALLER })
// Answered together: in groups of both companies.
const many = await Promise.all(
  Array.from({ length: 40 }, (_, n) => createCharge(clients[n % 2 === 0 ? 0 : 1])),
)
const paid = await Promise.all(
  many.slice(0, 20).map(async (one) => ({
    ...one,
    request: (await post(one.client, `/charge/${one.id}/simulate-payment`)).request,
  })),
)
const EVENTS = 2 + many.length + paid.length
await worker.run()
await until('all are delivered', () => receiver.received.length >= EVENTS)

/** For how many each group was carried out. */
const causes: number[] = []
const oneByOne = createBatcher(
  async (items: number[]) => {
    causes.push(causesNow().length)
    return items
  },
  { max: 1 },
)
await Promise.all([
  asSpan({ name: 'first', kind: 'internal' }, () => oneByOne(1)),
  oneByOne(2),
  asSpan({ name: 'third', kind: 'internal' }, () => oneByOne(3)),
])
await stop()
const spans = collector.spans()

const spanOf = (request: string): SentSpan => {
  const found = spans.filter((span) => factOf(span, 'vintem.request') === request)
  assert.equal(found.length, 1, `one span of the request ${request}`)
  return found[0]!
}
const inTrace = (traceId: string) => spans.filter((span) => span.traceId === traceId)
const isPart = (span: SentSpan, of: SentSpan) => span.parentSpanId === of.spanId

test('a request, its statement and the delivery of its event are one trace', () => {
  const request = spanOf(made[0]!.request)
  assert.equal(request.name, 'POST /charge/pix')
  assert.equal(request.parentSpanId, undefined)
  assert.equal(factOf(request, 'http.response.status_code'), '201')
  assert.equal(factOf(request, 'vintem.operation'), 'createPixCharge')
  assert.equal(factOf(request, 'vintem.company'), clients[0].company.id)
  const parts = inTrace(request.traceId)
  const statement = parts.find(({ name }) => name === 'create_charges')
  assert.ok(statement && isPart(statement, request), 'the statement is a part of the request')
  const delivery = parts.find(({ name }) => name === 'deliver webhook')
  assert.ok(delivery && isPart(delivery, request), 'the delivery is a part of the request')
  assert.equal(factOf(delivery, 'vintem.outcome'), 'DELIVERED')
  assert.equal(factOf(delivery, 'vintem.event'), 'charge.pending')
  const recorded = parts.find(({ name }) => name === 'record_deliveries')
  assert.ok(recorded && isPart(recorded, delivery), 'its result is a part of the delivery')
})

test('of requests that are answered together each has its statement and its own delivery', async () => {
  for (const { client, id, request: requestId } of many) {
    const request = spanOf(requestId)
    const parts = inTrace(request.traceId)
    assert.ok(parts.some((span) => span.name === 'create_charges' && isPart(span, request)))
    const [event] = await api.rows<{ trace: Buffer | null }>(
      `select trace from events
       where company_id = $1 and type = 'charge.pending' and strpos(payload, $2) > 0`,
      [client.company.id, id],
    )
    assert.equal(event!.trace?.toString('hex'), request.traceId + request.spanId)
    assert.equal(parts.filter(({ name }) => name === 'deliver webhook').length, 1)
  }
})

test('each delivery is of the request that has paid, however many are paid at once', async () => {
  for (const { client, id, request: requestId } of paid) {
    const request = spanOf(requestId)
    const [event] = await api.rows<{ trace: Buffer | null }>(
      `select trace from events
       where company_id = $1 and type = 'charge.paid' and strpos(payload, $2) > 0`,
      [client.company.id, id],
    )
    assert.equal(event!.trace?.toString('hex'), request.traceId + request.spanId)
  }
  const deliveries = spans.filter(({ name }) => name === 'deliver webhook')
  assert.equal(deliveries.length, EVENTS)
  for (const delivery of deliveries) {
    for (const other of inTrace(delivery.traceId)) {
      const companies = [delivery, other].map((span) => factOf(span, 'vintem.company'))
      assert.ok(companies[1] === undefined || companies[0] === companies[1], other.name)
    }
  }
})

test('a group of nobody is not done for those before it', () => {
  assert.deepEqual(causes, [1, 0, 1])
})

test('the trace of a caller is linked and not continued', () => {
  const request = spanOf(called.request)
  const [, traceId, spanId] = CALLER.split('-')
  assert.notEqual(request.traceId, traceId)
  assert.equal(request.parentSpanId, undefined)
  assert.deepEqual(
    request.links?.map((link) => [link.traceId, link.spanId]),
    [[traceId, spanId]],
  )
  assert.deepEqual(inTrace(traceId!), [])
})

test('spans say only what is on a list, and nothing that a caller has written', () => {
  const names = new Set(spans.flatMap(({ attributes }) => attributes.map(({ key }) => key)))
  const known = [
    'db.query.summary',
    'db.system.name',
    'error.type',
    'http.request.method',
    'http.request.resend_count',
    'http.response.status_code',
    'http.route',
    'vintem.company',
    'vintem.event',
    'vintem.operation',
    'vintem.outcome',
    'vintem.request',
    'vintem.webhook',
  ]
  assert.deepEqual(
    [...names].filter((name) => !known.includes(name)),
    [],
  )
  const { name, taxId, email, phone } = payer() as Record<string, string>
  for (const text of [name, taxId, email, phone, clients[0].key, receiver.url, made[0]!.id]) {
    assert.ok(!collector.text().includes(text!), text)
  }
})

test('a statement without a name is called by its verb and its table', () => {
  assert.equal(summaryOf("select 'a' from customers where id = $1"), 'select customers')
  assert.equal(summaryOf('insert into charges (id) values ($1)'), 'insert charges')
  assert.equal(summaryOf('with x as (select 1) update webhooks set id = 1'), 'with webhooks')
  assert.equal(summaryOf("set local lock_timeout = '1s'"), 'set')
})

const read = (env: Record<string, string>) => {
  const faults: string[] = []
  const text = (name: string) => env[name] || null
  const integer = (name: string, fallback: number) => Number(env[name] ?? fallback)
  const fault = (name: string, rule: string) => faults.push(`${name} ${rule}`)
  const found = readTelemetry({ text, integer, fault }, text, env)
  return { found, faults }
}

test('nothing is sent unless a variable asks for it, and what is not known is a fault', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }
  assert.equal(read({}).found, null)
  assert.equal(read({ OTEL_SERVICE_NAME: 'x' }).found, null)
  assert.equal(read({ ...endpoint, OTEL_SDK_DISABLED: 'TRUE' }).found, null)
  const none = { OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }
  assert.equal(read({ ...endpoint, ...none }).found, null)
  const both = read(endpoint).found!
  assert.deepEqual([both.traces, both.metrics, both.protocol], ['otlp', 'otlp', 'http/protobuf'])
  const one = read({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318' }).found!
  assert.deepEqual([one.traces, one.metrics], ['otlp', null])
  const faulty = {
    OTEL_TRACES_EXPORTER: 'zipkin',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_TRACES_SAMPLER: 'sometimes',
    OTEL_TRACES_SAMPLER_ARG: '2',
  }
  assert.deepEqual(
    read(faulty).faults.map((text) => text.split(' ')[0]),
    Object.keys(faulty),
  )
})
