import { NEXT_AT as NEXT_BILLING } from '../core/billings/store.ts'
import { NEXT_EXPIRY, NEXT_RELEASE } from '../core/charges/due-store.ts'
import { NEXT_ATTEMPT } from '../core/deliveries/due-store.ts'
import type { DueTask } from '../core/full-app.ts'
import { nextSql as nextRecurrence } from '../core/recurrences/store.ts'
import { NEXT_REFUND } from '../core/refunds/store.ts'
import { collectOfCompany, NEXT_COLLECTION } from '../core/simulated-bank/collections.ts'
import { TASK } from '../core/tasks.ts'
import { nextFailureActionAt } from '../core/webhooks/health-rules.ts'
import { FIRST_FAILING, listFailing } from '../core/webhooks/health-store.ts'
import { NEXT_CODE_EXPIRY, NEXT_PAYOUT } from '../core/withdrawals/store.ts'
import type { Tx } from '../db/database.ts'
import type { Uuid } from '../lib/ids.ts'
import { billDue, followDue, generateDue } from './billing.ts'
import { expireDueCharges, releaseDueCharges } from './charges.ts'
import { carryOutRefunds, payOutWithdrawals } from './orders.ts'
import { watchWebhooks } from './webhooks.ts'
import { expireDueWithdrawals } from './withdrawals.ts'

/** Runs a task for one company instead of all. */
const forOne =
  (task: typeof expireDueCharges): DueTask['run'] =>
  (app, { id }) =>
    task(app, undefined, id)

async function nextFailureAction(tx: Tx, companyId: Uuid, now: Date): Promise<Date | null> {
  const failing = await listFailing(tx, companyId)
  const moments = failing
    .map((webhook) => nextFailureActionAt(webhook, now))
    .filter((at) => at !== null)
  return moments.sort((a, b) => a.getTime() - b.getTime())[0] ?? null
}

/**
 * All work that is due at a time, in the order in which it is done at one moment. Deliveries come
 * last, so that events of a moment are sent at that moment.
 */
export const DUE_TASKS: readonly DueTask[] = [
  {
    name: TASK.agreements,
    nextSql: nextRecurrence('CREATED'),
    run: forOne(followDue),
  },
  {
    name: TASK.generate,
    nextSql: nextRecurrence('APPROVED'),
    run: forOne(generateDue),
  },
  { name: TASK.bill, nextSql: NEXT_BILLING, run: forOne(billDue) },
  {
    name: TASK.collect,
    nextSql: NEXT_COLLECTION,
    run: (app, { id }) => collectOfCompany(app, id),
  },
  { name: 'expire charges', nextSql: NEXT_EXPIRY, run: forOne(expireDueCharges) },
  { name: 'receive charges', nextSql: NEXT_RELEASE, run: forOne(releaseDueCharges) },
  { name: TASK.refunds, nextSql: NEXT_REFUND, run: forOne(carryOutRefunds) },
  { name: 'expire withdrawals', nextSql: NEXT_CODE_EXPIRY, run: forOne(expireDueWithdrawals) },
  { name: TASK.payouts, nextSql: NEXT_PAYOUT, run: forOne(payOutWithdrawals) },
  {
    name: TASK.webhooks,
    nextSql: FIRST_FAILING,
    nextAt: nextFailureAction,
    run: forOne(watchWebhooks),
  },
  {
    name: TASK.deliver,
    nextSql: NEXT_ATTEMPT,
    // The worker that leases a webhook sends to it. Here it is only woken.
    run: async ({ alarm }) => alarm.wake(TASK.deliver),
  },
]
