import type { FullApp } from '../core/full-app.ts'
import type { Claim } from '../core/orders.ts'
import { claimDueRefunds, returnMoney } from '../core/refunds/returns.ts'
import { TASK } from '../core/tasks.ts'
import { claimDuePayouts, payOut } from '../core/withdrawals/payouts.ts'
import type { Uuid } from '../lib/ids.ts'
import { doClaimed, inRounds } from './rounds.ts'

/** How many orders are with banks at once; the banks decide how long they take. */
const AT_ONCE = 10

/** Orders to banks, and how they are claimed and carried out. */
type Orders<T> = {
  task: string
  failed: string
  claim(app: FullApp, max: number, only: Uuid | null, except: Uuid[]): Promise<Claim<T>[]>
  act(app: FullApp, claim: Claim<T>): Promise<void>
}

function carryOutDue<T extends { companyId: Uuid }>(
  app: FullApp,
  { task, failed, claim, act }: Orders<T>,
  signal: AbortSignal | undefined,
  only: Uuid | null,
): Promise<void> {
  return inRounds(app, {
    task,
    only,
    signal,
    async work(except) {
      const claims = await claim(app, AT_ONCE, only, except)
      const byCompany = Map.groupBy(claims, ({ order }) => order.companyId)
      await doClaimed(app, { task, only }, byCompany, (one) => act(app, one), failed)
      const done = claims.length
      return { companies: byCompany.keys(), done, isFull: done >= AT_ONCE }
    },
  })
}

/** Orders banks to return money, and asks again about refunds without an answer. */
export const carryOutRefunds = (app: FullApp, signal?: AbortSignal, only: Uuid | null = null) =>
  carryOutDue(
    app,
    {
      task: TASK.refunds,
      failed: 'a refund was interrupted',
      claim: claimDueRefunds,
      act: returnMoney,
    },
    signal,
    only,
  )

/** Orders banks to send confirmed withdrawals, and asks again about those without an answer. */
export const payOutWithdrawals = (app: FullApp, signal?: AbortSignal, only: Uuid | null = null) =>
  carryOutDue(
    app,
    {
      task: TASK.payouts,
      failed: 'a payout was interrupted',
      claim: claimDuePayouts,
      act: payOut,
    },
    signal,
    only,
  )
