import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  lineOf,
  MOVEMENTS,
  STATEMENT_ACCOUNT,
  sumLines,
  sumMoved,
} from '../../../src/core/balance/lines.ts'
import type { Company } from '../../../src/core/companies/rules.ts'
import { readPeriods } from '../../../src/core/figures/figures.ts'
import type { StatementEntry } from '../../../src/ledger/columns.ts'
import { readMovements } from '../../../src/ledger/movements.ts'
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
async function history(made: [act: number, cents: number, hours: number][]): Promise<Company> {
  const { company } = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  let at = SINCE
  await db.transaction((tx) => post(tx, company.id, [opening(toCents(1_000_000))], at))
  for (const [i, [act, cents, hours]] of made.entries()) {
    at = new Date(at.getTime() + hours * HOUR_MS)
    await db.transaction((tx) => post(tx, company.id, MAKE[act]!(`${i}`, cents), at))
  }
  return company
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

const isOf = (kinds: readonly string[] | null, kind: string) =>
  kinds === null || kinds.includes(kind)
const moves = ({ debit, credit }: StatementEntry) =>
  debit === STATEMENT_ACCOUNT || credit === STATEMENT_ACCOUNT

test('the lines of any period lead from what was available before it to what was after it', async () => {
  await fc.assert(
    fc.asyncProperty(acts, fc.nat(700), fc.nat(700), async (made, start, length) => {
      const company = await history(made)
      const from = new Date(SINCE.getTime() + (start - 20) * HOUR_MS)
      const to = new Date(from.getTime() + length * HOUR_MS)
      const [entries] = await readPeriods(api.app, company, [{ from, to }])
      const expected = (await allOf(company.id)).filter(
        (entry) => moves(entry) && entry.createdAt >= from && entry.createdAt < to,
      )
      const part = { order: 'oldest first', limit: 1000, after: null } as const
      for (const kinds of [null, ...Object.values(MOVEMENTS)]) {
        const filter = { account: STATEMENT_ACCOUNT, range: entries!, kinds }
        const found = await readMovements(db, company.id, filter, part)
        const some = expected.filter(({ kind }) => isOf(kinds, kind))
        assert.deepEqual(found, some)
        const lines = found.map(lineOf)
        const sums = sumMoved(entries!.movements, kinds)
        assert.deepEqual(sums, { count: lines.length, ...sumLines(lines) })
      }
      const { entered, left } = sumMoved(entries!.movements, null)
      const { opening, closing } = entries!
      assert.equal(opening[STATEMENT_ACCOUNT] + entered - left, closing[STATEMENT_ACCOUNT])
    }),
    { numRuns: 12 },
  )
})

test('pages of either order have each movement of some kinds once', async () => {
  const made = Array.from({ length: 40 }, (_, i): [number, number, number] => [i % 6, 1 + i, 5])
  const { id: companyId } = await history(made)
  const range = { before: 2, last: 59 }
  for (const kinds of [null, ...Object.values(MOVEMENTS)]) {
    const filter = { account: STATEMENT_ACCOUNT, range, kinds }
    const expected = (await allOf(companyId))
      .filter((entry) => moves(entry) && entry.entry > range.before && entry.entry <= range.last)
      .filter(({ kind }) => isOf(kinds, kind))
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
  const company = await history([])
  const at = (text: string) => new Date(`2026-08-21T${text}Z`)
  const book = (ref: string, when: Date) =>
    db.transaction((tx) =>
      post(tx, company.id, [withdrawalHeld({ ref, amount: toCents(10) })], when),
    )
  await book('a', at('02:59:59.980'))
  await book('b', at('03:00:00.010'))
  await book('c', at('02:59:59.990'))
  await book('d', at('03:00:00.020'))
  const midnight = at('03:00:00.000')
  const [day, next] = await readPeriods(api.app, company, [
    { from: SINCE, to: midnight },
    { from: midnight, to: at('09:00:00.000') },
  ])
  assert.deepEqual([day!.before, day!.last, next!.before, next!.last], [0, 2, 2, 5])
})
