import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'

/** No more are counted, so that the cost does not grow with their number. */
export const MAX_COUNTED = 100

/** What waits for a decision of the company's people. */
type Waiting = {
  unmatched: number
  /** Disputes that nobody has answered, and the first of their deadlines. */
  disputes: number
  disputeDeadline: Date | null
  /** Webhooks that fail, or were deactivated because they failed. */
  webhooks: number
  /** Charges of subscriptions that could not be collected lately. */
  collections: number
  certificateEndsAt: Date | null
}

export async function findWaiting(tx: Tx, companyId: Uuid, since: Date): Promise<Waiting> {
  const [row] = await tx.query<Row & Waiting>({
    name: 'find_waiting',
    text: `select
      (select count(*) from (select from payments where company_id = $1 and status = 'UNMATCHED'
         and reason is not null limit ${MAX_COUNTED}) p) as unmatched,
      (select count(*) from disputes where company_id = $1 and status = 'OPEN') as disputes,
      (select min(deadline) from disputes where company_id = $1 and status = 'OPEN')
        as "disputeDeadline",
      (select count(*) from webhooks where company_id = $1
         and (deactivated is not null or (status = 'ACTIVE' and failing_since is not null)))
         as webhooks,
      (select count(*) from unnest(array[true, false]) d (dev_mode) cross join lateral (
         select created_at from charges where company_id = $1 and status = 'EXPIRED'
           and payment_status = 'EXPIRED' and kind = 'RECURRING' and dev_mode = d.dev_mode
         order by id desc limit ${MAX_COUNTED}) c where c.created_at >= $2) as collections,
      (select certificate_ends_at from bank_connections where company_id = $1)
        as "certificateEndsAt"`,
    values: [companyId, since],
  })
  return row!
}
