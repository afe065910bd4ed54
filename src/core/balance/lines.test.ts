import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { EMPTY, enter } from '../../ledger/books.ts'
import type { StatementEntry } from '../../ledger/columns.ts'
import { ACCOUNTS, KINDS, type Posting } from '../../ledger/recipes.ts'
import { toCents } from '../../lib/money.ts'
import { localDateOf } from '../../pix/local-time.ts'
import { daysOf, type Line, lineOf, MOVEMENTS, STATEMENT_ACCOUNT, sumLines } from './lines.ts'

const side = fc.constantFrom('bank' as const, ...ACCOUNTS)
const posting: fc.Arbitrary<Posting> = fc
  .record({
    kind: fc.constantFrom(...KINDS),
    ref: fc.string(),
    debit: side,
    credit: side,
    amount: fc.integer({ min: 1, max: 1_000_000 }).map(toCents),
    chargeId: fc.constant(null),
  })
  .filter(({ debit, credit }) => debit !== credit)
const steps_ms = fc.integer({ min: 0, max: 30 * 3_600_000 })
const START = new Date('2026-08-20T12:00:00Z')

/** The entries of postings that the books take, each some time after the one before. */
function historyOf(postings: [Posting, number][]): StatementEntry[] {
  let books = EMPTY
  let at = START
  return postings.flatMap(([posting, later_ms]) => {
    try {
      const entered = enter(books, [posting])
      books = entered.books
      at = new Date(at.getTime() + later_ms)
      return entered.entries.map((entry) => ({ ...entry, createdAt: at }))
    } catch {
      return []
    }
  })
}

const history = fc.array(fc.tuple(posting, steps_ms), { maxLength: 60 }).map(historyOf)
const isLine = ({ debit, credit }: StatementEntry) =>
  debit === STATEMENT_ACCOUNT || credit === STATEMENT_ACCOUNT
const balanceAt = (entries: StatementEntry[], count: number) =>
  entries[count - 1]?.balance[STATEMENT_ACCOUNT] ?? 0

test('opening + entries − exits = closing, and each line has what the ledger has available', () => {
  fc.assert(
    fc.property(history, fc.nat(60), fc.nat(60), (entries, a, b) => {
      const [first, end] = [
        Math.min(a, b, entries.length),
        Math.min(Math.max(a, b), entries.length),
      ]
      const inPeriod = entries.slice(first, end).filter(isLine)
      const lines = inPeriod.map(lineOf)
      const { entered, left } = sumLines(lines)
      const opening = balanceAt(entries, first)
      assert.equal(opening + entered - left, balanceAt(entries, end))
      let balance = opening
      for (const [i, line] of lines.entries()) {
        balance += line.amount
        assert.equal(line.balance, balance)
        assert.equal(line.balance, inPeriod[i]!.balance[STATEMENT_ACCOUNT])
      }
    }),
  )
})

test('every line is in one day, in its order, and the sums of the days are those of all lines', () => {
  fc.assert(
    fc.property(history, (entries) => {
      const lines = entries.filter(isLine).map(lineOf).toReversed()
      const days = daysOf(lines)
      assert.deepEqual(
        days.flatMap((day) => day.lines),
        lines,
      )
      const names = days.map(({ day }) => day)
      assert.deepEqual(names, [...new Set(names)].sort().toReversed())
      const sums = days.map((day) => sumLines(day.lines))
      const add = (field: 'entered' | 'left') => sums.reduce((sum, one) => sum + one[field], 0)
      assert.deepEqual({ entered: add('entered'), left: add('left') }, sumLines(lines))
    }),
  )
})

test('a line that was booked a little out of order makes no second group of its day', () => {
  const line = (entry: number, at: string) => ({ entry, at: new Date(at) }) as Line
  const midnight = '2026-08-21T03:00:00.010Z'
  const lines = [
    line(3, '2026-08-21T03:00:00.020Z'),
    line(2, '2026-08-21T02:59:59.990Z'),
    line(1, midnight),
  ]
  const [day, ...others] = daysOf(lines)
  assert.deepEqual([day!.day, day!.lines, others], [localDateOf(new Date(midnight)), lines, []])
})

test('every kind that changes what is available is a movement that can be filtered', () => {
  const known = Object.values(MOVEMENTS).flat() as string[]
  assert.equal(new Set(known).size, known.length)
  const others = KINDS.filter((kind) => !known.includes(kind))
  // Those move money between other accounts.
  assert.deepEqual(others, [
    'CHARGE_PAID',
    'FINE_PAID',
    'INTEREST_PAID',
    'PAYMENT_UNMATCHED',
    'REFUND_PAID',
    'WITHDRAWAL_PAID',
    'DISPUTE_ACCEPTED',
    'DISPUTE_LOST',
    'SPLIT_SETTLED',
  ])
})
