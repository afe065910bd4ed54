import { nowOf } from '../core/companies/clock.ts'
import type { FullApp } from '../core/full-app.ts'
import { expireWithdrawal } from '../core/withdrawals/commands.ts'
import { findDue } from '../core/withdrawals/store.ts'
import type { Uuid } from '../lib/ids.ts'
import { guarded, inRounds } from './rounds.ts'

const MAX_FOUND = 1000

/** Returns the money of withdrawals whose code was not used in time. */
export function expireDueWithdrawals(
  app: FullApp,
  signal?: AbortSignal,
  only: Uuid | null = null,
): Promise<void> {
  const task = 'expire withdrawals'
  return inRounds(app, {
    task,
    only,
    signal,
    async work(except) {
      const due = await findDue(app.db, app.systemClock.now(), MAX_FOUND, only, except)
      let done = 0
      for (const { companyId, id, clockAhead_ms } of due) {
        if (signal?.aborted) break
        const now = nowOf(app, { clockAhead_ms })
        const act = () => app.db.transaction((tx) => expireWithdrawal(tx, companyId, id, now))
        const failed = 'a withdrawal was not expired'
        done += Number(await guarded(app, { task, only }, companyId, act, false, failed))
      }
      return {
        companies: due.map(({ companyId }) => companyId),
        done,
        isFull: due.length >= MAX_FOUND,
      }
    },
  })
}
