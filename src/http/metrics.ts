import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { App } from '../core/app.ts'

export type Metrics = {
  request(method: string, route: string, status: number, seconds: number): void
  watch(app: App): void
  text(): Promise<string>
}

type Series = Histogram.Internal<'method' | 'route' | 'status'>

export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
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
    request(method, route, status, seconds) {
      const found = series.get(method + route)?.get(status) ?? seriesOf(method, route, status)
      found.observe(seconds)
    },
    watch: (app) => watchPool(registry, app),
    text: () => registry.metrics(),
  }
}

function watchPool(registry: Registry, { db }: App): void {
  new Gauge({
    name: 'vintem_database_connections',
    help: 'Connections of the pool, and requests that wait for one',
    labelNames: ['pool', 'state'],
    registers: [registry],
    collect() {
      for (const [name, pool] of Object.entries(db.pools)) {
        this.set({ pool: name, state: 'open' }, pool.totalCount)
        this.set({ pool: name, state: 'idle' }, pool.idleCount)
        this.set({ pool: name, state: 'waiting' }, pool.waitingCount)
      }
    },
  })
}
