import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'

/** What a process measures. Nouns and edges register what is theirs. */
export type Metrics = {
  registry: Registry
  request(method: string, route: string, status: number, seconds: number): void
  text(): Promise<string>
}

type Series = Histogram.Internal<'method' | 'route' | 'status'>

export function createMetrics(): Metrics {
  const registry = new Registry()
  // Each look at the event loop's lag wakes the process, also an idle one.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 500 })
  const requests = new Histogram({
    name: 'vintem_http_request_seconds',
    help: 'Time from the arrival of a request to the end of its answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers: [registry],
  })
  // Finding a series by its labels costs more than observing it.
  const series = new Map<string, Map<number, Series>>()
  const seriesOf = (method: string, route: string, status: number): Series => {
    const found = requests.labels({ method, route, status: String(status) })
    const name = method + route
    series.set(name, (series.get(name) ?? new Map<number, Series>()).set(status, found))
    return found
  }
  return {
    registry,
    request(method, route, status, seconds) {
      const found = series.get(method + route)?.get(status) ?? seriesOf(method, route, status)
      found.observe(seconds)
    },
    text: () => registry.metrics(),
  }
}
