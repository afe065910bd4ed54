import { AggregatorRegistry, Counter, type MetricObject, type Registry } from 'prom-client'
import type { Metrics as OwnMetrics } from '../lib/metrics.ts'
import type { Findings, Readiness } from '../readiness.ts'
import type { Group } from './group.ts'

/** Whoever asks whether the service is ready waits two seconds at most. */
const READY_MS = 1_800
const METRICS_MS = 4_000

type Metrics = MetricObject[]

const aggregate = (all: Metrics[]): Registry => AggregatorRegistry.aggregate(all)

/**
 * The metrics of all processes as one. What a process has counted stays when it ends, as far as
 * somebody has asked before, because a sum that goes down would be taken for a new beginning.
 */
export function createMachineMetrics(
  own: Pick<OwnMetrics, 'json'>,
  group: Pick<Group, 'ask' | 'onEnd'>,
): Pick<OwnMetrics, 'text' | 'json'> {
  const last = new Map<number, Metrics>()
  /** Processes that have ended while somebody asked. */
  const ended = new Set<number>()
  let asking = 0
  /** What ended processes had counted. Merged one after the other, so that none is lost. */
  const past: Metrics[] = []
  let merging = Promise.resolve()
  async function mergePast(): Promise<void> {
    const parts = [...past]
    const sum = (await aggregate(parts).getMetricsAsJSON()) as Metrics
    past.splice(0, parts.length, sum)
  }
  group.onEnd((_, pid) => {
    const isCounted = ({ type }: MetricObject) => ['counter', 'histogram'].includes(String(type))
    past.push((last.get(pid) ?? []).filter(isCounted))
    last.delete(pid)
    if (asking > 0) ended.add(pid)
    merging = merging.then(mergePast)
  })
  async function read(): Promise<Registry> {
    asking += 1
    const asked = await group.ask<Metrics>('metrics', METRICS_MS).finally(() => {
      asking -= 1
    })
    for (const { pid, answer } of asked) {
      // One that has ended meanwhile is in the past, with what it had answered before.
      if (answer && !ended.has(pid)) last.set(pid, answer)
    }
    if (asking === 0) ended.clear()
    const ours = await own.json()
    return aggregate([ours, ...past, ...last.values()])
  }
  return {
    text: async () => (await read()).metrics(),
    json: async () => (await read()).getMetricsAsJSON() as Promise<Metrics>,
  }
}

/** Counts processes that have ended and are started again, by what they are for. */
export function countRestarts(registry: Registry, group: Pick<Group, 'onRestart'>): void {
  const restarts = new Counter({
    name: 'vintem_process_restarts_total',
    help: 'Processes that have ended and were started again, by what they are for',
    labelNames: ['process'],
    registers: [registry],
  })
  for (const process of ['api', 'worker']) restarts.inc({ process }, 0)
  group.onRestart((kind) => restarts.inc({ process: kind }))
}

/** Whether the machine can do its work: its database, and each of its processes. */
export function createMachineReadiness(own: Readiness, group: Group): Readiness['check'] {
  return async () => {
    const [found, asked] = await Promise.all([own.check(), group.ask<string[]>('faults', READY_MS)])
    const missing = asked.filter(({ answer }) => answer === null)
    const apis = asked.filter(({ kind }) => kind === 'api')
    const faults = [...found.faults, ...asked.flatMap(({ answer }) => answer ?? [])]
    if (apis.every(({ answer }) => answer === null)) faults.push('No process answers requests.')
    const warnings = missing.map(({ name }) => `The process ${name} does not answer.`)
    return {
      faults: [...new Set(faults)],
      warnings: [...found.warnings, ...warnings],
    } satisfies Findings
  }
}
