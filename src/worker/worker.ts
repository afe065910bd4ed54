import { auditDue } from '../core/audits/commands.ts'
import { indexOldCharges } from '../core/charges/backfill.ts'
import { prepareFigures } from '../core/closings/commands.ts'
import { withCompanyClock } from '../core/companies/clock.ts'
import { indexCustomers } from '../core/customers/commands.ts'
import { findDueTasks } from '../core/due.ts'
import type { FullApp } from '../core/full-app.ts'
import { recordWrongSignIns } from '../core/people/sign-in.ts'
import { TASK } from '../core/tasks.ts'
import { findNewer } from '../db/migrate.ts'
import { describeError } from '../lib/log.ts'
import { watchCertificates } from './certificates.ts'
import { advanceTestClocks } from './clocks.ts'
import { createDeliveryWorker } from './deliver.ts'
import { DUE_TASKS } from './due.ts'
import { finishErasures } from './erasures.ts'
import { RETENTION } from './retention.ts'
import { clearQueue } from './webhooks.ts'

/** Tasks find due work from the state itself, so work that is interrupted is still due. */
export type Task = {
  name: string
  every_ms: number
  run(app: FullApp, signal: AbortSignal): Promise<void>
}

/** A task that keeps state from one run to the next. */
export type StatefulTask = Pick<Task, 'name' | 'every_ms'> & {
  open(app: FullApp): { run(signal: AbortSignal): Promise<void>; close?(): Promise<void> }
}

/** How long a task waits at most while nothing is written. */
const MAX_IDLE_MS = 10_000

/** Who has new postings has new figures too. */
const audit = (app: FullApp, signal?: AbortSignal): Promise<void> =>
  auditDue(app, signal, (company) => prepareFigures(withCompanyClock(app, company), company))

export const TASKS: readonly (Task | StatefulTask)[] = [
  { name: TASK.deliver, every_ms: 500, open: createDeliveryWorker },
  { name: 'look for due work', every_ms: 500, run: wakeDue },
  // They are woken. If that fails for one kind or all, they look by themselves. Deliveries are sent
  // by the task above.
  ...DUE_TASKS.filter(({ name }) => name !== TASK.deliver).map((task) => ({
    ...task,
    every_ms: MAX_IDLE_MS,
  })),
  { name: TASK.certificates, every_ms: 3_600_000, run: watchCertificates },
  { name: TASK.queue, every_ms: 60_000, run: clearQueue },
  { name: TASK.clocks, every_ms: 500, run: advanceTestClocks },
  {
    name: 'index old charges',
    every_ms: 1_000,
    run: async (app) => {
      await indexOldCharges(app)
    },
  },
  {
    name: 'index customers',
    every_ms: 1_000,
    run: async (app) => {
      await indexCustomers(app)
    },
  },
  { name: TASK.audit, every_ms: 60_000, run: audit },
  { name: 'record wrong sign-ins', every_ms: 60_000, run: recordWrongSignIns },
  RETENTION,
  { name: TASK.erasures, every_ms: 60_000, run: finishErasures },
]

/** Asks for all kinds at once whether work is due, and wakes the tasks that have some. */
async function wakeDue({ db, due, systemClock, alarm }: FullApp): Promise<void> {
  for (const { name } of await findDueTasks(db.light, due, systemClock.now())) alarm.wake(name)
}

export type Worker = { stop(): Promise<void> }

/** What is done before tasks begin, and may go on until the worker is stopped. */
export type Begin = (app: FullApp, signal: AbortSignal) => Promise<void>

/**
 * Runs each task again and again until it is stopped. If a task fails, logs it and runs it again.
 * If this process writes nothing, tasks run less and less often, so that an idle service costs
 * little. A process that does not see the writes of another passes a `maxIdle_ms` of 0. If
 * `begin` is passed, tasks begin when it resolves.
 */
export function startWorker(
  app: FullApp,
  tasks = TASKS,
  maxIdle_ms = MAX_IDLE_MS,
  begin?: Begin,
): Worker {
  const stopping = new AbortController()
  const own = { ...app, db: app.db.tasks }
  const begun = begin?.(own, stopping.signal)
  const report = reportFailures(own)
  const loops = tasks.map(async (task) => {
    if (begun) await begun
    await work(own, task, { maxIdle_ms, report }, stopping.signal)
  })
  return {
    async stop() {
      stopping.abort()
      await Promise.all(loops)
    },
  }
}

type Report = (task: string, error: unknown) => Promise<void>
type Manner = { maxIdle_ms: number; report: Report }

/** If the database is newer than this process, tasks may fail each time, which is said once. */
function reportFailures(app: FullApp): Report {
  let isSaid = false
  return async (task, error) => {
    const newer = await findNewer(app.db.light).catch(() => null)
    if (newer === null || !isSaid) {
      const text = newer ?? 'a task failed and will be tried again'
      app.log.error({ ...describeError(error), task }, text)
    }
    isSaid = newer !== null
  }
}

async function work(
  app: FullApp,
  task: Task | StatefulTask,
  manner: Manner,
  signal: AbortSignal,
): Promise<void> {
  const { name, every_ms } = task
  if ('run' in task) return loop(app, task, manner, signal)
  const opened = task.open(app)
  await loop(app, { name, every_ms, run: () => opened.run(signal) }, manner, signal)
  await opened.close?.()
}

async function loop(
  app: FullApp,
  task: Task,
  { maxIdle_ms, report }: Manner,
  signal: AbortSignal,
): Promise<void> {
  const { alarm } = app
  const { name, every_ms } = task
  let [wait_ms, writes] = [every_ms, -1]
  while (!signal.aborted) {
    try {
      await task.run(app, signal)
      app.counters.taskDone(name, app.systemClock.now())
    } catch (error) {
      await report(name, error)
    }
    const isIdle = writes === alarm.writes()
    writes = alarm.writes()
    wait_ms = isIdle ? Math.max(every_ms, Math.min(wait_ms * 2, maxIdle_ms)) : every_ms
    if (wait_ms > every_ms) await alarm.waitForWrites(name, wait_ms, signal)
    else await alarm.wait(name, wait_ms, signal)
  }
}
