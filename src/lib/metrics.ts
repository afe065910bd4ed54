import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'

/** What a process counts while it works. */
export type Metrics = {
  registry: Registry
  request(method: string, route: string, status: number, seconds: number): void
  delivery(outcome: 'DELIVERED' | 'FAILED' | 'RETRY', seconds: number): void
  /** Work of a company has failed in a task. */
  setback(task: string): void
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
    delivery: countDeliveries(registry),
    setback: countSetbacks(registry),
    text: () => registry.metrics(),
  }
}

function countDeliveries(registry: Registry): Metrics['delivery'] {
  const outcomes = new Counter({
    name: 'vintem_deliveries_total',
    help: 'Attempts to deliver an event, by what they came to',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const latency = new Histogram({
    name: 'vintem_delivery_seconds',
    help: 'How long receivers took to answer',
    buckets: [0.01, 0.05, 0.1, 0.25, 1, 5, 15, 30],
    registers: [registry],
  })
  // Finding a series by its labels costs more than counting in it.
  const series = {
    DELIVERED: outcomes.labels({ outcome: 'DELIVERED' }),
    FAILED: outcomes.labels({ outcome: 'FAILED' }),
    RETRY: outcomes.labels({ outcome: 'RETRY' }),
  }
  const answered = latency.labels({})
  return (outcome, seconds) => {
    series[outcome].inc()
    answered.observe(seconds)
  }
}

function countSetbacks(registry: Registry): Metrics['setback'] {
  const setbacks = new Counter({
    name: 'vintem_setbacks_total',
    help: 'How often work of a company failed, so that the task left it alone for a while',
    labelNames: ['task'],
    registers: [registry],
  })
  return (task) => setbacks.inc({ task })
}
