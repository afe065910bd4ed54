import {
  AggregatorRegistry,
  collectDefaultMetrics,
  type Gauge,
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

/** Each look at the event loop's lag wakes the process, also an idle one. */
const LAG_INTERVAL_MS = 500
/** More than any lag. If there was no look, the least lag is said to be the largest number. */
const MAX_LAG_S = 86_400

/** Lags are measured together with the interval, which is no lag: subtracts it. */
function correctLags(registry: Registry): void {
  for (const which of ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99']) {
    const gauge = registry.getSingleMetric(`nodejs_eventloop_lag_${which}_seconds`) as Gauge
    const set = gauge.set.bind(gauge) as (labels: object, seconds: number) => void
    const interval_s = which === 'stddev' ? 0 : LAG_INTERVAL_MS / 1000
    const setLag = (labels: object, measured_s: number) => {
      const lag_s = measured_s - interval_s
      set(labels, lag_s > 0 && lag_s < MAX_LAG_S ? lag_s : 0)
    }
    gauge.set = setLag as Gauge['set']
  }
}

export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_INTERVAL_MS })
  correctLags(registry)
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
