import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nearest } from './nearest.ts'

const NAMES = [
  'limit',
  'after',
  'status',
  'paymentStatus',
  'externalId',
  'createdFrom',
  'createdTo',
]

test('a name with one wrong, missing or additional letter is still found', () => {
  const wrong = fc
    .tuple(fc.constantFrom(...NAMES), fc.nat(), fc.constantFrom('', 'q', 'qq'), fc.boolean())
    .map(([name, at, put, takes]) => {
      const i = at % name.length
      return { name, text: name.slice(0, i) + put.slice(0, 1) + name.slice(takes ? i + 1 : i) }
    })
  fc.assert(
    fc.property(wrong, ({ name, text }) => {
      assert.equal(nearest(text, NAMES), name)
    }),
  )
})

test('two letters that are swapped are one mistake', () => {
  assert.equal(nearest('limti', NAMES, 1), 'limit')
  assert.equal(nearest('satuts', NAMES, 1), null)
  assert.equal(nearest('satuts', NAMES), 'status')
})

test('case and dashes do not matter, and what is far from every name has no nearest', () => {
  assert.equal(nearest('PAYMENT_STATUS', NAMES), 'paymentStatus')
  for (const text of ['', 'foo', 'sort', 'x'.repeat(100_000)]) {
    assert.equal(nearest(text, NAMES), null, text.slice(0, 20))
  }
  assert.equal(nearest('limit', []), null)
})
