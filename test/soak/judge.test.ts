import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judge } from './judge.ts'
import type { Sample } from './watch-memory.ts'

/** Half an hour, every five seconds. */
const samples = (mib: (minute: number, n: number) => number): Sample[] =>
  Array.from({ length: 361 }, (_, n) => {
    const size = mib(n / 12, n)
    return { at_s: n * 5, rss: size, heap: size, external: 0 }
  })

test('memory that fills once and is collected again and again is bounded', () => {
  const { isBounded, level } = judge(
    samples((minute, n) => 200 - 120 / (1 + minute) + (n % 9) * 4),
    'rss',
  )
  assert.equal(isBounded, true)
  assert.ok(level > 180 && level < 240, String(level))
})

test('a leak of two MiB a minute is found, below all that is collected', () => {
  const { isBounded, perHour } = judge(
    samples((minute, n) => 100 + 2 * minute + (n % 9) * 4),
    'heap',
  )
  assert.equal(isBounded, false)
  assert.ok(Math.abs(perHour - 120) < 5, String(perHour))
})

test('a minute tells nothing', () => {
  assert.equal(judge(samples(() => 100).slice(0, 13), 'rss').isBounded, null)
})
