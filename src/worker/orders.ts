import type { FullApp } from '../core/full-app.ts'
import type { Claim } from '../core/orders.ts'
import { claimDueRefunds, returnMoney } from '../core/refunds/returns.ts'
import { TASK } from '../core/tasks.ts'
import { claimDuePayouts, payOut } from '../core/withdrawals/payouts.ts'
import type { Uuid } from '../lib/ids.ts'
import { byCompany } from './rounds.ts'

/** How many orders are claimed and carried out together. */
const MAX_CLAIMED = 10

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
  return byCompany(app, {
    task,
    only,
    signal,
    failed,
    async find(except) {
      const claims = await claim(app, MAX_CLAIMED, only, except)
      const due = Map.groupBy(claims, ({ order }) => order.companyId)
      return { due, isFull: claims.length >= MAX_CLAIMED }
    },
    async act(_companyId, claims) {
      // If one fails, it is claimed again when its lease is over. The others are done.
      const ends = await Promise.allSettled(claims.map((one) => act(app, one)))
      for (const end of ends) if (end.status === 'rejected') throw end.reason
      return claims.length
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
