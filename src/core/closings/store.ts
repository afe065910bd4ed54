import { texts } from '../../db/arrays.ts'
import type { Row, Tx } from '../../db/database.ts'
import type { Account, Kind } from '../../ledger/recipes.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Closing, Month } from './rules.ts'

const firstOf = (month: Month): string => `${month}-01`

/** The months of a company that are closed. */
export async function findClosings(
  tx: Tx,
  companyId: Uuid,
  months: Month[],
): Promise<Map<Month, Closing>> {
  const rows = await tx.query<{ month: string; record: Closing }>({
    text: `select to_char(month, 'YYYY-MM') as month, record from closings
           where company_id = $1 and month = any ($2::date[])`,
    values: [companyId, months.map(firstOf)],
  })
  return new Map(rows.map(({ month, record }) => [month, record]))
}

export async function findLastClosed(tx: Tx, companyId: Uuid): Promise<Month | null> {
  const [row] = await tx.query<{ month: string }>({
    text: `select to_char(month, 'YYYY-MM') as month from closings
           where company_id = $1 order by closings.month desc limit 1`,
    values: [companyId],
  })
  return row?.month ?? null
}

export async function insertClosing(
  tx: Tx,
  companyId: Uuid,
  month: Month,
  closing: Closing,
  now: Date,
): Promise<void> {
  await tx.query({
    text: `insert into closings (company_id, month, last_entry, record, closed_at)
           values ($1, $2, $3, $4, $5)`,
    values: [companyId, firstOf(month), closing.last, JSON.stringify(closing), now],
  })
}

/** What arrived without paying a charge until an entry, in the order of arrival. */
export async function findUnmatchedArrivals(
  tx: Tx,
  companyId: Uuid,
  until: number,
): Promise<{ ref: string; amount: number }[]> {
  return tx.query<Row & { ref: string; amount: number }>({
    text: `select ref, amount from postings
           where company_id = $1 and kind = 'PAYMENT_UNMATCHED' and entry <= $2 order by entry`,
    values: [companyId, until],
  })
}

/** What postings of these kinds and references have added to an account until an entry. */
export async function sumByRef(
  tx: Tx,
  companyId: Uuid,
  account: Account,
  kinds: readonly Kind[],
  refs: string[],
  until: number,
): Promise<Map<string, number>> {
  if (refs.length === 0) return new Map()
  const rows = await tx.query<{ ref: string; sum: number }>({
    text: `select ref, sum(case when credit = $2 then amount else -amount end)::int8 as sum
           from postings
           where company_id = $1 and kind = any ($3::text[]) and ref = any ($4::text[])
             and entry <= $5 and $2 in (debit, credit)
           group by 1`,
    values: [companyId, account, kinds, texts(refs), until],
  })
  return new Map(rows.map(({ ref, sum }) => [ref, sum]))
}

type Order = { id: Uuid; endToEndId: string }

/** The refunds of payments, and what banks have returned of them. */
export async function findRefundsOf(
  tx: Tx,
  companyId: Uuid,
  endToEndIds: string[],
): Promise<Order[]> {
  return tx.query<Row & Order>({
    text: `select id, end_to_end_id as "endToEndId" from refunds
           where company_id = $1 and end_to_end_id = any ($2::text[])`,
    values: [companyId, texts(endToEndIds)],
  })
}

export async function findDisputesOf(
  tx: Tx,
  companyId: Uuid,
  endToEndIds: string[],
): Promise<Order[]> {
  return tx.query<Row & Order>({
    text: `select id, end_to_end_id as "endToEndId" from disputes
           where company_id = $1 and end_to_end_id = any ($2::text[])`,
    values: [companyId, texts(endToEndIds)],
  })
}

type Dispute = Order & { amount: number; openedAt: Date; createdAt: Date; closedAt: Date | null }

/** Disputes that were recorded before a moment, the oldest first. */
export async function findDisputesBefore(
  tx: Tx,
  companyId: Uuid,
  before: Date,
): Promise<Dispute[]> {
  return tx.query<Row & Dispute>({
    text: `select id, end_to_end_id as "endToEndId", amount, opened_at as "openedAt",
             created_at as "createdAt", closed_at as "closedAt"
           from disputes where company_id = $1 and created_at < $2 order by id`,
    values: [companyId, before],
  })
}

/** When payments were received that paid no charge, and why they did not. */
export async function findReasons(
  tx: Tx,
  companyId: Uuid,
  endToEndIds: string[],
): Promise<Map<string, { receivedAt: Date; reason: string }>> {
  const rows = await tx.query<{ id: string; received_at: Date; reason: string }>({
    text: `select end_to_end_id as id, received_at, reason from payments
           where company_id = $1 and end_to_end_id = any ($2::text[]) and reason is not null
             and booked`,
    values: [companyId, texts(endToEndIds)],
  })
  return new Map(
    rows.map(({ id, received_at, reason }) => [id, { receivedAt: received_at, reason }]),
  )
}

/** A payment that the bank has received in a month, and that was booked later. */
export type LateReceipt = {
  entry: number
  endToEndId: string
  chargeId: Uuid | null
  receivedAt: Date
  bookedAt: Date
  amount: number
}

/** Each with its fine and interest, in the order in which they were booked. */
export async function findLateReceipts(
  tx: Tx,
  companyId: Uuid,
  month: Month,
  max: number,
): Promise<LateReceipt[]> {
  return tx.query<Row & LateReceipt>({
    text: `select l.entry, p.ref as "endToEndId", p.charge_id as "chargeId",
             l.received_at as "receivedAt", p.created_at as "bookedAt", (
               select sum(s.amount)::int8 from postings s
               where s.company_id = $1 and s.ref = p.ref and s.debit = 'bank'
                 and s.kind in ('CHARGE_PAID', 'FINE_PAID', 'INTEREST_PAID', 'PAYMENT_UNMATCHED')
             ) as amount
           from late_receipts l
           join postings p on p.company_id = l.company_id and p.entry = l.entry
           where l.company_id = $1 and l.month = $2
           order by l.entry limit $3`,
    values: [companyId, firstOf(month), max],
  })
}

/** All that are closed, to compare them with the postings. */
export async function findClosed(
  tx: Tx,
  companyId: Uuid,
): Promise<{ month: Month; record: Closing }[]> {
  return tx.query<Row & { month: Month; record: Closing }>({
    text: `select to_char(month, 'YYYY-MM') as month, record from closings
           where company_id = $1 order by closings.month desc`,
    values: [companyId],
  })
}
