import { uuids } from '../db/arrays.ts'
import type { Tx } from '../db/database.ts'
import { assert } from '../lib/assert.ts'
import type { Uuid } from '../lib/ids.ts'
import { type Balance, type Books, EMPTY, enter } from './books.ts'
import { BOOKS, ENTRY } from './columns.ts'
import type { Posting } from './recipes.ts'
import { insertEntries, type RecipientEntry } from './recipients.ts'

/** Opens the books of a new company. */
export async function openBooks(tx: Tx, companyId: Uuid): Promise<void> {
  await tx.query({
    text: BOOKS.insertInto('balances'),
    values: BOOKS.values([{ companyId, ...EMPTY }]),
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
  const rows = await tx.query({
    name: `lock_books${skip && '_free'}`,
    text: `select ${BOOKS.names} from balances
           where company_id = any ($1::uuid[]) order by company_id for update ${skip}`,
    values: [companyIds],
  })
  return new Map(rows.map(BOOKS.read).map(({ companyId, ...books }) => [companyId, books]))
}

/**
 * The only writer of the ledger. The company's balance changes once, however many postings there
 * are. `parts` is what they change for recipients. Returns the books after them.
 */
export async function post(
  tx: Tx,
  companyId: Uuid,
  postings: Posting[],
  now: Date,
  locked?: Books,
  parts: RecipientEntry[] = [],
): Promise<Books | null> {
  assert(parts.length === 0 || locked, 'parts are entered while the books are locked')
  if (postings.length + parts.length === 0) return locked ?? null
  const before = locked ?? (await lockBooks(tx, companyId))
  const group = { companyId, postings, now, locked: before }
  const [books] = postings.length > 0 ? await postAll(tx, [group]) : [before]
  const of = { companyId, posted: books!.entries, createdAt: now }
  await insertEntries(
    tx,
    parts.map((part) => ({ ...part, ...of })),
  )
  return books!
}

/** Postings of a company, and its books, which are locked. */
type PostingGroup = { companyId: Uuid; postings: Posting[]; now: Date; locked: Books }

const POST = `with changed as (
    update balances b set ${BOOKS.without('companyId').assigned('c')}
    from unnest(${BOOKS.parameters(1)}) c (${BOOKS.names})
    where b.company_id = c.company_id
  )
  insert into postings (company_id, ${ENTRY.names})
  select * from unnest($${BOOKS.count + 1}::uuid[], ${ENTRY.parameters(BOOKS.count + 2)})`

/** Posts for several companies with one statement. Returns the books after it, in their order. */
export async function postAll(tx: Tx, groups: PostingGroup[]): Promise<Books[]> {
  if (groups.length === 0) return []
  const entered = groups.map(({ companyId, postings, now, locked }) => {
    const { entries, books } = enter(locked, postings)
    const own = entries.map((entry) => ({ ...entry, createdAt: now }))
    return { companyId, own, books }
  })
  await tx.query({
    name: 'post',
    text: POST,
    values: [
      ...BOOKS.values(entered.map(({ companyId, books }) => ({ companyId, ...books }))),
      uuids(entered.flatMap(({ companyId, own }) => own.map(() => companyId))),
      ...ENTRY.values(entered.flatMap(({ own }) => own)),
    ],
  })
  return entered.map(({ books }) => books)
}

/** A company's balance. Takes no lock. */
export async function readBalance(tx: Tx, companyId: Uuid): Promise<Balance> {
  const balance = (await readBalances(tx, [companyId])).get(companyId)
  assert(balance, 'a company has its books')
  return balance
}

/** The balances of companies. Takes no lock. */
export async function readBalances(tx: Tx, companyIds: Uuid[]): Promise<Map<Uuid, Balance>> {
  const rows = await tx.query({
    name: 'read_balances',
    text: `select ${BOOKS.names} from balances where company_id = any ($1::uuid[])`,
    values: [companyIds],
  })
  return new Map(rows.map(BOOKS.read).map(({ companyId, balance }) => [companyId, balance]))
}

/** How many entries the books of each company have. */
export const countEntries = (tx: Tx): Promise<{ companyId: Uuid; entries: number }[]> =>
  tx.query<{ companyId: Uuid; entries: number }>({
    text: 'select company_id as "companyId", entries from balances order by company_id',
  })
