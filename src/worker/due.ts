import { nextAt as nextBilling } from '../core/billings/store.ts'
import { nextExpiry as nextChargeExpiry, nextRelease } from '../core/charges/due-store.ts'
import { nextAttempt } from '../core/deliveries/due-store.ts'
import type { DueTask } from '../core/full-app.ts'
import { nextAt as nextRecurrence } from '../core/recurrences/store.ts'
import { nextDue as nextRefund } from '../core/refunds/store.ts'
import { collectOfCompany, nextCollection } from '../core/simulated-bank/collections.ts'
import { TASK } from '../core/tasks.ts'
import { nextFailureActionAt } from '../core/webhooks/health-rules.ts'
import { listFailing } from '../core/webhooks/health-store.ts'
import { nextExpiry as nextCodeExpiry, nextPayout } from '../core/withdrawals/store.ts'
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
    nextAt: (tx, companyId) => nextRecurrence(tx, companyId, 'CREATED'),
    run: forOne(followDue),
  },
  {
    name: TASK.generate,
    nextAt: (tx, companyId) => nextRecurrence(tx, companyId, 'APPROVED'),
    run: forOne(generateDue),
  },
  { name: TASK.bill, nextAt: nextBilling, run: forOne(billDue) },
  {
    name: TASK.collect,
    nextAt: (tx, companyId) => nextCollection(tx, companyId),
    run: (app, { id }) => collectOfCompany(app, id),
  },
  { name: 'expire charges', nextAt: nextChargeExpiry, run: forOne(expireDueCharges) },
  { name: 'receive charges', nextAt: nextRelease, run: forOne(releaseDueCharges) },
  { name: TASK.refunds, nextAt: nextRefund, run: forOne(carryOutRefunds) },
  { name: 'expire withdrawals', nextAt: nextCodeExpiry, run: forOne(expireDueWithdrawals) },
  { name: TASK.payouts, nextAt: nextPayout, run: forOne(payOutWithdrawals) },
  { name: TASK.webhooks, nextAt: nextFailureAction, run: forOne(watchWebhooks) },
  {
    name: TASK.deliver,
    nextAt: nextAttempt,
    // The worker that leases a webhook sends to it. Here it is only woken.
    run: async ({ alarm }) => alarm.wake(TASK.deliver),
  },
]
