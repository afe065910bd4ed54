import { DiagLogLevel, diag } from '@opentelemetry/api'
import type { Config } from '../config.ts'
import type { Log } from '../lib/log.ts'
import type { Metrics } from '../lib/metrics.ts'
import type { Telemetry } from '../lib/telemetry-options.ts'
import type { Undo } from '../lifetime.ts'
import { startMetrics } from './metrics.ts'
import { startTraces } from './traces.ts'

/** A collector that is away must not hold up the end of a process. */
const LAST_EXPORT_MS = 3_000
/** It may be away for hours, and each attempt fails. */
const SAID_EVERY_MS = 60_000

/** Traces this process. */
export function openTraces(telemetry: Telemetry, log: Log, processName: string): Undo {
  reportTo(log)
  return inTime(startTraces(telemetry, processName))
}

/** Sends the metrics of this machine. */
export function openMetrics(
  { telemetry }: Pick<Config, 'telemetry'>,
  log: Log,
  { json }: Pick<Metrics, 'json'>,
): Undo {
  reportTo(log)
  return inTime(startMetrics(telemetry!, json))
}

const inTime =
  (stop: () => Promise<void>): Undo =>
  async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const late = setTimeout(resolve, LAST_EXPORT_MS)
    await Promise.race([promise, stop().catch(() => {})])
    clearTimeout(late)
  }

/** The words of the SDK may hold what a collector has answered, so only that it failed is said. */
function reportTo(log: Log): void {
  let said_ms = Number.NEGATIVE_INFINITY
  const say = () => {
    if (performance.now() - said_ms < SAID_EVERY_MS) return
    said_ms = performance.now()
    log.warn({}, 'traces or metrics were not sent: does the collector answer?')
  }
  const silent = () => {}
  diag.setLogger(
    { error: say, warn: say, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
}
