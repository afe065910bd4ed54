import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createMemo } from './memo.ts'

test('a memo answers like the function, and forgets before it holds too much', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(30)), (names) => {
      const memo = createMemo<string>(10)
      for (const name of names)
        assert.equal(
          memo.of(`${name}`, () => `made ${name}`),
          `made ${name}`,
        )
    }),
  )
})

test('what is asked for again and again is made once', () => {
  const memo = createMemo<number>(10)
  let made = 0
  for (let round = 0; round < 100; round++) {
    memo.of('often', () => ++made)
    memo.of(`rare ${round}`, () => 0)
  }
  assert.equal(made, 1)
})
