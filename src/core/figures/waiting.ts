import type { Row } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { addDays, type LocalDate, localDateOf, startOfDay } from '../../pix/local-time.ts'
import type { App } from '../app.ts'
import { retried } from '../billings/store.ts'
import type { Company } from '../companies/rules.ts'

/** No more are counted, so that the cost does not grow with their number. */
export const MAX_COUNTED = 100
/** Charges of subscriptions that failed before are not shown any more. */
export const FAILED_DAYS = 30

/** What waits for a decision of the company's people. Counts end at `MAX_COUNTED`. */
export type Waiting = {
  unmatched: number
  /** Disputes that nobody has answered, and the first of their deadlines. */
  disputes: number
  disputeDeadline: Date | null
  /** Webhooks that fail, or were deactivated because they failed. */
  webhooks: number
  /** Charges of subscriptions whose debit failed, and that the bank tries again. */
  retrying: number
  /** Charges of subscriptions that could not be collected lately. */
  failed: number
  /** The withdrawal that waits for a code or an approval: a company has one at a time. */
  withdrawalId: Uuid | null
  certificateEndsAt: Date | null
}

/** The first day on which a charge of a subscription was made that is shown as failed. */
export const failedSince = (now: Date): LocalDate => addDays(localDateOf(now), -FAILED_DAYS)

/** Rows of a table, but not more than are counted. */
const counted = (rows: string): string =>
  `(select count(*) from (select from ${rows} limit ${MAX_COUNTED}) c)`

const TEXT = `select
  ${counted(`payments where company_id = $1 and status = 'UNMATCHED' and reason is not null`)}
    as unmatched,
  ${counted(`disputes where company_id = $1 and status = 'OPEN'`)} as disputes,
  (select min(deadline) from disputes where company_id = $1 and status = 'OPEN')
    as "disputeDeadline",
  (select count(*) from webhooks where company_id = $1
     and (deactivated is not null or (status = 'ACTIVE' and failing_since is not null)))
    as webhooks,
  ${counted(`billings where company_id = $1 and ${retried('$3', '$4')}`)} as retrying,
  (select count(*) from unnest(array[true, false]) d (dev_mode) cross join lateral (
     select created_at from charges where company_id = $1 and status = 'EXPIRED'
       and payment_status = 'EXPIRED' and kind = 'RECURRING' and dev_mode = d.dev_mode
     order by id desc limit ${MAX_COUNTED}) c where c.created_at >= $2) as failed,
  (select id from withdrawals where company_id = $1 and status in ('PENDING_OTP', 'PROCESSING')
     and status = 'PENDING_OTP' and otp_expires_at > $5) as "withdrawalId",
  (select certificate_ends_at from bank_connections where company_id = $1)
    as "certificateEndsAt"`

/** What waits for somebody, in one statement. Today and the menu ask for it. */
export async function readWaiting(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  { id }: Pick<Company, 'id'>,
): Promise<Waiting> {
  const now = clock.now()
  const today = localDateOf(now)
  const tomorrow = startOfDay(addDays(today, 1))
  const [row] = await db.query<Row & Waiting>({
    name: 'read_waiting',
    text: TEXT,
    values: [id, startOfDay(failedSince(now)), today, tomorrow, now],
  })
  return row!
}
