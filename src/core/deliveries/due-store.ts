import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'

/**
 * When a delivery of a company is tried next. One that is on its way to its receiver is due until
 * what became of it is written down; one to a receiver that is left alone is due after that.
 */
export async function nextAttempt(tx: Tx, companyId: Uuid): Promise<Date | null> {
  const [row] = await tx.query<{ at: Date | null }>({
    text: `select min(greatest(d.next_attempt_at, w.paused_until)) as at
           from webhooks w cross join lateral (
             select next_attempt_at from deliveries
             where company_id = w.company_id and webhook_id = w.id
             order by next_attempt_at limit 1) d
           where w.company_id = $1 and w.status = 'ACTIVE'`,
    values: [companyId],
  })
  return row!.at
}
