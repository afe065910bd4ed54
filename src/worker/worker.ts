import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../core/app.ts'
import { purgeKept } from '../core/idempotency.ts'
import { describeError } from '../lib/log.ts'
import { expireDueCharges } from './expire.ts'

/** Due work is found from the state itself; a task that dies half-way is simply due again. */
export type Task = {
  name: string
  every_ms: number
  run(app: App, signal: AbortSignal): Promise<void>
}

export const TASKS: readonly Task[] = [
  { name: 'expire charges', every_ms: 500, run: expireDueCharges },
  {
    name: 'purge idempotency keys',
    every_ms: 60_000,
    run: ({ db, clock }) => purgeKept(db, clock.now()),
  },
]

export type Worker = { stop(): Promise<void> }

/**
 * Runs each task again and again until it is stopped; a failing one is logged and comes round
 * again.
 */
export function startWorker(app: App, tasks = TASKS): Worker {
  const stopping = new AbortController()
  const loops = tasks.map((task) => loop(app, task, stopping.signal))
  return {
    async stop() {
      stopping.abort()
      await Promise.all(loops)
    },
  }
}

async function loop(app: App, task: Task, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await task.run(app, signal)
    } catch (error) {
      app.log.error(
        { ...describeError(error), task: task.name },
        'a task failed and will be tried again',
      )
    }
    await pause(task.every_ms, undefined, { signal }).catch(() => {})
  }
}
