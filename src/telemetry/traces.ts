import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Context,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ConsoleSpanExporter,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Telemetry } from '../lib/telemetry-options.ts'
import type { Cause, Span, Tracing } from '../lib/tracing.ts'
import { traceWith } from '../lib/tracing.ts'
import { VERSION } from '../lib/version.ts'
import { resourceOf } from './resource.ts'

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL }

/** Traces what this process does, until the function that it gives is called. */
export function startTraces(telemetry: Telemetry, processName: string): () => Promise<void> {
  const provider = new TracerProvider({
    resource: resourceOf(processName),
    sampler: samplerOf(telemetry.sampler),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: exporterOf(telemetry),
        maxQueueSize: telemetry.maxQueuedSpans,
      }),
    ],
  })
  traceWith(createTracing(provider.getTracer('vintem', VERSION)))
  return async () => {
    traceWith(null)
    await provider.shutdown()
  }
}

function exporterOf({ traces, protocol }: Telemetry) {
  if (traces === 'console') return new ConsoleSpanExporter()
  return protocol === 'http/json' ? new JsonExporter() : new ProtobufExporter()
}

function samplerOf({ name, ratio }: Telemetry['sampler']): Sampler {
  const root = name.endsWith('always_off')
    ? new AlwaysOffSampler()
    : name.endsWith('always_on')
      ? new AlwaysOnSampler()
      : new TraceIdRatioBasedSampler(ratio)
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root
}

function createTracing(tracer: Tracer): Tracing {
  const current = new AsyncLocalStorage<readonly Cause[]>()
  const nobody: readonly Cause[] = []
  return {
    begin({ name, kind, facts, cause, link }) {
      const links = link ? [{ context: contextOf(link) }] : []
      const options = { kind: KINDS[kind], links, ...(facts ? { attributes: facts } : {}) }
      const parent = cause ? within(cause) : ROOT_CONTEXT
      return wrap(tracer.startSpan(name, options, parent), cause?.companyId)
    },
    causes: () => current.getStore() ?? nobody,
    within: (causes, act) => current.run(causes, act),
  }
}

type Named = Pick<Cause, 'traceId' | 'spanId' | 'isSampled'>

const contextOf = ({ traceId, spanId, isSampled }: Named): SpanContext => ({
  traceId,
  spanId,
  traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
  isRemote: true,
})

const within = (cause: Cause): Context => trace.setSpanContext(ROOT_CONTEXT, contextOf(cause))

function wrap(span: ReturnType<Tracer['startSpan']>, companyId: string | undefined): Span {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return {
    traceId,
    spanId,
    isSampled: (traceFlags & TraceFlags.SAMPLED) !== 0,
    ...(companyId === undefined ? {} : { companyId }),
    note: (facts) => span.setAttributes(facts),
    end(fault) {
      if (fault !== undefined) {
        span.setAttribute('error.type', fault)
        span.setStatus({ code: SpanStatusCode.ERROR })
      }
      span.end()
    },
  }
}
