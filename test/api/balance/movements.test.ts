import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { lineOf, MOVEMENTS, STATEMENT_ACCOUNT, sumLines } from '../../../src/core/balance/lines.ts'
import type { StatementEntry } from '../../../src/ledger/columns.ts'
import {
  balanceBefore,
  rangeOf,
  readMovements,
  sumMovements,
} from '../../../src/ledger/movements.ts'
import { post } from '../../../src/ledger/post.ts'
import {
  bankReturn,
  chargePaid,
  chargeReleased,
  opening,
  type Posting,
  paymentAccepted,
  paymentUnmatched,
  refundHeld,
  withdrawalHeld,
  withdrawalReleased,
} from '../../../src/ledger/recipes.ts'
import { readStatement } from '../../../src/ledger/statement.ts'
import { toCents } from '../../../src/lib/money.ts'
import { startApi } from '../../support/api.ts'

const api = await startApi()
const { db } = api.app
const SINCE = new Date('2026-08-01T03:00:00Z')
const HOUR_MS = 3_600_000

const MAKE: ((ref: string, cents: number) => Posting[])[] = [
  (ref, cents) => {
    const payment = { endToEndId: ref, amount: toCents(cents), chargeId: null }
    return [chargePaid(payment), chargeReleased(payment)]
  },
  (ref, cents) => {
    const payment = { endToEndId: ref, amount: toCents(cents), chargeId: null }
    return [paymentUnmatched(payment), paymentAccepted(payment)]
  },
  (ref, cents) => {
    const order = { ref, amount: toCents(cents) }
    return [withdrawalHeld(order), withdrawalReleased(order)]
  },
  (ref) => [refundHeld({ ref, amount: toCents(1) }, 'available')],
  (ref, cents) => [bankReturn({ ref, amount: toCents(cents) }, 'available')],
  (ref, cents) => [chargePaid({ endToEndId: ref, amount: toCents(cents), chargeId: null })],
]

const acts = fc.array(
  fc.tuple(fc.nat(MAKE.length - 1), fc.integer({ min: 1, max: 90 }), fc.nat(40)),
  { minLength: 1, maxLength: 25 },
)

/** Books acts of a new live company, each some hours after the one before. */
async function history(made: [act: number, cents: number, hours: number][]): Promise<string> {
  const { company } = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  let at = SINCE
  await db.transaction((tx) => post(tx, company.id, [opening(toCents(1_000_000))], at))
  for (const [i, [act, cents, hours]] of made.entries()) {
    at = new Date(at.getTime() + hours * HOUR_MS)
    await db.transaction((tx) => post(tx, company.id, MAKE[act]!(`${i}`, cents), at))
  }
  return company.id
}

const allOf = (companyId: string) =>
  readStatement(db, companyId, {
    limit: 1000,
    after: null,
    order: 'oldest first',
    kind: null,
    account: null,
    from: null,
    to: null,
  })

const moves = ({ debit, credit }: StatementEntry) =>
  debit === STATEMENT_ACCOUNT || credit === STATEMENT_ACCOUNT

test('the lines of any period lead from what was available before it to what was after it', async () => {
  await fc.assert(
    fc.asyncProperty(acts, fc.nat(700), fc.nat(700), async (made, start, length) => {
      const companyId = await history(made)
      const from = new Date(SINCE.getTime() + (start - 20) * HOUR_MS)
      const to = new Date(from.getTime() + length * HOUR_MS)
      const range = await rangeOf(db, companyId, { from, to })
      const filter = { account: STATEMENT_ACCOUNT, range, kinds: null }
      const expected = (await allOf(companyId)).filter(
        (entry) => moves(entry) && entry.createdAt >= from && entry.createdAt < to,
      )
      const part = { order: 'oldest first', limit: 1000, after: null } as const
      const found = await readMovements(db, companyId, filter, part)
      assert.deepEqual(found, expected)
      const sums = await sumMovements(db, companyId, filter)
      assert.deepEqual(sums, { count: found.length, ...sumLines(found.map(lineOf)) })
      const [before, after] = await Promise.all([
        balanceBefore(db, companyId, STATEMENT_ACCOUNT, range.first),
        balanceBefore(db, companyId, STATEMENT_ACCOUNT, range.end),
      ])
      assert.equal(before + sums.entered - sums.left, after)
    }),
    { numRuns: 15 },
  )
})

test('pages of either order have each movement of some kinds once', async () => {
  const made = Array.from({ length: 40 }, (_, i): [number, number, number] => [i % 6, 1 + i, 5])
  const companyId = await history(made)
  const range = { first: 3, end: 60 }
  for (const kinds of [null, ...Object.values(MOVEMENTS)]) {
    const filter = { account: STATEMENT_ACCOUNT, range, kinds }
    const expected = (await allOf(companyId))
      .filter((entry) => moves(entry) && entry.entry >= range.first && entry.entry < range.end)
      .filter(({ kind }) => kinds === null || (kinds as readonly string[]).includes(kind))
    for (const order of ['oldest first', 'newest first'] as const) {
      const seen: StatementEntry[] = []
      for (let after: number | null = null; ; ) {
        const page = await readMovements(db, companyId, filter, { order, limit: 7, after })
        seen.push(...page)
        if (page.length < 7) break
        after = page.at(-1)!.entry
      }
      const sorted = order === 'oldest first' ? expected : expected.toReversed()
      assert.deepEqual(seen, sorted, `${kinds} ${order}`)
    }
  }
})

test('an entry that was booked a little out of order leaves no gap between two periods', async () => {
  const companyId = await history([])
  const at = (text: string) => new Date(`2026-08-21T${text}Z`)
  const book = (ref: string, when: Date) =>
    db.transaction((tx) =>
      post(tx, companyId, [withdrawalHeld({ ref, amount: toCents(10) })], when),
    )
  await book('a', at('02:59:59.980'))
  await book('b', at('03:00:00.010'))
  await book('c', at('02:59:59.990'))
  await book('d', at('03:00:00.020'))
  const midnight = at('03:00:00.000')
  const far = at('09:00:00.000')
  const [day, next] = await Promise.all([
    rangeOf(db, companyId, { from: SINCE, to: midnight }),
    rangeOf(db, companyId, { from: midnight, to: far }),
  ])
  assert.deepEqual(
    [day, next],
    [
      { first: 1, end: 3 },
      { first: 3, end: 6 },
    ],
  )
})
