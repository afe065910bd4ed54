import type { App } from '../core/app.ts'
import { nowOf } from '../core/companies/clock.ts'
import { TASK } from '../core/tasks.ts'
import { expireWithdrawal } from '../core/withdrawals/commands.ts'
import { claimDuePayouts, payOut } from '../core/withdrawals/payouts.ts'
import { findDue } from '../core/withdrawals/store.ts'
import type { Uuid } from '../lib/ids.ts'
import { doClaimed, guarded, inRounds } from './rounds.ts'

const MOST = 1000
/** Payouts that are on their way at once; the bank decides how long they take. */
const AT_ONCE = 10

/** Gives the money of withdrawals back whose code nobody used in time. */
export function expireDueWithdrawals(
  app: App,
  signal?: AbortSignal,
  only: Uuid | null = null,
): Promise<void> {
  const task = 'expire withdrawals'
  return inRounds(app, {
    ...{ task, only, signal },
    async work(but) {
      const due = await findDue(app.db, app.systemClock.now(), MOST, only, but)
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
        ...{ done, isFull: due.length >= MOST },
      }
    },
  })
}

/** Sends confirmed withdrawals to their banks, and asks again about those without an answer. */
export function payOutWithdrawals(
  app: App,
  signal?: AbortSignal,
  only: Uuid | null = null,
): Promise<void> {
  const task = TASK.payouts
  return inRounds(app, {
    ...{ task, only, signal },
    async work(but) {
      const claims = await claimDuePayouts(app, AT_ONCE, only, but)
      const byCompany = Map.groupBy(claims, ({ withdrawal }) => withdrawal.companyId)
      const act = (claim: (typeof claims)[number]) => payOut(app, claim)
      await doClaimed(app, { task, only }, byCompany, act, 'a payout was interrupted')
      const done = claims.length
      return { companies: byCompany.keys(), done, isFull: done >= AT_ONCE }
    },
  })
}
