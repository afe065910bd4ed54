import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newId } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { MAX_AMOUNT } from '../../pix/amounts.ts'
import { newCharge, type Split } from './rules.ts'
import { givenOf, partsOf, requireWithin, sumOfParts, WHOLE } from './split.ts'

const ids = Array.from({ length: 10 }, () => newId())

const percentsOf = (split: Split): number =>
  split.reduce((sum, term) => sum + ('percent' in term ? term.percent : 0), 0)

/** A split of an amount that can be asked for, by percents, by amounts, or both. */
const splits = (amount: number): fc.Arbitrary<Split> =>
  fc
    .array(
      fc.oneof(
        fc.integer({ min: 1, max: amount }).map((cents) => ({ amount: toCents(cents) })),
        fc.integer({ min: 1, max: WHOLE }).map((percent) => ({ percent })),
      ),
      { minLength: 1, maxLength: 10 },
    )
    .map((terms) => terms.map((term, i) => ({ recipientId: ids[i]!, ...term })))
    .filter((split) => percentsOf(split) <= WHOLE && sumOfParts(split, amount) <= amount)

const cases = fc
  .oneof(fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 1, max: MAX_AMOUNT }))
  .chain((amount) => fc.record({ amount: fc.constant(amount), split: splits(amount) }))

const total = (parts: { amount: number }[]): number =>
  parts.reduce((sum, { amount }) => sum + amount, 0)

/** What goes back in each of several refunds, none of which is more than what is left. */
const piecesOf = (amount: number, cuts: number[]): number[] => {
  let left = amount
  return cuts.flatMap((cut) => {
    const piece = Math.min(left, 1 + (cut % Math.max(1, left)))
    left -= piece
    return piece > 0 ? [piece] : []
  })
}
const cuts = fc.array(fc.nat(), { maxLength: 12 })

test('of the whole amount a fixed part is itself, and a percentage is rounded down to cents', () => {
  const split = [
    { recipientId: ids[0]!, amount: toCents(250) },
    { recipientId: ids[1]!, percent: 1999 },
  ]
  assert.deepEqual(
    partsOf(split, 1001, 1001).map(({ amount }) => amount),
    [250, 200],
  )
})

test('the parts are never more than what is left, and the company has the rest, at most a cent for each recipient', () => {
  fc.assert(
    fc.property(cases, fc.nat(), ({ amount, split }, nat) => {
      const left = nat % (amount + 1)
      const parts = partsOf(split, amount, left)
      for (const part of parts) assert.ok(Number.isSafeInteger(part.amount) && part.amount >= 0)
      assert.ok(total(parts) <= left)
      const exact = (total(partsOf(split, amount, amount)) / amount) * left
      assert.ok(exact - total(parts) < parts.length + 1e-3 * Math.max(1, exact / 1e9))
    }),
  )
})

test('whatever goes back in whatever pieces, the parts follow only from what is left', () => {
  fc.assert(
    fc.property(cases, cuts, ({ amount, split }, cutting) => {
      const has = partsOf(split, amount, amount).map((part) => part.amount)
      let company = amount - has.reduce((sum, one) => sum + one, 0)
      let left = amount
      for (const piece of piecesOf(amount, cutting)) {
        const [before, after] = [partsOf(split, amount, left), partsOf(split, amount, left - piece)]
        const taken = before.map((part, i) => part.amount - after[i]!.amount)
        for (const [i, one] of taken.entries()) {
          assert.ok(one >= 0, 'a refund gives nobody anything')
          has[i]! -= one
        }
        company -= piece - taken.reduce((sum, one) => sum + one, 0)
        left -= piece
        assert.equal(has.reduce((sum, one) => sum + one, 0) + company, left, 'the sum is the whole')
        assert.ok(company >= 0)
      }
      const once = partsOf(split, amount, left).map((part) => part.amount)
      assert.deepEqual(has, once, 'nobody gains or loses by pieces')
    }),
  )
})

test('if nothing is left, nobody has anything', () => {
  fc.assert(
    fc.property(cases, ({ amount, split }) => {
      assert.equal(total(partsOf(split, amount, 0)), 0)
    }),
  )
})

test('if less was received than the parts ask for, they share it in proportion; if more, fixed parts stay', () => {
  fc.assert(
    fc.property(cases, fc.nat(), ({ amount, split }, nat) => {
      const received = 1 + (nat % amount)
      assert.ok(total(partsOf(split, received, received)) <= received)
      const more = partsOf(split, amount + nat, amount + nat)
      for (const [i, term] of split.entries()) {
        if ('amount' in term) assert.equal(more[i]!.amount, term.amount)
      }
    }),
  )
  const split = [
    { recipientId: ids[0]!, amount: toCents(600) },
    { recipientId: ids[1]!, amount: toCents(400) },
  ]
  assert.deepEqual(
    partsOf(split, 500, 500).map(({ amount }) => amount),
    [300, 200],
  )
})

test('recipients have their parts of what is neither refunded nor disputed, and nothing before the release', () => {
  const now = new Date()
  const paid = newCharge({
    companyId: newId(),
    id: newId(),
    kind: 'PIX',
    amount: toCents(1001),
    createdAt: now,
    expiresAt: now,
    status: 'COMPLETED',
    paymentStatus: 'PAID',
    booked: true,
    split: [{ recipientId: ids[0]!, percent: 5000 }],
  })
  const received = { ...paid, paymentStatus: 'RECEIVED' as const }
  const given = (charge: typeof paid, disputed = 0) =>
    givenOf(charge, disputed).map(({ amount }) => amount)
  assert.deepEqual(given(paid), [0])
  assert.deepEqual(given(received), [500])
  assert.deepEqual(given({ ...received, refunded: toCents(500) }), [250])
  assert.deepEqual(given(received, 500), [250])
  assert.deepEqual(given({ ...received, refunded: toCents(500) }, 501), [0])
  assert.deepEqual(given({ ...received, refunded: toCents(1001) }, 500), [0])
  assert.deepEqual(given({ ...received, booked: false }), [0], 'a trial gives nothing')
  assert.deepEqual(given({ ...received, split: null }), [])
})

test('parts that are more than the amount are refused, and those that are all of it are not', () => {
  const split = [
    { recipientId: ids[0]!, amount: toCents(501) },
    { recipientId: ids[1]!, percent: 5000 },
  ]
  assert.throws(() => requireWithin({ split, amount: toCents(1000) }), /1001 cents together/)
  requireWithin({ split, amount: toCents(1002) })
  requireWithin({ split: null, amount: toCents(1) })
})
