import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { App } from '../core/app.ts'
import { countDiffering, oldestDue } from '../core/audits/store.ts'

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
    watch(app) {
      watchPool(registry, app)
      watchMoney(registry, app)
    },
    text: () => registry.metrics(),
  }
}

/** What an operator is woken for: books that differ, and work that is not getting done. */
function watchMoney(registry: Registry, { db, clock }: App): void {
  new Gauge({
    name: 'vintem_ledger_differing_companies',
    help: 'Companies whose books differ, and whose payouts are stopped for it',
    registers: [registry],
    async collect() {
      this.set(await countDiffering(db))
    },
  })
  new Gauge({
    name: 'vintem_due_oldest_seconds',
    help: 'How long the oldest piece of due work has been waiting, by kind',
    labelNames: ['work'],
    registers: [registry],
    async collect() {
      for (const { work, due } of await oldestDue(db)) {
        const waiting_ms = due ? clock.now().getTime() - due.getTime() : 0
        this.set({ work }, Math.max(0, waiting_ms / 1000))
      }
    },
  })
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
