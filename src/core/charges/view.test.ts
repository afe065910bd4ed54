import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { toCents } from '../../lib/money.ts'
import { MAX_AMOUNT } from '../../pix/amounts.ts'
import type { ShownProduct } from '../products/view.ts'
import { breakDown, sumOf } from './view.ts'

const item = (quantity: number, price: number) => ({
  quantity,
  product: { name: 'Pão', price } as ShownProduct,
})

test('the lines of a link and the difference add up to its total, however large they are', () => {
  const items = fc.array(
    fc
      .tuple(fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: 0, max: MAX_AMOUNT }))
      .map(([quantity, price]) => item(quantity, price)),
    { minLength: 1, maxLength: 50 },
  )
  fc.assert(
    fc.property(fc.integer({ min: 500, max: MAX_AMOUNT }), items, (amount, given) => {
      const { lines, difference } = breakDown(toCents(amount), given)
      assert.equal(lines.length, given.length)
      assert.equal(sumOf(lines) + difference, BigInt(amount))
    }),
  )
})

test('a total below the items is a discount, one above is an addition, an equal one is neither', () => {
  const items = [item(2, 2490), item(1, 1000)]
  assert.equal(breakDown(toCents(5000), items).difference, -980n)
  assert.equal(breakDown(toCents(6000), items).difference, 20n)
  assert.equal(breakDown(toCents(5980), items).difference, 0n)
  assert.deepEqual(breakDown(toCents(5000), []), { lines: [], difference: 0n })
})
