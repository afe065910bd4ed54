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
  const [row] = await tx.query<BooksRow>({
    name: 'lock_books',
    text: `select entries, available, pending, held, unmatched from balances
           where company_id = $1 for update`,
    values: [companyId],
  })
  assert(row, 'a company has its books')
  return toBooks(row)
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
  const { entries, books } = enter(before, postings)
  await tx.query({
    name: 'post',
    text: `with changed as (
             update balances set entries = $2, available = $3, pending = $4, held = $5,
               unmatched = $6
             where company_id = $1
           )
           insert into postings (company_id, entry, kind, ref, debit, credit, amount, charge_id,
             available, pending, held, unmatched, created_at)
           select * from unnest($7::uuid[], $8::int8[], $9::text[], $10::text[], $11::text[],
             $12::text[], $13::int8[], $14::uuid[], $15::int8[], $16::int8[], $17::int8[],
             $18::int8[], $19::timestamptz[])`,
    values: [
      companyId,
      books.entries,
      books.balance.available,
      books.balance.pending,
      books.balance.held,
      books.balance.unmatched,
      ...entryColumns(companyId, entries, now),
    ],
  })
  return books
}

const entryColumns = (companyId: Uuid, entries: Entry[], now: Date): Buffer[] => [
  uuids(entries.map(() => companyId)),
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
  timestamps(entries.map(() => now)),
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
