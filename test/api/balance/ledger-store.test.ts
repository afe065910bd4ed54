import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Tx, violatedConstraint } from '../../../src/db/database.ts'
import { EMPTY, type Entry, enter } from '../../../src/ledger/books.ts'
import { lockBooks, post } from '../../../src/ledger/post.ts'
import {
  ACCOUNTS,
  chargePaid,
  disputeHeld,
  type Posting,
  paymentUnmatched,
  splitSettled,
  withdrawalHeld,
  withdrawalPaid,
} from '../../../src/ledger/recipes.ts'
import { balancesAt, readStatement } from '../../../src/ledger/statement.ts'
import type { Uuid } from '../../../src/lib/ids.ts'
import { toCents } from '../../../src/lib/money.ts'
import { startApi } from '../../support/api.ts'

const WRITERS = 16
const api = await startApi({ DATABASE_POOL_SIZE: String(WRITERS) })

const makeCompany = async (): Promise<Uuid> => (await api.client()).company.id

const book = (companyId: Uuid, ...postings: Posting[]) =>
  api.app.db.transaction((tx) => post(tx, companyId, postings, api.clock.now()))

const paid = (endToEndId: string, amount = 1990): Posting =>
  chargePaid({ endToEndId, amount: toCents(amount), chargeId: null })

const order = (ref: string, amount: number) => ({ ref, amount: toCents(amount) })

/** Everything in the books of a company, as text, so that any difference is seen. */
async function booksOf(companyId: Uuid): Promise<string> {
  const rows = await api.rows(
    `select to_jsonb(b) as balance,
       (select jsonb_agg(p order by entry) from postings p where p.company_id = b.company_id) as all
     from balances b where b.company_id = $1`,
    [companyId],
  )
  return JSON.stringify(rows)
}

function entriesOf(companyId: Uuid) {
  const all = { kind: null, account: null, from: null, to: null, after: null } as const
  return readStatement(api.app.db, companyId, { ...all, limit: 100_000, order: 'oldest first' })
}

test('postings are never changed or deleted, not even by hand', async () => {
  const companyId = await makeCompany()
  await book(companyId, paid('E1'))
  const before = await booksOf(companyId)
  const attempts = [
    'update postings set amount = amount + 1 where company_id = $1',
    'update postings set created_at = created_at where company_id = $1 and entry = 2',
    'delete from postings where company_id = $1',
  ]
  for (const text of attempts) {
    await assert.rejects(api.rows(text, [companyId]), /never changed or deleted/, text)
  }
  await assert.rejects(api.rows('truncate postings'), /never changed or deleted/)
  assert.equal(await booksOf(companyId), before)
})

const isBookedTwice = (error: unknown) => violatedConstraint(error) === 'postings_once'

test('a company books a kind once for each reference', async () => {
  const [companyId, other] = [await makeCompany(), await makeCompany()]
  await book(companyId, paid('E1'))
  const before = await booksOf(companyId)
  const twice = isBookedTwice
  await assert.rejects(book(companyId, paid('E1')), twice)
  await assert.rejects(book(companyId, paid('E1', 1)), twice, 'in another amount')
  await assert.rejects(book(companyId, paid('E2'), paid('E3'), paid('E2')), twice, 'in one batch')
  assert.equal(await booksOf(companyId), before, 'and nothing of the attempt remains')
  await book(companyId, paymentUnmatched({ endToEndId: 'E1', amount: toCents(1), chargeId: null }))
  await book(other, paid('E1'))
})

test('what would go below zero is refused before it is written, and nothing remains', async () => {
  const companyId = await makeCompany()
  const before = await booksOf(companyId)
  const spend = [withdrawalHeld(order('wd_1', 60_000)), withdrawalHeld(order('wd_2', 60_000))]
  await assert.rejects(book(companyId, ...spend), /available account never goes below zero/)
  await assert.rejects(book(companyId, withdrawalPaid(order('wd_3', 1))), /held account never goes/)
  assert.equal(await booksOf(companyId), before)
})

test('the database itself refuses what no books can hold', async () => {
  const companyId = await makeCompany()
  const before = await booksOf(companyId)
  const unsafe = String(2n ** 53n)
  for (const account of ACCOUNTS) {
    // What a bank returns by itself may leave less than nothing available.
    for (const value of [account === 'available' ? `-${unsafe}` : '-1', unsafe]) {
      const text = `update balances set ${account} = ${value} where company_id = $1`
      await assert.rejects(api.rows(text, [companyId]), { code: '23514' }, text)
    }
    if (account !== 'available') await refused(companyId, { [account]: '-1' })
  }
  await refused(companyId, { debit: `'available'`, credit: `'held'`, available: '-1' })
  await refused(companyId, { amount: '0' })
  await refused(companyId, { amount: '-1990' })
  await refused(companyId, { credit: `'bank'` })
  await refused(companyId, { debit: `'pocket'` })
  await refused(companyId, { credit: `'Available'` })
  await refused(companyId, { entry: '0' })
  await refused(companyId, { entry: '1' }, '23505')
  await assert.rejects(api.rows('delete from companies where id = $1', [companyId]), {
    code: '23503',
  })
  assert.equal(await booksOf(companyId), before)
})

/** Writes a posting by hand that is right but for some of its columns. */
async function refused(companyId: Uuid, wrong: Record<string, string>, code = '23514') {
  const right = {
    entry: '2',
    kind: `'CHARGE_PAID'`,
    ref: `'E1'`,
    debit: `'bank'`,
    credit: `'pending'`,
    amount: '1',
    available: '100000',
    pending: '1',
    held: '0',
    unmatched: '0',
  }
  const columns = Object.entries({ ...right, ...wrong, created_at: 'now()' })
  const text = `insert into postings (company_id, ${columns.map(([name]) => name)})
    values ($1, ${columns.map(([, value]) => value)})`
  await assert.rejects(api.rows(text, [companyId]), { code }, JSON.stringify(wrong))
}

test('however many postings, the balance row changes once; without any it is not touched', async () => {
  const companyId = await makeCompany()
  await api.app.db.transaction(async (tx) => {
    const counted = await updatesOfBalances(tx)
    assert.equal(await post(tx, companyId, [], api.clock.now()), null)
    assert.equal(await updatesOfBalances(tx), counted)
    const postings = Array.from({ length: 500 }, (_, i) => paid(`E${i}`, i + 1))
    const books = await post(tx, companyId, postings, api.clock.now())
    assert.equal(await updatesOfBalances(tx), counted + 1)
    const balance = { ...EMPTY.balance, available: 100_000, pending: 125_250 }
    assert.deepEqual(books, { entries: 501, balance })
    assert.deepEqual(await lockBooks(tx, companyId), books)
  })
  assert.equal((await entriesOf(companyId)).length, 501)
})

/** Postings of the version before, which leave out the accounts that it does not know. */
const postOfBefore = (companyId: Uuid, count: number) =>
  api.rows(
    `with last as (
       update balances set entries = entries + $2, pending = pending + $2
       where company_id = $1 returning *
     )
     insert into postings (company_id, entry, kind, ref, debit, credit, amount, available, pending,
       held, unmatched, created_at)
     select company_id, entries - $2 + i, 'CHARGE_PAID', 'Eold' || entries - $2 + i, 'bank',
       'pending', 1, available, pending - $2 + i, held, unmatched, now()
     from last, generate_series(1, $2::int8) i`,
    [companyId, count],
  )

test('balances after many postings of the version before are found by reading only a few', async () => {
  const companyId = await makeCompany()
  const count = 5000
  const disputed = disputeHeld(order('dispute_1', 300), 'available')
  const divided = splitSettled({ endToEndId: 'E2', amount: toCents(200), chargeId: null })
  const paidOut = withdrawalHeld(order('wd_1', 50), 'recipients')
  await postOfBefore(companyId, count)
  await book(companyId, paid('E2', 500), disputed, divided, paidOut)
  await postOfBefore(companyId, count)
  await api.rows('analyze postings')
  await api.app.db.transaction(async (tx) => {
    const entries = [0, 1, count, count + 3, count + 5, 2 * count + 5]
    const readBefore = await readsOfPostings(tx)
    const balances = await balancesAt(tx, companyId, entries)
    const read = (await readsOfPostings(tx)) - readBefore
    assert.ok(read < 100, `${read} postings were read`)
    const found = entries.map((entry) => balances.get(entry)!)
    assert.deepEqual(
      found.map(({ disputed, recipients }) => [disputed, recipients]),
      [
        [0, 0],
        [0, 0],
        [0, 0],
        [300, 0],
        [300, 150],
        [300, 150],
      ],
    )
    assert.equal(found.at(-1)!.pending, 2 * count + 300)
  })
})

/** How many postings this connection has read of late. */
async function readsOfPostings(tx: Tx): Promise<number> {
  await tx.query({ text: 'set local citus.override_table_visibility = off' })
  const text = `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as count
    from pg_stat_xact_user_tables where relname ~ '^postings(_[0-9]+)?$'`
  const [row] = await tx.query<{ count: number }>({ text })
  return row!.count
}

/** How many rows of balances this connection has updated of late. */
async function updatesOfBalances(tx: Tx): Promise<number> {
  // Citus keeps rows in a table whose name ends with a number, and does not show it.
  await tx.query({ text: 'set local citus.override_table_visibility = off' })
  const text = `select sum(n_tup_upd)::int as count from pg_stat_xact_user_tables
    where relname ~ '^balances(_[0-9]+)?$'`
  const [row] = await tx.query<{ count: number }>({ text })
  return row!.count
}

/** One of many who move money at once: payments come in, withdrawals leave, repeats are refused. */
async function write(companyId: Uuid, writer: number): Promise<void> {
  for (let round = 0; round < 10; round++) {
    const ref = `${writer}-${round}`
    const out = order(`wd_${ref}`, 100)
    await book(companyId, paid(`E${ref}`, writer + 1), withdrawalHeld(out))
    await book(companyId, withdrawalPaid(out))
    await assert.rejects(book(companyId, paid(`E${ref}`)), isBookedTwice)
  }
}

test('under 16 parallel writers entries have no gap, and each goes on from the one before', async () => {
  const [companyId, other] = [await makeCompany(), await makeCompany()]
  const writers = Array.from({ length: WRITERS }, (_, writer) => writer)
  await Promise.all(writers.flatMap((i) => [write(companyId, i), write(other, i)]))
  for (const id of [companyId, other]) {
    const entries = await entriesOf(id)
    assert.equal(entries.length, 1 + WRITERS * 10 * 3)
    const { entries: exact, books } = enter(EMPTY, entries.map(toPosting))
    assert.deepEqual(entries.map(withoutTime), exact)
    assert.deepEqual(books.balance, {
      available: 84_000,
      pending: 1360,
      held: 0,
      unmatched: 0,
      disputed: 0,
      recipients: 0,
    })
    assert.deepEqual(await api.app.db.transaction((tx) => lockBooks(tx, id)), books)
  }
})

const withoutTime = ({ createdAt: _, ...entry }: Entry & { createdAt: Date }): Entry => entry
const toPosting = ({ kind, ref, debit, credit, amount, chargeId }: Entry): Posting => ({
  kind,
  ref,
  debit,
  credit,
  amount,
  chargeId,
})
