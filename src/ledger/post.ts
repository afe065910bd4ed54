import { integers, texts, timestamps, uuids } from '../db/arrays.ts'
import type { Row, Tx } from '../db/database.ts'
import { assert } from '../lib/assert.ts'
import type { Uuid } from '../lib/ids.ts'
import { type Balance, type Books, type Entry, enter } from './books.ts'
import type { Posting } from './recipes.ts'

type BooksRow = Row & Balance & { entries: number }

const toBooks = ({ entries, available, pending, held, unmatched }: BooksRow): Books => ({
  entries,
  balance: { available, pending, held, unmatched },
})

/** Opens the books of a new company. */
export async function openBooks(tx: Tx, companyId: Uuid): Promise<void> {
  await tx.query({
    text: `insert into balances (company_id, entries, available, pending, held, unmatched)
           values ($1, 0, 0, 0, 0, 0)`,
    values: [companyId],
  })
}

/**
 * Locks a company's books: until the transaction ends, no other one moves its money. A command
 * locks them after its charges, refunds or withdrawals, so that two commands cannot wait for each
 * other.
 */
export async function lockBooks(tx: Tx, companyId: Uuid): Promise<Books> {
  const books = (await lockBooksOfMany(tx, [companyId], 'wait')).get(companyId)
  assert(books, 'a company has its books')
  return books
}

/**
 * Locks the books of companies in the order of their ids. With 'skip', leaves out those that
 * another transaction has locked.
 */
export async function lockBooksOfMany(
  tx: Tx,
  companyIds: Uuid[],
  whenLocked: 'wait' | 'skip',
): Promise<Map<Uuid, Books>> {
  const skip = whenLocked === 'skip' ? 'skip locked' : ''
  const rows = await tx.query<BooksRow & { company_id: Uuid }>({
    name: `lock_books${skip && '_free'}`,
    text: `select company_id, entries, available, pending, held, unmatched from balances
           where company_id = any ($1::uuid[]) order by company_id for update ${skip}`,
    values: [companyIds],
  })
  return new Map(rows.map((row) => [row.company_id, toBooks(row)]))
}

/**
 * The only writer of the ledger. The company's balance changes once, however many postings there
 * are. Returns the books after them.
 */
export async function post(
  tx: Tx,
  companyId: Uuid,
  postings: Posting[],
  now: Date,
  locked?: Books,
): Promise<Books | null> {
  if (postings.length === 0) return locked ?? null
  const before = locked ?? (await lockBooks(tx, companyId))
  const [books] = await postAll(tx, [{ companyId, postings, now, locked: before }])
  return books!
}

/** Postings of a company, and its books, which are locked. */
type PostingGroup = { companyId: Uuid; postings: Posting[]; now: Date; locked: Books }

/** Posts for several companies with one statement. Returns the books after it, in their order. */
export async function postAll(tx: Tx, groups: PostingGroup[]): Promise<Books[]> {
  if (groups.length === 0) return []
  const entered = groups.map(({ companyId, postings, now, locked }) => {
    const { entries, books } = enter(locked, postings)
    const own = entries.map((entry) => ({ ...entry, companyId, now }))
    return { companyId, entries: own, books }
  })
  const balances = entered.map(({ books }) => books)
  await tx.query({
    name: 'post',
    text: `with changed as (
             update balances b set entries = c.entries, available = c.available,
               pending = c.pending, held = c.held, unmatched = c.unmatched
             from unnest($1::uuid[], $2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::int8[])
               c (company_id, entries, available, pending, held, unmatched)
             where b.company_id = c.company_id
           )
           insert into postings (company_id, entry, kind, ref, debit, credit, amount, charge_id,
             available, pending, held, unmatched, created_at)
           select * from unnest($7::uuid[], $8::int8[], $9::text[], $10::text[], $11::text[],
             $12::text[], $13::int8[], $14::uuid[], $15::int8[], $16::int8[], $17::int8[],
             $18::int8[], $19::timestamptz[])`,
    values: [
      uuids(entered.map(({ companyId }) => companyId)),
      integers(balances.map(({ entries }) => entries)),
      integers(balances.map(({ balance }) => balance.available)),
      integers(balances.map(({ balance }) => balance.pending)),
      integers(balances.map(({ balance }) => balance.held)),
      integers(balances.map(({ balance }) => balance.unmatched)),
      ...entryColumns(entered.flatMap(({ entries }) => entries)),
    ],
  })
  return balances
}

const entryColumns = (entries: (Entry & { companyId: Uuid; now: Date })[]): Buffer[] => [
  uuids(entries.map(({ companyId }) => companyId)),
  integers(entries.map(({ entry }) => entry)),
  texts(entries.map(({ kind }) => kind)),
  texts(entries.map(({ ref }) => ref)),
  texts(entries.map(({ debit }) => debit)),
  texts(entries.map(({ credit }) => credit)),
  integers(entries.map(({ amount }) => amount)),
  uuids(entries.map(({ chargeId }) => chargeId)),
  integers(entries.map(({ balance }) => balance.available)),
  integers(entries.map(({ balance }) => balance.pending)),
  integers(entries.map(({ balance }) => balance.held)),
  integers(entries.map(({ balance }) => balance.unmatched)),
  timestamps(entries.map(({ now }) => now)),
]

/** A company's balance. Takes no lock. */
export async function readBalance(tx: Tx, companyId: Uuid): Promise<Balance> {
  const [row] = await tx.query<BooksRow>({
    name: 'read_balance',
    text: 'select entries, available, pending, held, unmatched from balances where company_id = $1',
    values: [companyId],
  })
  assert(row, 'a company has its books')
  return toBooks(row).balance
}

/** The balances of companies. Takes no lock. */
export async function readBalances(tx: Tx, companyIds: Uuid[]): Promise<Map<Uuid, Balance>> {
  const rows = await tx.query<BooksRow & { company_id: Uuid }>({
    text: `select company_id, entries, available, pending, held, unmatched from balances
           where company_id = any ($1::uuid[])`,
    values: [companyIds],
  })
  return new Map(rows.map((row) => [row.company_id, toBooks(row).balance]))
}
