import { integers, texts, timestamps } from '../../db/arrays.ts'
import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { SOURCE } from './count-store.ts'
import type { Movement, Part, Period, ProductSum, SubscriptionFigures } from './rules.ts'

/**
 * The last entry before each moment, of those that are counted. An hour ends with the greatest of
 * its rows, so only the entries of the hour of the moment are looked at one by one.
 */
export async function findEdges(tx: Tx, companyId: Uuid, at: Date[]): Promise<number[]> {
  const rows = await tx.query<{ entry: number }>({
    name: 'find_edges',
    text: `select coalesce(
             case when t.at > t.hour then (
               select p.entry - 1 from postings p
               where p.company_id = $1 and p.entry > coalesce(b.last, 0) and p.entry <= h.last
                 and p.created_at >= t.at
               order by p.entry limit 1) end,
             case when t.at > t.hour then h.last end, b.last, 0) as entry
           from (select at, date_trunc('hour', at, 'UTC') as hour, position
                 from unnest($2::timestamptz[]) with ordinality u (at, position)) t
           cross join lateral (select max(last_entry) from posting_sums
             where company_id = $1 and span = 'hour' and starts_at = (
               select starts_at from posting_sums
               where company_id = $1 and span = 'hour' and starts_at < t.hour
               order by starts_at desc limit 1)) b (last)
           cross join lateral (select max(last_entry) from posting_sums
             where company_id = $1 and span = 'hour' and starts_at = t.hour) h (last)
           order by t.position`,
    values: [companyId, timestamps(at)],
  })
  return rows.map(({ entry }) => entry)
}

/** A part of a period, and the number of the period. */
export type NumberedPart = Part & { position: number }
type Moved = Movement & { position: number }

/** What was moved in whole hours and days, by the number of the period. */
export async function sumSpans(tx: Tx, companyId: Uuid, parts: NumberedPart[]): Promise<Moved[]> {
  return tx.query<Row & Moved>({
    name: 'sum_postings',
    text: `select p.position, s.kind, s.debit, s.credit, s.source, sum(s.count)::int8 as count,
             sum(s.sum)::int8 as sum
           from unnest($2::int8[], $3::text[], $4::timestamptz[], $5::timestamptz[])
             p (position, span, from_at, to_at)
           join posting_sums s on s.company_id = $1 and s.span = p.span
             and s.starts_at >= p.from_at and s.starts_at < p.to_at
           group by 1, 2, 3, 4, 5`,
    values: [
      companyId,
      integers(parts.map(({ position }) => position)),
      texts(parts.map(({ span }) => span)),
      timestamps(parts.map(({ from }) => from)),
      timestamps(parts.map(({ to }) => to)),
    ],
  })
}

/** Entries after one and until another, and the number of their period. */
export type EntryRange = { position: number; before: number; last: number }

/** What was moved by the entries themselves. */
export async function sumEntries(tx: Tx, companyId: Uuid, ranges: EntryRange[]): Promise<Moved[]> {
  return tx.query<Row & Moved>({
    name: 'sum_entries',
    text: `select position, kind, debit, credit, source, count(*) as count, sum(amount)::int8 as sum
           from (
             select r.position, n.kind, n.debit, n.credit, n.amount, ${SOURCE} as source
             from unnest($2::int8[], $3::int8[], $4::int8[]) r (position, before, last)
             join postings n on n.company_id = $1 and n.entry > r.before and n.entry <= r.last
           ) n
           group by 1, 2, 3, 4, 5`,
    values: [
      companyId,
      integers(ranges.map(({ position }) => position)),
      integers(ranges.map(({ before }) => before)),
      integers(ranges.map(({ last }) => last)),
    ],
  })
}

/** The products that brought in most from one day to another. */
export async function sumProducts(
  tx: Tx,
  companyId: Uuid,
  [first, last]: [string, string],
  limit: number,
): Promise<ProductSum[]> {
  return tx.query<Row & ProductSum>({
    name: 'sum_products',
    text: `select s.product_id as "productId", coalesce(p.name, s.name) as name, s.quantity, s.sum
           from (select product_id, (array_agg(name order by day desc))[1] as name,
                   sum(quantity)::int8 as quantity, sum(sum)::int8 as sum
                 from product_sums where company_id = $1 and day >= $2 and day <= $3
                 group by 1 order by sum(sum) desc, 1 limit $4) s
           left join products p on p.company_id = $1 and p.id = s.product_id
           order by s.sum desc, s.product_id`,
    values: [companyId, first, last, limit],
  })
}

/** How many months a price is for. */
const MONTHLY = `case frequency when 'WEEKLY' then value * 52.0 / 12 when 'MONTHLY' then value
  when 'SEMIANNUAL' then value / 6.0 else value / 12.0 end`

/** A charge of a subscription that could not be collected is not spoken of any longer. */
const OVERDUE_DAYS = 30

export async function findSubscriptionFigures(
  tx: Tx,
  companyId: Uuid,
  { from, to }: Period,
  today: string,
): Promise<SubscriptionFigures> {
  const [row] = await tx.query<Row & SubscriptionFigures>({
    name: 'find_subscription_figures',
    text: `select a.mrr, a.active,
      (select count(*) from recurrences where company_id = $1 and first_on is not null
         and not is_template and created_at >= $2 and created_at < $3) as started,
      (select count(*) from recurrences where company_id = $1 and auth_status = 'CANCELED'
         and first_on is not null and not is_template
         and decided_at >= $2 and decided_at < $3) as canceled,
      (select count(distinct b.recurrence_id) from billings b
         join recurrences r on r.company_id = b.company_id and r.id = b.recurrence_id
         where b.company_id = $1 and b.status in ('PLANNED', 'SCHEDULED', 'FAILED')
           and b.due_on < $4::date and b.due_on >= $4::date - ${OVERDUE_DAYS}
           and r.auth_status = 'APPROVED'
           and not exists (select from billings p where p.company_id = b.company_id
             and p.recurrence_id = b.recurrence_id and p.cycle > b.cycle and p.status = 'PAID')
      ) as overdue
      from (select coalesce(round(sum(${MONTHLY})), 0)::int8 as mrr, count(*) as active
            from recurrences where company_id = $1 and auth_status = 'APPROVED'
              and not is_template) a`,
    values: [companyId, from, to, today],
  })
  return row!
}
