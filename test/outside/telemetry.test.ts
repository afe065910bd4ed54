import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { Counter, Gauge, Histogram, type MetricObject, Registry } from 'prom-client'
import { toMetricData } from '../../src/telemetry/metrics.ts'
import { startCollector } from '../support/collector.ts'
import { cloneDatabase } from '../support/database.ts'
import { longTest } from '../support/long.ts'
import { freePort, secretOf, startServer, temporaryFolder } from '../support/process.ts'
import { until } from '../support/until.ts'

const MAIN = join(import.meta.dirname, '../../src/main.ts')
/** Prints what a process loads of OpenTelemetry. Its API comes with `prom-client` in any case. */
const TELLS = `import { registerHooks } from 'node:module'
registerHooks({ load(url, context, next) {
  if (/@opentelemetry\\/(?!api\\/)|\\/telemetry\\//.test(url)) process.stderr.write('LOADED ' + url + '\\n')
  return next(url, context)
} })`
const command = [
  process.execPath,
  '--import',
  `data:text/javascript,${encodeURIComponent(TELLS)}`,
  MAIN,
]

const environment = async () => ({
  DATABASE_URL: await cloneDatabase(),
  SECRET_KEY: secretOf('telemetry'),
  DATA_DIR: temporaryFolder(),
})

test('a server loads nothing of OpenTelemetry unless a variable names a collector', async () => {
  const collector = await startCollector()
  const off = { ...(await environment()), OTEL_SERVICE_NAME: 'x' }
  const on = {
    ...(await environment()),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_SERVICE_NAME: 'loja',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=trial',
    OTEL_METRIC_EXPORT_INTERVAL: '200',
  }
  const [silent, sending] = await Promise.all(
    [off, on].map((env) => startServer(env, [], () => {}, { command })),
  )
  for (const { url } of [silent!, sending!])
    assert.equal((await fetch(`${url}/health`)).status, 200)
  await until('metrics are sent', () => collector.bodies.some(({ path }) => path === '/v1/metrics'))
  for (const { child, ended } of [silent!, sending!]) {
    child.kill('SIGTERM')
    assert.equal(await ended, 0)
  }
  assert.doesNotMatch(silent!.output(), /LOADED/)
  assert.match(sending!.output(), /LOADED .*@opentelemetry\/sdk-trace/)
  const textOf = (path: string) => {
    const sent = collector.bodies.filter((one) => one.path === path)
    assert.ok(sent.length > 0, path)
    for (const { type } of sent) assert.equal(type, 'application/x-protobuf')
    return sent.map(({ body }) => body.toString('latin1')).join('')
  }
  const traces = textOf('/v1/traces')
  for (const part of ['GET /health', 'loja', 'trial']) assert.ok(traces.includes(part), part)
  const metrics = textOf('/v1/metrics')
  for (const name of ['vintem_build_info', 'vintem_due_waiting', 'vintem_http_request_seconds']) {
    assert.ok(metrics.includes(name), name)
  }
  // Neither its command line nor its user.
  for (const text of [traces, metrics]) assert.doesNotMatch(text, /src\/main\.ts|process\.owner/)
})

longTest('a collector that is away delays nothing, and is reported once a minute', async () => {
  const OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${await freePort()}`
  const OTEL_METRIC_EXPORT_INTERVAL = '100'
  const given = { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_METRIC_EXPORT_INTERVAL }
  const server = await startServer({ ...(await environment()), ...given })
  for (let n = 0; n < 50; n++) assert.equal((await fetch(`${server.url}/health`)).status, 200)
  await until('it is reported', () => server.output().includes('does the collector answer?'))
  const began_ms = performance.now()
  server.child.kill('SIGTERM')
  assert.equal(await server.ended, 0)
  assert.ok(performance.now() - began_ms < 15_000)
  assert.equal(server.output().match(/does the collector answer\?/g)?.length, 1)
})

const TIMES = { startTime: [1, 0] as [number, number], endTime: [2, 0] as [number, number] }

test('what Prometheus counts up to each boundary is sent as counts between them', async () => {
  const registry = new Registry()
  const registers = [registry]
  new Counter({ name: 'a_total', help: 'a', registers }).inc(3)
  new Gauge({ name: 'b_seconds', help: 'b', labelNames: ['x'], registers }).set({ x: 'y' }, -2)
  const histogram = new Histogram({ name: 'c', help: 'c', buckets: [1, 2], registers })
  for (const value of [0.5, 1, 1.5, 7]) histogram.observe(value)
  const json = (await registry.getMetricsAsJSON()) as MetricObject[]
  const [a, b, c] = json.map((metric) => toMetricData(metric, TIMES)!)
  assert.deepEqual([a!.dataPoints[0]!.value, 'isMonotonic' in a!], [3, true])
  assert.deepEqual([b!.descriptor.unit, b!.dataPoints[0]!.attributes], ['s', { x: 'y' }])
  assert.deepEqual(c!.dataPoints[0]!.value, {
    buckets: { boundaries: [1, 2], counts: [2, 1, 1] },
    sum: 10,
    count: 4,
  })
})
