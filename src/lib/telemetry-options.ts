/** The standard variables of OpenTelemetry that decide what is loaded and sent. */
export const TELEMETRY_OPTIONS = {
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    default: 'empty: nothing is sent',
    reason:
      'A collector of OpenTelemetry, such as http://127.0.0.1:4318, that gets traces and metrics. Its headers, certificates, timeout, compression and addresses for one of the two are set by the other standard variables that begin with OTEL_EXPORTER_OTLP_, attributes by OTEL_RESOURCE_ATTRIBUTES.',
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: {
    default: 'http/protobuf',
    reason: 'http/protobuf or http/json. There is no gRPC, which collectors take on another port.',
  },
  OTEL_SDK_DISABLED: {
    default: 'false',
    reason: 'true sends nothing, whatever the other variables say.',
  },
  OTEL_SERVICE_NAME: {
    default: 'vintem',
    reason: 'What traces and metrics are sent as.',
  },
  OTEL_TRACES_EXPORTER: {
    default: 'otlp if there is a collector, otherwise none',
    reason: 'otlp, console or none.',
  },
  OTEL_METRICS_EXPORTER: {
    default: 'otlp if there is a collector, otherwise none',
    reason: 'otlp, console or none. What is sent is what /metrics shows.',
  },
  OTEL_METRIC_EXPORT_INTERVAL: {
    default: '60000',
    reason: 'Milliseconds between two exports of metrics.',
  },
  OTEL_TRACES_SAMPLER: {
    default: 'parentbased_always_on',
    reason:
      'Which requests are traced: always_on, always_off or traceidratio, also with parentbased_ before it. A trace that a caller names is linked and decides nothing.',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    default: '1',
    reason: 'The part of requests that traceidratio traces, from 0 to 1.',
  },
  OTEL_BSP_MAX_QUEUE_SIZE: {
    default: '2048',
    reason: 'Spans that wait to be sent. Further ones are lost.',
  },
} as const

type OptionName = keyof typeof TELEMETRY_OPTIONS

/** Reads options, and collects faults. */
type Reader = {
  text(name: OptionName): string | null
  integer(name: OptionName, fallback: number, min: number, max: number): number
  fault(name: OptionName, rule: string): void
}

type Exporter = 'otlp' | 'console'

/** How traces and metrics leave. Null: they do not. */
export type Telemetry = {
  traces: Exporter | null
  metrics: Exporter | null
  protocol: 'http/protobuf' | 'http/json'
  sampler: { name: string; ratio: number }
  maxQueuedSpans: number
  metricInterval_ms: number
  /** All of OpenTelemetry. Its exporters read them from the environment themselves. */
  variables: readonly [name: string, value: string][]
}

const EXPORTERS = ['otlp', 'console', 'none']
const PROTOCOLS = ['http/protobuf', 'http/json']
const SAMPLERS = ['always_on', 'always_off', 'traceidratio'].flatMap((name) => [
  name,
  `parentbased_${name}`,
])
const DAY_MS = 86_400_000

/** The standard variables of OpenTelemetry that decide what is loaded. Its exporters read more. */
export function readTelemetry(
  { text, integer, fault }: Reader,
  urlOf: (name: OptionName) => string | null,
  env: Record<string, string | undefined>,
): Telemetry | null {
  const one = (name: OptionName, known: string[], fallback: string): string => {
    const value = text(name) ?? fallback
    if (!known.includes(value)) fault(name, `must be one of ${known.join(', ')}`)
    return value
  }
  const shared = urlOf('OTEL_EXPORTER_OTLP_ENDPOINT')
  const exporter = (signal: 'TRACES' | 'METRICS'): Exporter | null => {
    const isNamed = shared !== null || Boolean(env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`])
    const value = one(`OTEL_${signal}_EXPORTER`, EXPORTERS, isNamed ? 'otlp' : 'none')
    return value === 'none' ? null : (value as Exporter)
  }
  const telemetry = {
    traces: exporter('TRACES'),
    metrics: exporter('METRICS'),
    protocol: one('OTEL_EXPORTER_OTLP_PROTOCOL', PROTOCOLS, PROTOCOLS[0]!) as Telemetry['protocol'],
    sampler: {
      name: one('OTEL_TRACES_SAMPLER', SAMPLERS, SAMPLERS[1]!),
      ratio: readRatio(text, fault),
    },
    maxQueuedSpans: integer('OTEL_BSP_MAX_QUEUE_SIZE', 2048, 512, 1_000_000),
    metricInterval_ms: integer('OTEL_METRIC_EXPORT_INTERVAL', 60_000, 100, DAY_MS),
    variables: variablesOf(env),
  }
  const isDisabled = text('OTEL_SDK_DISABLED')?.toLowerCase() === 'true'
  return isDisabled || (!telemetry.traces && !telemetry.metrics) ? null : telemetry
}

/** What decides where traces and metrics go, and with which headers. In the order of names. */
const variablesOf = (env: Record<string, string | undefined>): [string, string][] =>
  Object.entries(env)
    .filter((one): one is [string, string] => one[0].startsWith('OTEL_') && Boolean(one[1]))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))

function readRatio(text: Reader['text'], fault: Reader['fault']): number {
  const name = 'OTEL_TRACES_SAMPLER_ARG'
  const ratio = Number(text(name) ?? 1)
  if (ratio >= 0 && ratio <= 1) return ratio
  fault(name, 'must be a number from 0 to 1')
  return 1
}
