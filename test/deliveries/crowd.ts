import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after } from 'node:test'
import type { Company } from '../../src/core/companies/rules.ts'
import type { FullApp } from '../../src/core/full-app.ts'
import { TASK } from '../../src/core/tasks.ts'
import type { Uuid } from '../../src/lib/ids.ts'
import { startWorker, TASKS } from '../../src/worker/worker.ts'
import { type Hostility, startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { median, p99 } from './figures.ts'
import { commitEvents, type Hook, publicId, registerAll } from './scene.ts'

const SCRIPT = join(import.meta.dirname, 'hostile-process.ts')

export type Hostile = {
  urls: Record<Hostility, string>
  /** Ends them, and so all that they were keeping waiting. */
  end(): void
}

/** Starts hostile receivers of every kind. */
export async function startHostile(): Promise<Hostile> {
  const child = spawn(process.execPath, [SCRIPT], { stdio: ['ignore', 'pipe', 'inherit'] })
  const end = () => {
    child.kill('SIGKILL')
  }
  after(end)
  const [line] = await once(createInterface(child.stdout), 'line')
  return { urls: JSON.parse(line), end }
}

/** Delivers without the worker's other tasks, until the end of the act. */
export async function delivering<R>(app: FullApp, act: () => Promise<R>): Promise<R> {
  const worker = startWorker(
    app,
    TASKS.filter(({ name }) => name === TASK.deliver),
  )
  try {
    return await act()
  } finally {
    await worker.stop()
  }
}

/** Receivers that answer at once, and how long deliveries to them take. */
export type Healthy = {
  hooks: Hook[]
  /** Sends them one event after the other; returns the latency of every delivery. */
  measure(events: number): Promise<number[]>
}

export async function startHealthy(
  app: FullApp,
  company: Company,
  count: number,
): Promise<Healthy> {
  const receiver = await startReceiver()
  const urls = Array.from({ length: count }, (_, n) => `${receiver.url}/${n}`)
  const hooks = await registerAll(app, company, urls)
  return {
    hooks,
    async measure(events) {
      const latencies_ms: number[] = []
      for (let n = 0; n < events; n++) {
        receiver.received.length = 0
        const [event] = await commitEvents(app, company.id)
        const committed_ms = performance.now()
        const id = publicId(event!)
        const arrivals = await until('every healthy receiver has it', () => {
          const own = receiver.received.filter(({ headers }) => headers['webhook-id'] === id)
          return own.length >= count && own
        })
        latencies_ms.push(...arrivals.map(({ at_ms }) => at_ms - committed_ms))
      }
      return latencies_ms
    },
  }
}

const idsOf = (hooks: Hook[]): Uuid[] => hooks.map(({ webhookId }) => webhookId)

export async function deactivate(app: FullApp, hooks: Hook[]): Promise<void> {
  await app.db.query({
    text: `update webhooks set status = 'INACTIVE' where id = any ($1)`,
    values: [idsOf(hooks)],
  })
}

/** Deactivates webhooks, and deletes their deliveries. */
export async function deactivateAndClear(app: FullApp, hooks: Hook[]): Promise<void> {
  await deactivate(app, hooks)
  await app.db.query({
    text: 'delete from deliveries where webhook_id = any ($1)',
    values: [idsOf(hooks)],
  })
}

/** Activates webhooks again, as if they had never failed. */
export async function reactivate(app: FullApp, hooks: Hook[]): Promise<void> {
  await app.db.query({
    text: `update webhooks set status = 'ACTIVE', failures = 0, failing_since = null,
             paused_until = null
           where id = any ($1)`,
    values: [idsOf(hooks)],
  })
}

/** Writes a backlog of deliveries that are due, without the events of others. */
export async function pileUp(app: FullApp, hook: Hook, count: number): Promise<void> {
  const { companyId, webhookId } = hook
  await app.db.query({
    text: `with event as (
             insert into events (company_id, id, type, payload, created_at, position)
             select $1, gen_random_uuid(), 'charge.paid', '{"event":"Charge.Paid"}', $3, 1
             from generate_series(1, $4) returning id
           )
           insert into deliveries (company_id, webhook_id, event_id, next_attempt_at, created_at)
           select $1, $2, id, $3, $3 from event`,
    values: [companyId, webhookId, app.clock.now(), count],
  })
}

export type Rounds = { calm_ms: number; hostile_ms: number; ratio: number }

/**
 * Measures one after the other in rounds, because a shared machine may be half as fast from one
 * second to the next. Returns the medians of every round's slowest hundredth.
 */
export async function compare(
  rounds: number,
  calm: () => Promise<number[]>,
  hostile: () => Promise<number[]>,
): Promise<Rounds> {
  const measured = { calm: [] as number[], hostile: [] as number[] }
  for (let round = 0; round <= rounds; round++) {
    const [without, beside] = [p99(await calm()), p99(await hostile())]
    // The first round only warms up.
    if (round > 0) measured.calm.push(without)
    if (round > 0) measured.hostile.push(beside)
  }
  const [calm_ms, hostile_ms] = [median(measured.calm), median(measured.hostile)]
  return { calm_ms, hostile_ms, ratio: hostile_ms / calm_ms }
}
