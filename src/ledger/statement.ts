import { integers, texts } from '../db/arrays.ts'
import type { Row, Tx } from '../db/database.ts'
import type { Uuid } from '../lib/ids.ts'
import { type Balance, EMPTY } from './books.ts'
import { ENTRY, type StatementEntry } from './columns.ts'
import { ACCOUNTS, type Account, type Kind, MOVED_BY } from './recipes.ts'

export type StatementFilter = {
  limit: number
  /** The last entry of the page before. */
  after: number | null
  order: 'newest first' | 'oldest first'
  kind: Kind | null
  account: Account | null
  from: Date | null
  to: Date | null
}

/** Two entries may be in another order than their times, but never if they are so far apart. */
const OUT_OF_ORDER_MS = 3_600_000

/**
 * The first entry that is not before a time. Entries are numbered without a gap and nearly in the
 * order of their times, so that it is found by halving, however long the history is.
 */
async function firstSince(tx: Tx, companyId: Uuid, at: Date): Promise<number> {
  const [row] = await tx.query<{ entry: number }>({
    name: 'first_posting_since',
    text: `with recursive search (low, high) as (
             select 1::int8, entries + 1 from balances where company_id = $1
             union all
             select case when p.created_at < $2 then p.entry + 1 else s.low end,
               case when p.created_at < $2 then s.high else p.entry end
             from search s
             join postings p on p.company_id = $1 and p.entry = (s.low + s.high) / 2
             where s.low < s.high)
           select max(low) as entry from search`,
    values: [companyId, at],
  })
  return row!.entry
}

const shifted = (at: Date, by_ms: number): Date => new Date(at.getTime() + by_ms)

/** The entries of a company, from `from` until before `to`. */
export async function readStatement(
  tx: Tx,
  companyId: Uuid,
  filter: StatementFilter,
): Promise<StatementEntry[]> {
  const values: unknown[] = [companyId, filter.limit]
  const conditions = ['company_id = $1']
  const where = (condition: string, value: unknown) => {
    if (value !== null) conditions.push(condition.replaceAll('?', `$${values.push(value)}`))
  }
  const newestFirst = filter.order === 'newest first'
  where(newestFirst ? 'entry < ?' : 'entry > ?', filter.after)
  where('kind = ?', filter.kind)
  where('? in (debit, credit)', filter.account)
  where('created_at >= ?', filter.from)
  where('created_at < ?', filter.to)
  const { from, to } = filter
  const [first, end] = await Promise.all([
    from && firstSince(tx, companyId, shifted(from, -OUT_OF_ORDER_MS)),
    to && firstSince(tx, companyId, shifted(to, OUT_OF_ORDER_MS)),
  ])
  where('entry >= ?', first)
  where('entry < ?', end)
  const rows = await tx.query({
    text: `select ${ENTRY.names} from postings where ${conditions.join(' and ')}
           order by entry ${newestFirst ? 'desc' : 'asc'} limit $2`,
    values,
  })
  return rows.map(ENTRY.read)
}

/** The entries of some kinds with these references. */
export async function findPostings(
  tx: Tx,
  companyId: Uuid,
  kinds: Kind[],
  refs: string[],
): Promise<StatementEntry[]> {
  if (refs.length === 0) return []
  const rows = await tx.query({
    text: `select ${ENTRY.names} from postings
           where company_id = $1 and kind = any ($2::text[]) and ref = any ($3::text[])`,
    values: [companyId, kinds, refs],
  })
  return rows.map(ENTRY.read)
}

/** SQL: the last posting of a kind until entry `e` that knows an account. */
const lastOf = (account: Account, kind: Kind) =>
  `(select entry, ${account} from postings
    where company_id = $1 and kind = '${kind}' and entry <= e.entry and ${account} is not null
    order by entry desc limit 1)`

/**
 * SQL: what an account held after entry `e`. A posting that does not know it has not changed it.
 * There may be very many of these in a row, so the last one that moved it is found by its kind.
 */
function heldAfter(account: Account): string {
  const kinds: readonly Kind[] =
    (MOVED_BY as Partial<Record<Account, readonly Kind[]>>)[account] ?? []
  if (kinds.length === 0) return `coalesce(p.${account}, 0) as ${account}`
  const last = kinds.map((kind) => lastOf(account, kind)).join(' union all ')
  return `coalesce(p.${account},
    (select ${account} from (${last}) l order by entry desc limit 1), 0) as ${account}`
}

/** What the accounts held after each of these entries. Before the first one they held nothing. */
export async function balancesAt(
  tx: Tx,
  companyId: Uuid,
  entries: number[],
): Promise<Map<number, Balance>> {
  const rows = await tx.query<Row & Balance & { entry: number }>({
    name: 'balances_at',
    text: `select e.entry, ${ACCOUNTS.map(heldAfter).join(', ')}
           from unnest($2::int8[]) e (entry)
           join postings p on p.company_id = $1 and p.entry = e.entry`,
    values: [companyId, integers([...new Set(entries)])],
  })
  // Before the first entry there is nothing.
  const before = entries.map((entry): [number, Balance] => [entry, EMPTY.balance])
  const found = rows.map(({ entry, ...balance }): [number, Balance] => [entry, balance as Balance])
  return new Map([...before, ...found])
}

/** SQL: whether the payment with this id has arrived without paying a charge. */
export const arrivedUnmatched = (endToEndId: string): string =>
  `exists (select from postings a where a.company_id = $1 and a.kind = 'PAYMENT_UNMATCHED'
    and a.ref = ${endToEndId})`

type Waiting = { ref: string; amount: number }

/**
 * What arrived without paying a charge until an entry and was left of it then: how many, their sum
 * and the first of them, in the order of arrival. `used` are the kinds with the same reference, and
 * `moved` is what others have added. There may be very many, so only the first are read.
 */
export async function findWaiting(
  tx: Tx,
  companyId: Uuid,
  until: number,
  used: readonly Kind[],
  moved: Map<string, number>,
  max: number,
): Promise<{ count: number; sum: number; first: Waiting[] }> {
  const rows = await tx.query<Row & Waiting & { count: number; sum: number }>({
    text: `with waiting as (
             select a.entry, a.ref, a.amount + coalesce(m.sum, 0) + coalesce(sum(
               case when u.credit = 'unmatched' then u.amount else -u.amount end), 0) as amount
             from postings a
             left join postings u on u.company_id = $1 and u.ref = a.ref
               and u.kind = any ($3::text[]) and u.entry <= $2 and 'unmatched' in (u.debit, u.credit)
             left join unnest($4::text[], $5::int8[]) m (ref, sum) on m.ref = a.ref
             where a.company_id = $1 and a.kind = 'PAYMENT_UNMATCHED' and a.entry <= $2
             group by a.entry, a.ref, a.amount, m.sum)
           select ref, amount::int8 as amount, count(*) over () as count,
             (sum(amount) over ())::int8 as sum
           from waiting where amount > 0 order by entry limit $6`,
    values: [companyId, until, used, texts([...moved.keys()]), integers([...moved.values()]), max],
  })
  const first = rows.map(({ ref, amount }) => ({ ref, amount }))
  return { count: rows[0]?.count ?? 0, sum: rows[0]?.sum ?? 0, first }
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

/** What entered the bank by postings of these kinds and references. */
export async function sumReceipts(
  tx: Tx,
  companyId: Uuid,
  kinds: readonly Kind[],
  refs: string[],
): Promise<number> {
  const [row] = await tx.query<{ sum: number }>({
    text: `select coalesce(sum(amount), 0)::int8 as sum from postings
           where company_id = $1 and kind = any ($2::text[]) and ref = any ($3::text[])
             and debit = 'bank'`,
    values: [companyId, kinds, texts(refs)],
  })
  return row!.sum
}
