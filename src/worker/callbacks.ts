import type { FullApp } from '../core/full-app.ts'
import { claimDue } from '../core/payments/callback-store.ts'
import { processStored } from '../core/payments/callbacks.ts'
import { TASK } from '../core/tasks.ts'
import { byCompany } from './rounds.ts'

/** How many callbacks are claimed at once, in all and of one company. */
const MAX_CLAIMED = 512
const MAX_OF_COMPANY = 64

/** Processes callbacks that are stored and not processed yet. */
export function processDueCallbacks(app: FullApp, signal?: AbortSignal): Promise<void> {
  return byCompany(app, {
    task: TASK.callbacks,
    only: null,
    signal,
    failed: 'callbacks were not processed',
    async find(except) {
      const { db, systemClock } = app
      const claimed = await claimDue(db, systemClock.now(), MAX_CLAIMED, except, MAX_OF_COMPANY)
      const due = Map.groupBy(claimed, ({ companyId }) => companyId)
      const isOneFull = [...due.values()].some(({ length }) => length >= MAX_OF_COMPANY)
      return { due, isFull: isOneFull || claimed.length >= MAX_CLAIMED }
    },
    async act(_companyId, own) {
      await processStored(app, own)
      return own.length
    },
  })
}
