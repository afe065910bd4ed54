import type { Tx } from '../db/database.ts'
import type { Uuid } from '../lib/ids.ts'
import { ENTRY, type StatementEntry } from './columns.ts'
import type { Account, Kind } from './recipes.ts'
import { firstSince, OUT_OF_ORDER_MS } from './statement.ts'

/** Entries that follow each other, from `first` until before `end`. */
export type EntryRange = { first: number; end: number }

/**
 * The number of the first entry that was booked at or after a moment, or that of the next one. What
 * comes before it belongs to the time before the moment, also an entry that was booked a little out
 * of order, so that the entries of adjacent periods follow each other.
 */
async function boundary(tx: Tx, companyId: Uuid, at: Date): Promise<number> {
  const near = await firstSince(tx, companyId, new Date(at.getTime() - OUT_OF_ORDER_MS))
  const [row] = await tx.query<{ entry: number }>({
    name: 'first_posting_of_period',
    text: `select coalesce(
             (select entry from postings
              where company_id = $1 and entry >= $2 and created_at >= $3 order by entry limit 1),
             (select entries + 1 from balances where company_id = $1)) as entry`,
    values: [companyId, near, at],
  })
  return row!.entry
}

/** The entries of a period, from `from` until before `to`. */
export async function rangeOf(
  tx: Tx,
  companyId: Uuid,
  { from, to }: { from: Date; to: Date },
): Promise<EntryRange> {
  const [first, end] = await Promise.all([
    boundary(tx, companyId, from),
    boundary(tx, companyId, to),
  ])
  return { first, end: Math.max(first, end) }
}

/** What an account holds before an entry. */
export async function balanceBefore(
  tx: Tx,
  companyId: Uuid,
  account: Account,
  entry: number,
): Promise<number> {
  const [row] = await tx.query({
    text: `select ${ENTRY.names} from postings where company_id = $1 and entry = $2`,
    values: [companyId, entry - 1],
  })
  return row ? ENTRY.read(row).balance[account] : 0
}

/** Which movements of an account are looked for. */
export type MovementFilter = {
  account: Account
  range: EntryRange
  /** Null: of all kinds. */
  kinds: readonly Kind[] | null
}

/** Those that raise an account, and those that lower it: how many, and their sums in cents. */
export type MovementSums = { count: number; entered: number; left: number }

/** The sums of the movements of an account. Reads the entries of the range, and no others. */
export async function sumMovements(
  tx: Tx,
  companyId: Uuid,
  { account, range, kinds }: MovementFilter,
): Promise<MovementSums> {
  const [row] = await tx.query<MovementSums>({
    text: `select count(*)::int8 as count,
             coalesce(sum(amount) filter (where credit = $4), 0)::int8 as entered,
             coalesce(sum(amount) filter (where debit = $4), 0)::int8 as left
           from postings
           where company_id = $1 and entry >= $2 and entry < $3 and $4 in (debit, credit)
             and ($5::text[] is null or kind = any ($5))`,
    values: [companyId, range.first, range.end, account, kinds],
  })
  return row!
}

type Part = { order: 'newest first' | 'oldest first'; limit: number; after: number | null }

/**
 * The movements of an account. Each kind is a part of its own, because the index of the rare ones
 * has the entries of one kind in their order.
 */
export async function readMovements(
  tx: Tx,
  companyId: Uuid,
  { account, range, kinds }: MovementFilter,
  { order, limit, after }: Part,
): Promise<StatementEntry[]> {
  const isNewest = order === 'newest first'
  const first = isNewest ? range.first : Math.max(range.first, (after ?? 0) + 1)
  const end = isNewest ? Math.min(range.end, after ?? range.end) : range.end
  const values: unknown[] = [companyId, first, end, account, limit]
  const sorted = `order by entry ${isNewest ? 'desc' : 'asc'} limit $5`
  const part = (ofKind: string) =>
    `(select ${ENTRY.names} from postings
      where company_id = $1 and entry >= $2 and entry < $3 and $4 in (debit, credit) ${ofKind}
      ${sorted})`
  const parts = kinds?.map((kind) => part(`and kind = $${values.push(kind)}`)) ?? [part('')]
  const text = `${parts.join(' union all ')} ${parts.length > 1 ? sorted : ''}`
  return (await tx.query({ text, values })).map(ENTRY.read)
}
