import type { App } from '../core/app.ts'
import { nowOf } from '../core/companies/clock.ts'
import { expireWithdrawal } from '../core/withdrawals/commands.ts'
import { claimDuePayouts, payOut } from '../core/withdrawals/payouts.ts'
import { findDue } from '../core/withdrawals/store.ts'
import { toPublic, type Uuid } from '../lib/ids.ts'
import { describeError } from '../lib/log.ts'

const MOST = 1000
/** Payouts that are on their way at once; the bank decides how long they take. */
const AT_ONCE = 10

const logFailure = (app: App, id: Uuid, what: string) => (error: unknown) => {
  app.log.error({ ...describeError(error), withdrawal: toPublic('wd', id) }, what)
  return false
}

/** Gives the money of withdrawals back whose code nobody used in time. */
export async function expireDueWithdrawals(
  app: App,
  signal?: AbortSignal,
  only: Uuid | null = null,
): Promise<void> {
  for (let found = MOST; found >= MOST && !signal?.aborted; ) {
    const due = await findDue(app.db, app.wall.now(), MOST, only)
    found = 0
    for (const { companyId, id, clockAhead_ms } of due) {
      if (signal?.aborted) return
      const now = nowOf(app, { clockAhead_ms })
      const work = app.db.transaction((tx) => expireWithdrawal(tx, companyId, id, now))
      found += Number(await work.catch(logFailure(app, id, 'a withdrawal was not expired')))
    }
  }
}

/** Sends confirmed withdrawals to their banks, and asks again about those without an answer. */
export async function payOutWithdrawals(
  app: App,
  signal?: AbortSignal,
  only: Uuid | null = null,
): Promise<void> {
  for (let found = AT_ONCE; found >= AT_ONCE && !signal?.aborted; ) {
    const claims = await claimDuePayouts(app, AT_ONCE, only)
    found = claims.length
    // What fails here is taken up again when its lease is over.
    await Promise.all(
      claims.map((claim) =>
        payOut(app, claim).catch(logFailure(app, claim.withdrawal.id, 'a payout was interrupted')),
      ),
    )
  }
}
