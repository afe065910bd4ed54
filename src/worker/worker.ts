import type { App } from '../core/app.ts'
import { auditDue } from '../core/audits/commands.ts'
import { indexOldCharges } from '../core/charges/backfill.ts'
import { takeBackOrphans } from '../core/charges/intents.ts'
import { purgeKept } from '../core/idempotency.ts'
import { notePosition } from '../core/installation.ts'
import { purgeFinished } from '../core/mails/store.ts'
import { purgeProcessed } from '../core/payments/callback-store.ts'
import { reconcileDue } from '../core/reconciliation/received.ts'
import { purgeSetbacks } from '../core/setbacks.ts'
import { TASK } from '../core/tasks.ts'
import { describeError } from '../lib/log.ts'
import { billDue, followDue, generateDue } from './billing.ts'
import { processDueCallbacks } from './callbacks.ts'
import { watchCertificates } from './certificates.ts'
import { createExpiringAtBanks, expireDueCharges, releaseDueCharges } from './charges.ts'
import { playTestClocks } from './clocks.ts'
import { collectDue } from './collect.ts'
import { createDeliveryWorker } from './deliver.ts'
import { sendDueMails } from './mail.ts'
import { removeOldMails } from './mail-files.ts'
import { carryOutRefunds, payOutWithdrawals } from './orders.ts'
import { clearQueue, purgeDeliveries, watchWebhooks } from './webhooks.ts'
import { expireDueWithdrawals } from './withdrawals.ts'

/** Due work is found from the state itself; a task that dies half-way is simply due again. */
export type Task = {
  name: string
  every_ms: number
  /** What it does at a moment cannot be undone: it waits while the clock cannot be believed. */
  isTimed?: true
  run(app: App, signal: AbortSignal): Promise<void>
}

/** A task that keeps something from one run to the next. */
export type KeepingTask = Pick<Task, 'name' | 'every_ms'> & {
  open(app: App): { run(signal: AbortSignal): Promise<void>; close?(): Promise<void> }
}

/** Callbacks and the traces of mails are kept for a month, for whoever asks what happened. */
const KEPT_MS = 30 * 24 * 3600 * 1000

export const TASKS: readonly (Task | KeepingTask)[] = [
  { name: TASK.deliver, every_ms: 500, open: createDeliveryWorker },
  { name: TASK.webhooks, every_ms: 60_000, run: watchWebhooks },
  { name: TASK.certificates, every_ms: 3_600_000, run: watchCertificates },
  { name: TASK.queue, every_ms: 60_000, run: clearQueue },
  { name: 'note positions', every_ms: 60_000, run: ({ db }) => notePosition(db) },
  { name: 'expire charges', every_ms: 500, run: expireDueCharges },
  { name: 'expire charges at banks', every_ms: 500, open: createExpiringAtBanks },
  { name: 'receive charges', every_ms: 500, run: releaseDueCharges },
  { name: TASK.callbacks, every_ms: 1_000, run: processDueCallbacks },
  { name: 'reconcile', every_ms: 5_000, run: reconcileDue },
  { name: 'take back orphans', every_ms: 5_000, run: takeBackOrphans },
  { name: TASK.refunds, every_ms: 500, run: carryOutRefunds },
  { name: 'expire withdrawals', every_ms: 500, isTimed: true, run: expireDueWithdrawals },
  { name: TASK.payouts, every_ms: 500, run: payOutWithdrawals },
  { name: TASK.agreements, every_ms: 1_000, isTimed: true, run: followDue },
  { name: TASK.generate, every_ms: 1_000, isTimed: true, run: generateDue },
  { name: TASK.bill, every_ms: 1_000, isTimed: true, run: billDue },
  { name: TASK.collect, every_ms: 1_000, isTimed: true, run: collectDue },
  { name: TASK.clocks, every_ms: 500, run: playTestClocks },
  {
    name: 'index old charges',
    every_ms: 1_000,
    run: async (app) => {
      await indexOldCharges(app)
    },
  },
  { name: 'audit', every_ms: 60_000, run: auditDue },
  { name: TASK.mail, every_ms: 1_000, run: sendDueMails },
  {
    name: 'purge idempotency keys',
    every_ms: 60_000,
    run: ({ db, clock }) => purgeKept(db, clock.now()),
  },
  { name: 'remove old mails', every_ms: 3_600_000, run: removeOldMails },
  { name: TASK.purge, every_ms: 3_600_000, run: purgeDeliveries },
  {
    name: 'purge what is done',
    every_ms: 3_600_000,
    async run({ db, clock }) {
      const before = new Date(clock.now().getTime() - KEPT_MS)
      await purgeProcessed(db, before)
      await purgeFinished(db, before)
      await purgeSetbacks(db, clock.now())
    },
  },
]

export type Worker = { stop(): Promise<void> }

/** The longest that a task waits while nothing is written. */
const QUIET_MS = 10_000

/**
 * Runs each task again and again until it is stopped; a failing one is logged and comes round
 * again. If this process writes nothing, they run less and less often, so that an idle service
 * costs nothing. A `quiet_ms` of 0 is for a process that does not see the writes of another.
 */
export function startWorker(app: App, tasks = TASKS, quiet_ms = QUIET_MS): Worker {
  const stopping = new AbortController()
  const own = { ...app, db: app.db.tasks }
  const loops = tasks.map((task) => work(own, task, quiet_ms, stopping.signal))
  return {
    async stop() {
      stopping.abort()
      await Promise.all(loops)
    },
  }
}

async function work(
  app: App,
  task: Task | KeepingTask,
  quiet_ms: number,
  signal: AbortSignal,
): Promise<void> {
  const { name, every_ms } = task
  if ('run' in task) return loop(app, task, quiet_ms, signal)
  const opened = task.open(app)
  await loop(app, { name, every_ms, run: () => opened.run(signal) }, quiet_ms, signal)
  await opened.close?.()
}

async function loop(app: App, task: Task, quiet_ms: number, signal: AbortSignal): Promise<void> {
  const { alarm } = app
  const { name, every_ms } = task
  let [wait_ms, writes] = [every_ms, -1]
  while (!signal.aborted) {
    try {
      if (!task.isTimed || (await app.clockWatch.agrees())) await task.run(app, signal)
    } catch (error) {
      app.log.error(
        { ...describeError(error), task: name },
        'a task failed and will be tried again',
      )
    }
    const isQuiet = writes === alarm.writes()
    writes = alarm.writes()
    wait_ms = isQuiet ? Math.max(every_ms, Math.min(wait_ms * 2, quiet_ms)) : every_ms
    if (wait_ms > every_ms) await alarm.waitForWrites(name, wait_ms, signal)
    else await alarm.wait(name, wait_ms, signal)
  }
}
