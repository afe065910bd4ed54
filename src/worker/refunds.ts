import type { App } from '../core/app.ts'
import { claimDueRefunds, returnMoney } from '../core/refunds/returns.ts'
import { TASK } from '../core/tasks.ts'
import type { Uuid } from '../lib/ids.ts'
import { doClaimed, inRounds } from './rounds.ts'

/** Refunds that are on their way at once; the bank decides how long they take. */
const AT_ONCE = 10

/** Tells banks to return money, and asks again about refunds without an answer. */
export function carryOutRefunds(
  app: App,
  signal?: AbortSignal,
  only: Uuid | null = null,
): Promise<void> {
  const task = TASK.refunds
  return inRounds(app, {
    ...{ task, only, signal },
    async work(but) {
      const claims = await claimDueRefunds(app, AT_ONCE, only, but)
      const byCompany = Map.groupBy(claims, ({ refund }) => refund.companyId)
      const act = (claim: (typeof claims)[number]) => returnMoney(app, claim)
      await doClaimed(app, { task, only }, byCompany, act, 'a refund was interrupted')
      const done = claims.length
      return { companies: byCompany.keys(), done, isFull: done >= AT_ONCE }
    },
  })
}
