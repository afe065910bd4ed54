import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createBuckets } from './bucket.ts'
import { toCents } from './money.ts'

test('anything but a non-negative integer is not money', () => {
  for (const value of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '1.5', 'x']) {
    assert.throws(() => toCents(value))
  }
})

test('a bucket lets a burst through, then its rate, and tells how long to wait', () => {
  const buckets = createBuckets(10, 3)
  assert.deepEqual(
    [0, 0, 0].map(() => buckets.take('key', 0)),
    [0, 0, 0],
  )
  assert.equal(buckets.take('key', 0), 0.1)
  assert.equal(buckets.take('other', 0), 0, 'another name has its own')
  assert.equal(buckets.take('key', 100), 0)
  assert.ok(buckets.take('key', 150) > 0)
})

test('no sequence of requests gets more than burst plus rate times time', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 200 }), (pauses) => {
      const buckets = createBuckets(20, 5)
      let now_ms = 0
      let passed = 0
      for (const pause of pauses) {
        now_ms += pause
        if (buckets.take('key', now_ms) === 0) passed += 1
      }
      assert.ok(passed <= 5 + (now_ms / 1000) * 20 + 1e-6)
    }),
  )
})
