import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { toCents } from '../lib/money.ts'
import { type Balance, EMPTY, effectOn, enter } from './books.ts'
import { ACCOUNTS, type Posting } from './recipes.ts'

const SIDES = ['bank', ...ACCOUNTS] as const

const posting = (fields: Partial<Posting> = {}): Posting => ({
  kind: 'OPENING',
  ref: 'x',
  debit: 'bank',
  credit: 'available',
  chargeId: null,
  amount: toCents(1000),
  ...fields,
})

test('a credit raises what we owe, a debit lowers it, and other accounts stay as they are', () => {
  const moved = posting({ debit: 'pending', credit: 'held', amount: toCents(250) })
  assert.deepEqual(
    ACCOUNTS.map((account) => effectOn(account, moved)),
    ACCOUNTS.map((account) => ({ pending: -250, held: 250 })[account as string] ?? 0),
  )
})

test('entries are numbered on from the last, each with the balances after it', () => {
  const books = { entries: 7, balance: { ...EMPTY.balance, available: 5, unmatched: 1 } }
  const postings = [
    posting(),
    posting({ debit: 'available', credit: 'held', amount: toCents(300) }),
  ]
  const { entries, books: after } = enter(books, postings)
  assert.deepEqual(entries, [
    {
      ...postings[0],
      entry: 8,
      balance: { ...EMPTY.balance, available: 1005, unmatched: 1 },
    },
    {
      ...postings[1],
      entry: 9,
      balance: { ...EMPTY.balance, available: 705, held: 300, unmatched: 1 },
    },
  ])
  assert.deepEqual(after, { entries: 9, balance: entries[1]!.balance })
  assert.equal(books.balance.available, 5, 'the books given are left as they were')
})

test('what is no movement of money is refused', () => {
  const faulty: Partial<Posting>[] = [
    { debit: 'held', credit: 'held' },
    { debit: 'bank', credit: 'bank' },
    ...[0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53].map((amount) => ({
      amount: amount as Posting['amount'],
    })),
  ]
  for (const fields of faulty) {
    assert.throws(() => enter(EMPTY, [posting(fields)]), /assertion failed/)
  }
})

test('an account is emptied to zero and no further, whichever it is', () => {
  for (const account of ACCOUNTS) {
    const balance: Balance = { ...EMPTY.balance, [account]: 1000 }
    const spend = posting({ debit: account, credit: 'bank' })
    assert.deepEqual(enter({ entries: 1, balance }, [spend]).books.balance, EMPTY.balance)
    const more = { ...spend, amount: toCents(1001) }
    assert.throws(() => enter({ entries: 1, balance }, [more]), /never goes below zero/)
    // What comes later in a batch does not pay for what comes first.
    const repaid = posting({ credit: account })
    assert.throws(() => enter({ entries: 1, balance }, [more, repaid]), /never goes below zero/)
  }
})

test('only what the bank returns by itself or payers dispute may leave the available account below zero', () => {
  const kinds = ['BANK_RETURN', 'DISPUTE_HELD'] as const
  for (const [account, kind] of ACCOUNTS.flatMap((one) =>
    kinds.map((kind) => [one, kind] as const),
  )) {
    const back = posting({ kind, debit: account, credit: 'bank' })
    if (account !== 'available') {
      assert.throws(() => enter(EMPTY, [back]), /never goes below zero/)
      continue
    }
    const { books } = enter(EMPTY, [back, posting({ amount: toCents(300) })])
    assert.equal(books.balance.available, -700, 'what comes in makes up for it')
    const spend = posting({ debit: 'available', credit: 'held', amount: toCents(1) })
    assert.throws(() => enter(books, [spend]), /never goes below zero/)
  }
})

const movement = fc
  .record({
    debit: fc.constantFrom(...SIDES),
    credit: fc.constantFrom(...SIDES),
    amount: fc.integer({ min: 1, max: 500 }).map(toCents),
  })
  .filter(({ debit, credit }) => debit !== credit)
  .map(posting)

/** The plainest books there can be: for each account, all credits less all debits. */
function tally(postings: Posting[]): Record<(typeof SIDES)[number], number> {
  const sums = { bank: 0, ...EMPTY.balance }
  for (const { debit, credit, amount } of postings) {
    sums[credit] += amount
    sums[debit] -= amount
  }
  return sums
}

test('any sequence sums to zero, equals the sum of its effects, and is refused where it would go below', () => {
  fc.assert(
    fc.property(fc.array(movement, { maxLength: 60 }), (movements) => {
      const taken: Posting[] = []
      let books = EMPTY
      for (const next of movements) {
        const { bank: _, ...owed } = tally([...taken, next])
        if (Object.values(owed).some((sum) => sum < 0)) {
          assert.throws(() => enter(books, [next]), /never goes below zero/)
          continue
        }
        books = enter(books, [next]).books
        taken.push(next)
        assert.deepEqual(books, { entries: taken.length, balance: owed })
      }
      const all = Object.values(tally(taken)).reduce((sum, one) => sum + one, 0)
      assert.equal(all, 0)
      assert.deepEqual(enter(EMPTY, taken).books, books, 'in one batch or in many')
    }),
  )
})
