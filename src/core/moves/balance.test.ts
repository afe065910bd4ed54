import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { planMoves, type Weighed } from './balance.ts'

const weights = (places: Weighed[][]) =>
  places.map((companies) => companies.reduce((sum, { weight }) => sum + weight, 0))

/** The places after the moves. */
function after(places: Weighed[][], moves: ReturnType<typeof planMoves>): Weighed[][] {
  const held = places.map((companies) => [...companies])
  for (const { companyId, from, to } of moves) {
    const at = held[from - 1]!.findIndex((one) => one.companyId === companyId)
    assert.notEqual(at, -1, 'a company is moved from where it is')
    held[to - 1]!.push(...held[from - 1]!.splice(at, 1))
  }
  return held
}

const place = fc.array(fc.integer({ min: 1, max: 10_000 }), { maxLength: 30 })
const some = fc
  .array(place, { minLength: 1, maxLength: 5 })
  .map((places) =>
    places.map((list, i) => list.map((weight, k): Weighed => ({ companyId: `${i}-${k}`, weight }))),
  )

test('places become more alike, and a second plan finds nothing to do', () => {
  fc.assert(
    fc.property(some, (places) => {
      const moves = planMoves(places)
      const done = after(places, moves)
      const gap = (of: Weighed[][]) => Math.max(...weights(of)) - Math.min(...weights(of))
      assert.ok(gap(done) <= gap(places))
      assert.deepEqual(planMoves(done), [])
      const largest = Math.max(0, ...places.flat().map(({ weight }) => weight))
      const mean = weights(places).reduce((all, one) => all + one, 0) / places.length
      assert.ok(gap(done) <= Math.max(largest, mean / 10), 'only one large company is in the way')
    }),
  )
})

test('an empty place gets half of the work with few moves', () => {
  const many = Array.from({ length: 100 }, (_, i) => ({ companyId: `${i}`, weight: 10 + i }))
  const moves = planMoves([many, []])
  const [one, two] = weights(after([many, []], moves))
  assert.ok(Math.abs(one! - two!) <= (one! + two!) * 0.05)
  assert.ok(moves.length <= 50, `${moves.length}`)
})

test('a large company alone stays where it is', () => {
  assert.deepEqual(planMoves([[{ companyId: 'a', weight: 1000 }], []]), [])
  assert.deepEqual(planMoves([[]]), [])
})
