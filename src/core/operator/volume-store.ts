import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'

/** What live companies have received on a day, as far as it is counted: audits count it. */
export type DayVolume = { at: Date; count: number; sum: number }

/** Companies in production by what they do. A place has each of its companies alone. */
export type CompanyCounts = {
  live: number
  /** Created since the start of the period, and in the period before. */
  new: number
  newBefore: number
  /** Have received something in the period, and in the period before. */
  active: number
  activeBefore: number
  /** Have received something in the period, and nothing since `quietSince`. */
  quiet: number
}

/** Receipts of live companies by the day. The play money of sandboxes is left out. */
const RECEIVED = `posting_sums s join companies c on c.id = s.company_id and c.mode = 'live'
  where s.span = 'day' and s.debit = 'bank' and s.kind <> 'OPENING' and s.starts_at >= $1`

export const readVolume = (tx: Tx, from: Date): Promise<DayVolume[]> =>
  tx.query<Row & DayVolume>({
    text: `select s.starts_at as at, sum(s.count)::int8 as count, sum(s.sum)::int8 as sum
           from ${RECEIVED} group by s.starts_at`,
    values: [from],
  })

export async function countCompanies(
  tx: Tx,
  { before, from, quietSince }: { before: Date; from: Date; quietSince: Date },
): Promise<CompanyCounts> {
  const [row] = await tx.query<Row & CompanyCounts>({
    // Citus takes no subquery over tables of all companies among the columns.
    text: `select * from (
             select count(*) as live, count(*) filter (where created_at >= $2) as new,
               count(*) filter (where created_at >= $1 and created_at < $2) as "newBefore"
             from companies where mode = 'live') c
           cross join (
             select count(*) filter (where last >= $2) as active,
               count(*) filter (where first < $2) as "activeBefore",
               count(*) filter (where last >= $2 and last < $3) as quiet
             from (select min(s.starts_at) as first, max(s.starts_at) as last
                   from ${RECEIVED} group by s.company_id) r) a`,
    values: [before, from, quietSince],
  })
  return row!
}

export type QuietCompany = { id: Uuid; name: string; lastDay: Date }

/** Companies that have stopped receiving, those that did so last first. */
export const listQuiet = (
  tx: Tx,
  { from, quietSince }: { from: Date; quietSince: Date },
  limit: number,
): Promise<QuietCompany[]> =>
  tx.query<Row & QuietCompany>({
    text: `select c.id, c.name, max(s.starts_at) as "lastDay" from ${RECEIVED}
           group by c.id, c.name having max(s.starts_at) < $2
           order by max(s.starts_at) desc, c.id limit $3`,
    values: [from, quietSince, limit],
  })
