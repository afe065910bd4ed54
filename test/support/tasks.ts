import { TASKS } from '../../src/worker/worker.ts'
import type { TestApi } from './api.ts'

/** Runs every task of the worker once. */
export async function runTasks({ app }: TestApi): Promise<void> {
  const { signal } = new AbortController()
  for (const task of TASKS) {
    if ('run' in task) await task.run(app, signal)
    else {
      const opened = task.open(app)
      await opened.run(signal)
      await opened.close?.()
    }
  }
}
