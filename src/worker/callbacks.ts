import type { FullApp } from '../core/full-app.ts'
import { claimDue } from '../core/payments/callback-store.ts'
import { processStored } from '../core/payments/callbacks.ts'
import { TASK } from '../core/tasks.ts'
import { guarded, inRounds } from './rounds.ts'

/** How many callbacks are claimed at once, in all and of one company. */
const MAX_CLAIMED = 512
const MAX_OF_COMPANY = 64

/** Processes callbacks that are stored and not processed yet. */
export function processDueCallbacks(app: FullApp, signal?: AbortSignal): Promise<void> {
  const [task, only] = [TASK.callbacks, null]
  return inRounds(app, {
    task,
    only,
    signal,
    async work(except) {
      const due = await claimDue(app.db, app.systemClock.now(), MAX_CLAIMED, except, MAX_OF_COMPANY)
      const byCompany = Map.groupBy(due, ({ companyId }) => companyId)
      const failed = 'callbacks were not processed'
      await Promise.all(
        [...byCompany].map(([companyId, own]) => {
          const act = () => processStored(app, own)
          return guarded(app, { task, only }, companyId, act, undefined, failed)
        }),
      )
      const isOneFull = [...byCompany.values()].some(({ length }) => length >= MAX_OF_COMPANY)
      const isFull = isOneFull || due.length >= MAX_CLAIMED
      return { companies: byCompany.keys(), done: due.length, isFull }
    },
  })
}
