import type { Tx } from '../../db/database.ts'
import type { WebhookKey } from './store.ts'

/** A receiver works again: its failures are forgotten. */
export async function markWorking(tx: Tx, { companyId, webhookId }: WebhookKey): Promise<void> {
  await tx.query({
    text: `update webhooks set failing_since = null, failures = 0, paused_until = null,
             warned_at = null
           where company_id = $1 and id = $2 and failures > 0`,
    values: [companyId, webhookId],
  })
}

/** Counts failures in a row, and gives their number. */
export async function markFailing(
  tx: Tx,
  { companyId, webhookId }: WebhookKey,
  now: Date,
): Promise<number> {
  const rows = await tx.query<{ failures: number }>({
    text: `update webhooks set failing_since = coalesce(failing_since, $3), failures = failures + 1
           where company_id = $1 and id = $2 returning failures`,
    values: [companyId, webhookId, now],
  })
  return rows[0]?.failures ?? 0
}

export async function pause(
  tx: Tx,
  { companyId, webhookId }: WebhookKey,
  until: Date,
): Promise<void> {
  await tx.query({
    text: 'update webhooks set paused_until = $3 where company_id = $1 and id = $2',
    values: [companyId, webhookId, until],
  })
}

/** Makes a webhook inactive for a reason that is not its company's wish. */
export async function deactivate(
  tx: Tx,
  { companyId, webhookId }: WebhookKey,
  reason: 'GONE' | 'FAILING',
  now: Date,
): Promise<boolean> {
  const rows = await tx.query({
    text: `update webhooks set status = 'INACTIVE', deactivated = $3, updated_at = $4
           where company_id = $1 and id = $2 and status = 'ACTIVE' returning id`,
    values: [companyId, webhookId, reason, now],
  })
  return rows.length === 1
}
