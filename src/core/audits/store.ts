import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import type { Period, Source } from '../../provider/port.ts'

export type Audit = {
  checkedEntry: number
  bankCheckedUntil: Date | null
  difference: string | null
}

export async function findAudit(tx: Tx, companyId: Uuid): Promise<Audit> {
  const [row] = await tx.query<{
    checked_entry: number
    bank_checked_until: Date | null
    difference: string | null
  }>({
    text: `select checked_entry, bank_checked_until, difference from audits
           where company_id = $1`,
    values: [companyId],
  })
  if (!row) return { checkedEntry: 0, bankCheckedUntil: null, difference: null }
  return {
    checkedEntry: row.checked_entry,
    bankCheckedUntil: row.bank_checked_until,
    difference: row.difference,
  }
}

type LastAudit = Pick<Audit, 'bankCheckedUntil' | 'difference'> & { auditedAt: Date }

/** What the last audit of a company has found; null before the first one. */
export async function findLastAudit(tx: Tx, companyId: Uuid): Promise<LastAudit | null> {
  const [row] = await tx.query<LastAudit>({
    text: `select bank_checked_until as "bankCheckedUntil", difference,
             audited_at as "auditedAt"
           from audits where company_id = $1`,
    values: [companyId],
  })
  return row ?? null
}

/** Refuses what would hide a difference, such as another bank. Only an operator may do that. */
export async function requireNoDifference(tx: Tx, companyId: Uuid): Promise<void> {
  const { difference } = await findAudit(tx, companyId)
  if (difference !== null) throw problem('books_differ')
}

/** Saves the result. While there is a difference, no money leaves the company. */
export async function saveAudit(
  tx: Tx,
  companyId: Uuid,
  { checkedEntry, bankCheckedUntil, difference }: Audit,
  now: Date,
): Promise<void> {
  await tx.query({
    text: `insert into audits
             (company_id, checked_entry, bank_checked_until, difference, audited_at)
           values ($1, $2, $3, $4, $5)
           on conflict (company_id) do update set checked_entry = excluded.checked_entry,
             bank_checked_until = excluded.bank_checked_until, difference = excluded.difference,
             audited_at = excluded.audited_at`,
    values: [companyId, checkedEntry, bankCheckedUntil, difference, now],
  })
}

/** How many companies' books differ. */
export async function countDiffering(tx: Tx): Promise<number> {
  const [row] = await tx.query<{ count: number }>({
    text: 'select count(*) as count from audits where difference is not null',
  })
  return row!.count
}

/** What each account should hold by the records of its money. */
export type Expected = { pending: number; held: number; unmatched: number }

/** One statement, so that all sums are of one moment. */
export async function expectedOf(tx: Tx, companyId: Uuid): Promise<Expected> {
  const [row] = await tx.query<Row & Expected>({
    text: `select
             (select coalesce(sum(c.amount - c.shortfall - coalesce((
                select sum(r.amount) from refunds r where r.company_id = $1
                  and r.charge_id = c.id and r.source = 'pending' and r.status <> 'FAILED'), 0)), 0)
              from charges c where c.company_id = $1 and c.payment_status = 'PAID' and c.booked
             )::int8 as pending,
             ((select coalesce(sum(value), 0) from withdrawals
               where company_id = $1 and status in ('PENDING_OTP', 'PROCESSING'))
              + (select coalesce(sum(amount), 0) from refunds
                 where company_id = $1 and status = 'PROCESSING' and booked))::int8 as held,
             (select coalesce(sum(amount - returned - settled), 0) from payments
              where company_id = $1 and status = 'UNMATCHED' and reason is not null and booked
             )::int8 as unmatched`,
    values: [companyId],
  })
  return row!
}

/** The period from the first to the last of some payments. */
export async function spanOfPayments(
  tx: Tx,
  companyId: Uuid,
  source: Source,
  ids: string[],
): Promise<Period | null> {
  const [row] = await tx.query<{ from: Date | null; to: Date }>({
    text: `select min(received_at) as from, max(received_at) + interval '1 millisecond' as to
           from payments
           where company_id = $1 and end_to_end_id = any ($2::text[]) and source = $3`,
    values: [companyId, ids, source],
  })
  return row?.from ? { from: row.from, to: row.to } : null
}
