import { type HrTime, ValueType } from '@opentelemetry/api'
import { OTLPMetricExporter as JsonExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPMetricExporter as ProtobufExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import {
  AggregationTemporality,
  ConsoleMetricExporter,
  DataPointType,
  type Histogram,
  MeterProvider,
  type MetricData,
  type MetricProducer,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import type { MetricObject } from 'prom-client'
import type { Telemetry } from '../lib/telemetry-options.ts'
import { VERSION } from '../lib/version.ts'
import { resourceOf } from './resource.ts'

/** All that /metrics shows, at one moment. */
type Read = () => Promise<MetricObject[]>

type Value = { labels: Record<string, string | number>; value: number; metricName?: string }

/**
 * Sends what /metrics shows, from time to time, until the function that it gives is called. It is
 * counted once, for both.
 */
export function startMetrics(telemetry: Telemetry, read: Read): () => Promise<void> {
  const resource = resourceOf('metrics')
  const reader = new PeriodicExportingMetricReader({
    exporter: exporterOf(telemetry),
    exportIntervalMillis: telemetry.metricInterval_ms,
    exportTimeoutMillis: Math.min(telemetry.metricInterval_ms, 30_000),
    metricProducers: [createProducer(read, resource)],
  })
  const provider = new MeterProvider({ resource, readers: [reader] })
  return () => provider.shutdown()
}

function exporterOf({ metrics, protocol }: Telemetry) {
  if (metrics === 'console') return new ConsoleMetricExporter()
  return protocol === 'http/json' ? new JsonExporter() : new ProtobufExporter()
}

const timeOf = (ms: number): HrTime => [Math.floor(ms / 1000), (ms % 1000) * 1e6]

/** Sums begin with this process: what others have counted before is part of the first value. */
function createProducer(read: Read, resource: ReturnType<typeof resourceOf>): MetricProducer {
  const startTime = timeOf(Date.now())
  return {
    async collect() {
      const times = { startTime, endTime: timeOf(Date.now()) }
      const metrics = (await read()).flatMap((metric) => toMetricData(metric, times) ?? [])
      const scope = { name: 'vintem', version: VERSION }
      return { resourceMetrics: { resource, scopeMetrics: [{ scope, metrics }] }, errors: [] }
    },
  }
}

type Times = { startTime: HrTime; endTime: HrTime }

/** Null: a metric of a form that we have not got. */
export function toMetricData(metric: MetricObject, times: Times): MetricData | null {
  const { name, help: description } = metric
  const type = String(metric.type)
  const values = (metric as unknown as { values: Value[] }).values
  const unit = name.endsWith('_seconds') ? 's' : name.endsWith('_bytes') ? 'By' : ''
  const descriptor = { name, description, unit, valueType: ValueType.DOUBLE }
  const aggregationTemporality = AggregationTemporality.CUMULATIVE
  const base = { descriptor, aggregationTemporality }
  const points = () =>
    values.map(({ labels, value }) => ({ ...times, attributes: { ...labels }, value }))
  if (type === 'gauge') return { ...base, dataPointType: DataPointType.GAUGE, dataPoints: points() }
  if (type === 'counter') {
    const dataPoints = points()
    return { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
  }
  if (type !== 'histogram') return null
  const dataPoints = histogramsOf(values).map(({ attributes, value }) => ({
    ...times,
    attributes,
    value,
  }))
  return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints }
}

/** Prometheus counts up to each boundary, and OpenTelemetry between two of them. */
function histogramsOf(values: Value[]): { attributes: Value['labels']; value: Histogram }[] {
  const seriesOf = ({ labels: { le, ...labels } }: Value) => JSON.stringify(labels)
  return [...Map.groupBy(values, seriesOf).values()].map((own) => {
    const of = (ending: string) => own.find(({ metricName }) => metricName?.endsWith(ending))
    const buckets = own.filter(({ metricName }) => metricName?.endsWith('_bucket'))
    const upTo = buckets.map(({ value }) => value)
    const { le, ...attributes } = own[0]!.labels
    const boundaries = buckets.map(({ labels }) => Number(labels.le)).filter(Number.isFinite)
    const counts = upTo.map((count, i) => count - (upTo[i - 1] ?? 0))
    const [sum, count] = [of('_sum')?.value ?? 0, of('_count')?.value ?? 0]
    return { attributes, value: { buckets: { boundaries, counts }, sum, count } }
  })
}
