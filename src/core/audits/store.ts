import type { Row, Tx } from '../../db/database.ts'
import { LAST_ENTRY } from '../../ledger/recipients.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Cents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import type { Period, Source } from '../../provider/port.ts'
import { type Income, incomeOf, receivedOf } from '../charges/rules.ts'
import type { GivenTo } from '../charges/split.ts'
import { TASK } from '../tasks.ts'

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

/**
 * The audit that is longest ago. For a company whose first audit fails, the first failure counts.
 * Null if there are none.
 */
export async function findOldestAudit(tx: Tx): Promise<Date | null> {
  const [row] = await tx.query<{ oldest: Date | null }>({
    text: `select least(
             (select min(audited_at) from audits),
             (select min(s.since) from setbacks s where s.task = $1 and not exists (
                select from audits a where a.company_id = s.company_id))) as oldest`,
    values: [TASK.audit],
  })
  return row!.oldest
}

/** What each account should hold by the records of its money. */
export type Expected = {
  pending: number
  held: number
  unmatched: number
  disputed: number
  recipients: number
}

/** One statement, so that all sums are of one moment. */
export async function expectedOf(tx: Tx, companyId: Uuid): Promise<Expected> {
  const [row] = await tx.query<Row & Expected>({
    text: `select
             (select coalesce(sum(c.amount + c.adjustment - c.shortfall - coalesce((
                select sum(r.amount) from refunds r where r.company_id = $1
                  and r.charge_id = c.id and r.source = 'pending' and r.status <> 'FAILED'), 0)
              - coalesce((
                select sum(d.held) from disputes d where d.company_id = $1
                  and d.charge_id = c.id and d.held > 0 and d.held_from = 'pending'), 0)), 0)
              from charges c where c.company_id = $1 and c.payment_status = 'PAID' and c.booked
             )::int8 as pending,
             ((select coalesce(sum(value), 0) from withdrawals
               where company_id = $1 and status in ('PENDING_OTP', 'PROCESSING'))
              + (select coalesce(sum(amount), 0) from refunds
                 where company_id = $1 and status = 'PROCESSING' and booked))::int8 as held,
             ((select coalesce(sum(amount - returned - settled), 0) from payments
               where company_id = $1 and status in ('UNMATCHED', 'DISPUTED')
                 and reason is not null and booked)
              - (select coalesce(sum(held), 0) from disputes
                 where company_id = $1 and held > 0 and held_from = 'unmatched')
             )::int8 as unmatched,
             (select coalesce(sum(held), 0) from disputes
              where company_id = $1 and held > 0)::int8 as disputed,
             (select coalesce(sum(greatest(e.balance, 0)), 0)
              from recipients r cross join lateral (${LAST_ENTRY}) e where r.company_id = $1
             )::int8 as recipients`,
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

/** The fields of a payment that the books must agree with. */
export type BookedPayment = {
  endToEndId: string
  amount: number
  returned: number
  chargeId: Uuid | null
  settledId: Uuid | null
  settled: number
  status: string
  booked: boolean
}

/** The fields of a charge that the books must agree with. */
export type BookedCharge = GivenTo & {
  id: Uuid
  /** What has arrived. */
  received: Cents
  income: Income
  staticCodeId: Uuid | null
}

/** The fields of a refund or a withdrawal that the books must agree with. */
export type BookedOrder = {
  id: Uuid
  amount: number
  /** How much of it was held for a dispute. */
  disputed: number
  chargeId: Uuid | null
  status: string
  /** Whether the bank has returned the money by itself. */
  isOfBank: boolean
  /** Whether it is a payout to a recipient. */
  toRecipient: boolean
}

/** The fields of a dispute that the books must agree with. */
export type BookedDispute = {
  id: Uuid
  hold: number
  released: number
  chargeId: Uuid | null
  isOver: boolean
}

const byId = <T extends { id: Uuid }>(rows: T[]) => new Map(rows.map((row) => [row.id, row]))

const PAYMENT = `select end_to_end_id as "endToEndId", amount, returned, charge_id as "chargeId",
  settled_charge_id as "settledId", settled, status, booked from payments`

export async function paymentsOf(
  tx: Tx,
  companyId: Uuid,
  source: Source,
  ids: string[],
): Promise<Map<string, BookedPayment>> {
  if (ids.length === 0) return new Map()
  const rows = await tx.query<Row & BookedPayment>({
    text: `${PAYMENT} where company_id = $1 and end_to_end_id = any ($2::text[]) and source = $3`,
    values: [companyId, ids, source],
  })
  return new Map(rows.map((row) => [row.endToEndId, row]))
}

/** Booked payments, in the order of their ids. */
export const listPayments = (
  tx: Tx,
  companyId: Uuid,
  after: string,
  limit: number,
): Promise<BookedPayment[]> =>
  tx.query<Row & BookedPayment>({
    text: `${PAYMENT} where company_id = $1 and end_to_end_id > $2 and booked
           order by end_to_end_id limit $3`,
    values: [companyId, after, limit],
  })

const CHARGE = `select id, amount, shortfall, due, refunded, split, status,
  end_to_end_id as "endToEndId", payment_status as "paymentStatus", booked, static_code_id as "staticCodeId",
  payment_date as "paymentDate"`

export async function chargesOf(
  tx: Tx,
  companyId: Uuid,
  ids: Uuid[],
): Promise<Map<Uuid, BookedCharge>> {
  if (ids.length === 0) return new Map()
  const rows = await tx.query<ChargeRow>({
    text: `${CHARGE} from charges where company_id = $1 and id = any ($2::uuid[])`,
    values: [companyId, ids],
  })
  return byId(rows.map(toCharge))
}

type PaidCharge = BookedCharge & { paymentDate: Date }
type ChargeRow = Row & Omit<PaidCharge, 'received' | 'income'>

const toCharge = (row: ChargeRow): PaidCharge => ({
  ...row,
  received: receivedOf(row),
  income: incomeOf(row),
})

/** Booked charges that were paid from a moment on, in the order of their payments. */
export async function listCharges(
  tx: Tx,
  companyId: Uuid,
  after: { paymentDate: Date; id: Uuid },
  limit: number,
): Promise<PaidCharge[]> {
  const rows = await tx.query<ChargeRow>({
    text: `${CHARGE} from charges
           where company_id = $1 and payment_date is not null and booked
             and (payment_date, id) > ($2::timestamptz, $3::uuid)
           order by payment_date, id limit $4`,
    values: [companyId, after.paymentDate, after.id, limit],
  })
  return rows.map(toCharge)
}

export async function refundsOf(
  tx: Tx,
  companyId: Uuid,
  ids: Uuid[],
): Promise<Map<Uuid, BookedOrder>> {
  if (ids.length === 0) return new Map()
  const rows = await tx.query<Row & BookedOrder>({
    text: `select id, amount, coalesce(disputed, 0) as disputed, charge_id as "chargeId", status,
             bank_reason is not null as "isOfBank", false as "toRecipient"
           from refunds
           where company_id = $1 and id = any ($2::uuid[]) and booked`,
    values: [companyId, ids],
  })
  return byId(rows)
}

export async function withdrawalsOf(
  tx: Tx,
  companyId: Uuid,
  ids: Uuid[],
): Promise<Map<Uuid, BookedOrder>> {
  if (ids.length === 0) return new Map()
  const rows = await tx.query<Row & BookedOrder>({
    text: `select id, value as amount, 0::int8 as disputed, null::uuid as "chargeId", status,
             false as "isOfBank", recipient_id is not null as "toRecipient"
           from withdrawals
           where company_id = $1 and id = any ($2::uuid[])`,
    values: [companyId, ids],
  })
  return byId(rows)
}

export async function disputesOf(
  tx: Tx,
  companyId: Uuid,
  ids: Uuid[],
): Promise<Map<Uuid, BookedDispute>> {
  if (ids.length === 0) return new Map()
  const rows = await tx.query<Row & BookedDispute>({
    text: `select id, hold, released, charge_id as "chargeId", closed_at is not null as "isOver"
           from disputes where company_id = $1 and id = any ($2::uuid[])`,
    values: [companyId, ids],
  })
  return byId(rows)
}
