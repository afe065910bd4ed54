import { companyTableOf } from '../../db/columns.ts'
import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { RETRY_DAYS } from '../../pix/calendar.ts'
import { claimDue, type DueKind, type DueRequest, IS_SUSPENDED } from '../due.ts'
import { TASK } from '../tasks.ts'
import type { Billing } from './rules.ts'

const BILLING = companyTableOf<Billing>(
  'billings',
  {
    companyId: ['company_id', 'uuid'],
    chargeId: ['charge_id', 'uuid'],
    recurrenceId: ['recurrence_id', 'uuid'],
    cycle: ['cycle', 'int8'],
    dueOn: ['due_on', 'date'],
    status: ['status', 'text'],
    unanswered: ['unanswered', 'int8'],
    ordered: ['ordered', 'bool'],
    nextAt: ['next_at', 'timestamptz'],
  },
  'chargeId',
)

const COLUMNS = BILLING.select('d')

/**
 * Billings that have not ended. The condition names the status and not `next_at`, because the
 * planner would expect few rows with a `next_at` and choose the index over it.
 */
const OPEN = `status in ('PLANNED', 'SCHEDULED')`

const INSERT = BILLING.insertInto('billings')

/** A second billing for a cycle violates a unique index, and the transaction fails. */
export async function insert(tx: Tx, billings: Billing[]): Promise<void> {
  await tx.query({ name: 'insert_billings', text: INSERT, values: BILLING.values(billings) })
}

export const { find } = BILLING

/**
 * Writes the state of a billing, unless it has ended meanwhile. Once `ordered` is true it stays
 * true, even if the caller read the billing before that.
 */
export async function update(tx: Tx, billing: Billing): Promise<void> {
  await tx.query({
    name: 'update_billing',
    text: `update billings set due_on = $3::date, status = $4, unanswered = $5,
             ordered = ordered or $6, next_at = $7
           where company_id = $1 and charge_id = $2 and ${OPEN}`,
    values: [
      billing.companyId,
      billing.chargeId,
      billing.dueOn,
      billing.status,
      billing.unanswered,
      billing.ordered,
      billing.nextAt,
    ],
  })
}

/**
 * Writes that the bank may know of these billings. Returns those that have not ended meanwhile.
 */
export async function markOrdered(tx: Tx, companyId: Uuid, chargeIds: Uuid[]): Promise<Set<Uuid>> {
  if (chargeIds.length === 0) return new Set()
  const rows = await tx.query<{ charge_id: Uuid }>({
    name: 'mark_billings_ordered',
    text: `update billings set ordered = true
           where company_id = $1 and charge_id = any ($2::uuid[]) and ${OPEN}
           returning charge_id`,
    values: [companyId, chargeIds],
  })
  return new Set(rows.map(({ charge_id }) => charge_id))
}

/** Ends those of the billings that have not ended. */
export async function end(
  tx: Tx,
  companyId: Uuid,
  chargeIds: Uuid[],
  status: 'PAID' | 'FAILED' | 'CANCELED',
): Promise<void> {
  if (chargeIds.length === 0) return
  await tx.query({
    name: 'end_billings',
    text: `update billings set status = $3, next_at = null
           where company_id = $1 and charge_id = any ($2::uuid[])
             and (${OPEN} or (status = 'FAILED' and $3 = 'PAID'))`,
    values: [companyId, chargeIds, status],
  })
}

/** The billings of an agreement that have not ended. */
export async function listOpen(tx: Tx, companyId: Uuid, recurrenceId: Uuid): Promise<Billing[]> {
  const rows = await tx.query({
    text: `select ${COLUMNS} from billings d
           where company_id = $1 and recurrence_id = $2 and ${OPEN} order by cycle`,
    values: [companyId, recurrenceId],
  })
  return rows.map(BILLING.read)
}

/** The billings of agreements that have not ended, oldest first. */
export async function listOpenOfMany(
  tx: Tx,
  companyId: Uuid,
  recurrenceIds: Uuid[],
): Promise<Billing[]> {
  const rows = await tx.query({
    text: `select ${COLUMNS} from billings d
           where company_id = $1 and recurrence_id = any ($2::uuid[]) and ${OPEN} order by cycle`,
    values: [companyId, recurrenceIds],
  })
  return rows.map(BILLING.read)
}

/**
 * Billings that the bank tries again: their day is over, or it is today and the next debit is on a
 * later one. `today` and `tomorrow`, its first moment, are parameters of the statement. Nothing is
 * tried for longer, so that the index leaves out what has failed before.
 */
export const retried = (today: string, tomorrow: string): string =>
  `status = 'SCHEDULED' and due_on between ${today}::date - ${RETRY_DAYS.at(-1)!} and ${today}::date
     and (due_on < ${today}::date or next_at >= ${tomorrow})`

/** A charge of a subscription that could not be collected is not spoken of any longer. */
const OVERDUE_DAYS = 30

/**
 * The agreements that are overdue, each once: the one definition, see docs/concepts/figures.md. The
 * company is the first parameter of the statement, and `today` is another one.
 */
export const overdueIds = (today: string): string => `
  select distinct b.recurrence_id from billings b
  join recurrences o on o.company_id = b.company_id and o.id = b.recurrence_id
  where b.company_id = $1 and b.status in ('PLANNED', 'SCHEDULED', 'FAILED')
    and b.due_on < ${today}::date and b.due_on >= ${today}::date - ${OVERDUE_DAYS}
    and o.auth_status = 'APPROVED'
    and not exists (select from billings p where p.company_id = b.company_id
      and p.recurrence_id = b.recurrence_id and p.cycle > b.cycle and p.status = 'PAID')`

/** The billings of an agreement before a cycle, newest first. Null: from the latest one on. */
export async function listOfRecurrence(
  tx: Tx,
  companyId: Uuid,
  recurrenceId: Uuid,
  { limit, before }: { limit: number; before: number | null },
): Promise<Billing[]> {
  const rows = await tx.query({
    text: `select ${COLUMNS} from billings d
           where company_id = $1 and recurrence_id = $2 and ($3::int8 is null or cycle < $3)
           order by cycle desc limit $4`,
    values: [companyId, recurrenceId, before, limit],
  })
  return rows.map(BILLING.read)
}

/** Makes the billings of an agreement due now, so that a task asks the bank about them. */
export async function makeAllDueNow(
  tx: Tx,
  companyId: Uuid,
  recurrenceId: Uuid,
  now: Date,
): Promise<void> {
  await tx.query({
    text: `update billings set next_at = $3
           where company_id = $1 and recurrence_id = $2 and ${OPEN}`,
    values: [companyId, recurrenceId, now],
  })
}

/** Makes these billings due now, except those that have ended. Returns all that exist. */
export async function makeDueNow(
  tx: Tx,
  companyId: Uuid,
  chargeIds: Uuid[],
  now: Date,
): Promise<Set<Uuid>> {
  const rows = await tx.query<{ charge_id: Uuid }>({
    text: `with due_now as (
             update billings set next_at = least(next_at, $3)
             where company_id = $1 and charge_id = any ($2::uuid[]) and ${OPEN}
           )
           select charge_id from billings where company_id = $1 and charge_id = any ($2::uuid[])`,
    values: [companyId, chargeIds, now],
  })
  return new Set(rows.map(({ charge_id }) => charge_id))
}

/**
 * Billings whose next step is due. Suspended companies wait. While a lease lasts, nobody else asks
 * the bank about the billing. If two did, no harm would be done.
 */
export const DUE_BILLINGS: DueKind = {
  name: TASK.bill,
  table: 'billings',
  key: 'charge_id',
  dueAt: 'next_at',
  where: 'd.next_at is not null',
  except: () => IS_SUSPENDED,
}

export const claimDueBillings = async (tx: Tx, request: DueRequest): Promise<Billing[]> =>
  (await claimDue(tx, DUE_BILLINGS, request, COLUMNS)).map(BILLING.read)
