import { integers, texts, timestamps } from '../db/arrays.ts'
import type { Row, Tx } from '../db/database.ts'
import type { Uuid } from '../lib/ids.ts'
import { ZONE } from '../pix/local-time.ts'
import type { Posting } from './recipes.ts'

/**
 * Where received money came from: the kind of the charge that it paid when it arrived. UNMATCHED: a
 * Pix that paid no charge when it arrived, whatever was decided about it later.
 */
export const SOURCES = ['PIX', 'LINK', 'STATIC', 'RECURRING', 'UNMATCHED'] as const
export type Source = (typeof SOURCES)[number]

/** Postings of one kind between two accounts. Those that are no receipt have no source. */
export type Movement = Pick<Posting, 'kind' | 'debit' | 'credit'> & {
  source: Source | ''
  count: number
  sum: number
}

/**
 * The number of a company's last posting. They are numbered without a gap under a lock, so whoever
 * sees it sees all before it.
 */
export async function readLastEntry(tx: Tx, companyId: Uuid): Promise<number> {
  const [row] = await tx.query<{ entries: number }>({
    name: 'read_last_entry',
    text: 'select entries from balances where company_id = $1',
    values: [companyId],
  })
  return row?.entries ?? 0
}

/** Some postings of a company, and the moment after which no earlier one is counted. */
export type Range = { after: number; until: number; latest: Date | null }

export const valuesOf = (companyId: Uuid, { after, until, latest }: Range) => [
  companyId,
  after,
  until,
  latest,
]

/** SQL: postings `n`, each with the moment that it counts at. */
export const NUMBERED = `select *, greatest($4::timestamptz, max(created_at) over (order by entry)) as at
  from postings where company_id = $1 and entry > $2 and entry <= $3`

/** SQL: the kind of the charge that a posting `n` pays. */
const KIND_OF_CHARGE = `(select c.kind from charges c
  where c.company_id = n.company_id and c.id = n.charge_id)`

/**
 * SQL: where the money of a posting `n` came from. A Pix that names no charge and settles one by a
 * rule is unmatched only for a moment: the next posting, of the same moment, pays the charge.
 */
const SOURCE = `case
  when n.debit <> 'bank' or n.kind = 'OPENING' then ''
  when n.kind = 'PAYMENT_UNMATCHED' then coalesce((
    select c.kind from postings s
    join charges c on c.company_id = s.company_id and c.id = s.charge_id
    where s.company_id = n.company_id and s.entry = n.entry + 1 and s.kind = 'CHARGE_PAID'
      and s.ref = n.ref and s.created_at = n.created_at), 'UNMATCHED')
  else coalesce(${KIND_OF_CHARGE}, 'UNMATCHED') end`

const ADD_POSTINGS = `with named as materialized (
    select n.*, ${SOURCE} as source from (${NUMBERED}) n
  ), added as materialized (
    select company_id, s.span, s.starts_at, kind, debit, credit, source, count(*), sum(amount),
      max(entry)
    from named cross join lateral (values
      ('hour', date_trunc('hour', at, 'UTC')), ('day', date_trunc('day', at, '${ZONE}'))
    ) s (span, starts_at)
    group by 1, 2, 3, 4, 5, 6, 7
  ), counted as (
    insert into posting_sums as t
      (company_id, span, starts_at, kind, debit, credit, source, count, sum, last_entry)
    select * from added
    on conflict (company_id, span, starts_at, kind, debit, credit, source) do update set
      count = t.count + excluded.count, sum = t.sum + excluded.sum,
      last_entry = excluded.last_entry
  )
  select max(at) as latest from named`

/** Adds postings to their hours and days. Returns the moment that the last of them counts at. */
export async function addPostings(tx: Tx, companyId: Uuid, range: Range): Promise<Date> {
  const [row] = await tx.query<{ latest: Date }>({
    name: 'add_postings',
    text: ADD_POSTINGS,
    values: valuesOf(companyId, range),
  })
  return row!.latest
}

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

/** A part of a period that is whole hours or days, and the number of the period. */
export type SpanOfPeriod = { position: number; span: string; from: Date; to: Date }
type Moved = Movement & { position: number }

/** What was moved in whole hours and days, by the number of the period. */
export async function sumSpans(tx: Tx, companyId: Uuid, parts: SpanOfPeriod[]): Promise<Moved[]> {
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
