import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isExpired, retryAt } from './rules.ts'

const createdAt = new Date('2026-08-20T15:00:00Z')
const MINUTE_MS = 60_000
const after = (minutes: number) => new Date(createdAt.getTime() + minutes * MINUTE_MS)

test('a mail that is not accepted is tried again for a day, less and less often', () => {
  const tries: number[] = []
  let now: Date | null = createdAt
  for (let attempts = 1; now; attempts += 1) {
    tries.push((now.getTime() - createdAt.getTime()) / MINUTE_MS)
    now = retryAt({ attempts, createdAt }, now)
  }
  assert.deepEqual(tries.slice(0, 6), [0, 1, 6, 21, 81, 141])
  assert.equal(tries.at(-1), 1461, 'the last try is the first one past a day')
})

test('a mail expires at its time', () => {
  assert.equal(isExpired({ expiresAt: after(10) }, after(9)), false)
  assert.equal(isExpired({ expiresAt: after(10) }, after(10)), true)
  assert.equal(isExpired({ expiresAt: null }, after(1e6)), false)
})

test('a mail that is a day old to the millisecond is not tried again', () => {
  const last = new Date(after(24 * 60).getTime() - 1)
  assert.deepEqual(retryAt({ attempts: 9, createdAt }, last), new Date(last.getTime() + 3_600_000))
  assert.equal(retryAt({ attempts: 9, createdAt }, after(24 * 60)), null)
})
