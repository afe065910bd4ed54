import { texts } from '../../db/arrays.ts'
import type { Row, Tx } from '../../db/database.ts'
import type { Kind } from '../../ledger/recipes.ts'
import { arrivedUnmatched, findPostings, sumReceipts } from '../../ledger/statement.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Sum } from '../figures/rules.ts'
import type { Closing, Month } from './rules.ts'

const RECEIPTS: Kind[] = ['CHARGE_PAID', 'FINE_PAID', 'INTEREST_PAID', 'PAYMENT_UNMATCHED']

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

export type Order = { id: Uuid; endToEndId: string }

/** The refunds of payments with what banks have returned of them, or their disputes. */
export async function findOrders(
  tx: Tx,
  companyId: Uuid,
  table: 'refunds' | 'disputes',
  endToEndIds: string[],
): Promise<Order[]> {
  return tx.query<Row & Order>({
    text: `select id, end_to_end_id as "endToEndId" from ${table}
           where company_id = $1 and end_to_end_id = any ($2::text[])`,
    values: [companyId, texts(endToEndIds)],
  })
}

/** The same of all payments that arrived without paying a charge. */
export async function findOrdersOfUnmatched(
  tx: Tx,
  companyId: Uuid,
  table: 'refunds' | 'disputes',
): Promise<Order[]> {
  return tx.query<Row & Order>({
    text: `select id, end_to_end_id as "endToEndId" from ${table} o
           where company_id = $1 and ${arrivedUnmatched('o.end_to_end_id')}`,
    values: [companyId],
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

/**
 * When payments were received that paid no charge, and why they did not. If the bank has named the
 * charge later, the payment has no reason any more: only what nobody knew is named later.
 */
export async function findReasons(
  tx: Tx,
  companyId: Uuid,
  endToEndIds: string[],
): Promise<Map<string, { receivedAt: Date; reason: string }>> {
  const rows = await tx.query<{ id: string; received_at: Date; reason: string }>({
    text: `select end_to_end_id as id, received_at, coalesce(reason, 'UNKNOWN') as reason
           from payments
           where company_id = $1 and end_to_end_id = any ($2::text[]) and booked`,
    values: [companyId, texts(endToEndIds)],
  })
  return new Map(
    rows.map(({ id, received_at, reason }) => [id, { receivedAt: received_at, reason }]),
  )
}

/** A payment that the bank has received in a month, and that was booked later. */
export type LateReceipt = {
  endToEndId: string
  chargeId: Uuid | null
  receivedAt: Date
  bookedAt: Date
  amount: number
}

/** How many there are, and their sum with fines and interest. */
export async function sumLateReceipts(tx: Tx, companyId: Uuid, month: Month): Promise<Sum> {
  const rows = await tx.query<{ ref: string }>({
    text: 'select end_to_end_id as ref from late_receipts where company_id = $1 and month = $2',
    values: [companyId, firstOf(month)],
  })
  const refs = rows.map(({ ref }) => ref)
  return { count: refs.length, sum: await sumReceipts(tx, companyId, RECEIPTS, refs) }
}

/** In the order in which they were booked, each with its fine and interest. */
export async function findLateReceipts(
  tx: Tx,
  companyId: Uuid,
  month: Month,
  max: number,
): Promise<LateReceipt[]> {
  const late = await tx.query<Row & { entry: number; endToEndId: string; receivedAt: Date }>({
    text: `select entry, end_to_end_id as "endToEndId", received_at as "receivedAt"
           from late_receipts where company_id = $1 and month = $2 order by entry limit $3`,
    values: [companyId, firstOf(month), max],
  })
  const ids = late.map(({ endToEndId }) => endToEndId)
  const postings = await findPostings(tx, companyId, RECEIPTS, ids)
  const byPayment = Map.groupBy(
    postings.filter(({ debit }) => debit === 'bank'),
    ({ ref }) => ref,
  )
  return late.map(({ entry, endToEndId, receivedAt }) => {
    const own = byPayment.get(endToEndId)!
    const first = own.find((one) => one.entry === entry)!
    const amount = own.reduce((sum, one) => sum + one.amount, 0)
    const { chargeId, createdAt: bookedAt } = first
    const isPaid = first.kind === 'CHARGE_PAID'
    return { endToEndId, chargeId: isPaid ? chargeId : null, receivedAt, bookedAt, amount }
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
