import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextStateAfter } from './rules.ts'

const start = new Date('2026-08-20T15:00:00Z')

test('a failed delivery is tried again after 1, 5, 15, 60 and 360 minutes, and then no more', () => {
  const waits = [0, 1, 2, 3, 4].map((tries) => {
    const next = nextStateAfter('failed', tries, start)
    return next.outcome === 'RETRY' && (next.at.getTime() - start.getTime()) / 60_000
  })
  assert.deepEqual(waits, [1, 5, 15, 60, 360])
  assert.deepEqual(nextStateAfter('failed', 5, start), { outcome: 'FAILED' })
  assert.deepEqual(nextStateAfter('gone', 0, start), { outcome: 'FAILED' })
  assert.deepEqual(nextStateAfter('delivered', 5, start), { outcome: 'DELIVERED' })
})
