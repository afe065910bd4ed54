import {
  AggregatorRegistry,
  collectDefaultMetrics,
  Histogram,
  type MetricObject,
  Registry,
} from 'prom-client'

/** What a process measures. Nouns and edges register what is theirs. */
export type Metrics = {
  registry: Registry
  request(method: string, route: string, status: number, seconds: number): void
  text(): Promise<string>
  /** The same as data, for a process that adds up those of several. */
  json(): Promise<MetricObject[]>
  /** What is measured in one of several places. Its values have the number of the place. */
  ofPlace(place: number): Metrics
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
  const places: Registry[] = []
  const json = async () =>
    (await Promise.all([registry, ...places].map((one) => one.getMetricsAsJSON()))).flat()
  const metrics: Metrics = {
    registry,
    request(method, route, status, seconds) {
      const found = series.get(method + route)?.get(status) ?? seriesOf(method, route, status)
      found.observe(seconds)
    },
    text: async () =>
      places.length === 0
        ? registry.metrics()
        : AggregatorRegistry.aggregate([(await json()) as never]).metrics(),
    json: json as Metrics['json'],
    ofPlace(place) {
      const own = new Registry()
      own.setDefaultLabels({ place: String(place) })
      places.push(own)
      return { ...metrics, registry: own }
    },
  }
  return metrics
}
