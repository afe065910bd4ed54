import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'

/**
 * When a delivery of a company is tried next. A delivery that is being sent is due until its result
 * is stored. A delivery to a paused webhook is due when the pause ends.
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
