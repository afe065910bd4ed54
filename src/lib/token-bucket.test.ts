import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createBuckets } from './token-bucket.ts'

const RATE = 20
const BURST = 5

test('a bucket lets a burst through, then its rate, and says how long to wait', () => {
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

/** The same rule without a bound on names, in whole tokens' thousandths, forgetting nothing. */
function model() {
  const spent = new Map<string, { milli: number; at_ms: number }>()
  function levelOf(name: string, now_ms: number) {
    const { milli, at_ms } = spent.get(name) ?? { milli: BURST * 1000, at_ms: now_ms }
    const grown = milli + Math.max(0, now_ms - at_ms) * RATE
    return { milli: Math.min(BURST * 1000, grown), at_ms: Math.max(at_ms, now_ms) }
  }
  const waitOf = (milli: number) => Math.max(0, (1000 - milli) / 1000 / RATE)
  return {
    take(name: string, now_ms: number) {
      const { milli, at_ms } = levelOf(name, now_ms)
      spent.set(name, { milli: milli >= 1000 ? milli - 1000 : milli, at_ms })
      return waitOf(milli)
    },
    giveBack(name: string, now_ms: number) {
      const { milli, at_ms } = levelOf(name, now_ms)
      spent.set(name, { milli: Math.min(BURST * 1000, milli + 1000), at_ms })
    },
  }
}

const calls = fc.array(
  fc.record({
    act: fc.constantFrom('take', 'take', 'take', 'giveBack'),
    name: fc.constantFrom('a', 'b', 'c', 'd'),
    // A clock that goes back now and then must not give anything away.
    pause_ms: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: -500, max: 5000 })),
  }),
  { maxLength: 200 },
)

test('buckets answer like a rule that remembers every name for ever', () => {
  fc.assert(
    fc.property(calls, (sequence) => {
      const [buckets, rule] = [createBuckets(RATE, BURST, 8), model()]
      let now_ms = 1_000_000
      for (const { act, name, pause_ms } of sequence) {
        now_ms += pause_ms
        const [wait_s = 0, expected = 0] = [buckets[act](name, now_ms), rule[act](name, now_ms)]
        assert.ok(Math.abs(wait_s - expected) < 1e-6, `${act} ${name}: ${wait_s} ≠ ${expected}`)
      }
    }),
  )
})

test('a bucket never holds more than its burst, however long it has been idle', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 1e9 }), { maxLength: 20 }), (idle) => {
      const buckets = createBuckets(RATE, BURST)
      let now_ms = 0
      for (const pause_ms of [0, ...idle]) {
        now_ms += pause_ms
        const passed = Array.from({ length: BURST + 3 }, () => buckets.take('a', now_ms))
        assert.ok(passed.filter((wait_s) => wait_s === 0).length <= BURST)
      }
    }),
  )
})

test('a flood of names costs each call the same, however many there are', () => {
  const buckets = createBuckets(RATE, BURST)
  const start = process.cpuUsage()
  for (let i = 0; i < 200_000; i++) buckets.take(`2001:db8:${i.toString(16)}::/64`, i / 1000)
  // To look at every name for each new one would take minutes; this takes milliseconds.
  assert.ok(process.cpuUsage(start).user < 5_000_000, 'microseconds of this process alone')
})

test('names are bounded: a name stays while fewer than half as many others come, then it goes', () => {
  const max = 100
  const others = (count: number) => {
    const buckets = createBuckets(RATE, 1, max)
    assert.equal(buckets.take('first', 0), 0)
    for (let i = 0; i < count; i++) buckets.take(`other ${i}`, 0)
    return buckets.take('first', 0)
  }
  assert.ok(others(max / 2 - 1) > 0, 'it is remembered')
  assert.equal(others(max), 0, 'it is forgotten')
})
