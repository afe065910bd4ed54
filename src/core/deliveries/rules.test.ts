import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  failureAction,
  GIVE_UP_AFTER_MS,
  giveUpAt,
  judge,
  nextFailureActionAt,
  pauseUntil,
  WARN_AFTER_MS,
} from './rules.ts'

const DAY_MS = 24 * 3600 * 1000
const start = new Date('2026-08-20T15:00:00Z')
const after = (ms: number) => new Date(start.getTime() + ms)

test('a failed delivery is tried again after 1, 5, 15, 60 and 360 minutes, and then no more', () => {
  const waits = [0, 1, 2, 3, 4].map((tries) => {
    const verdict = judge('failed', tries, start)
    return verdict.outcome === 'RETRY' && (verdict.at.getTime() - start.getTime()) / 60_000
  })
  assert.deepEqual(waits, [1, 5, 15, 60, 360])
  assert.deepEqual(judge('failed', 5, start), { outcome: 'FAILED' })
  assert.deepEqual(judge('gone', 0, start), { outcome: 'FAILED' })
  assert.deepEqual(judge('delivered', 5, start), { outcome: 'DELIVERED' })
})

test('from the tenth failure in a row on a receiver is left alone, 15 s to 5 min', () => {
  const pauses = [0, 9, 10, 11, 12, 13, 14, 15, 40].map((failures) => {
    const until = pauseUntil(failures, start)
    return until && (until.getTime() - start.getTime()) / 1000
  })
  assert.deepEqual(pauses, [null, null, 15, 30, 60, 120, 240, 300, 300])
})

test('a webhook that only fails is warned of after four days, not a millisecond before', () => {
  const failing = { failingSince: start, warnedAt: null }
  const early = after(WARN_AFTER_MS - 1)
  assert.equal(failureAction({ ...failing, failedAt: early }, early), 'wait')
  const now = after(WARN_AFTER_MS)
  assert.equal(failureAction({ ...failing, failedAt: now }, now), 'warn')
})

test('a webhook is given up after five days, never without a whole day of notice', () => {
  const ms = fc.integer({ min: 0, max: 20 * DAY_MS })
  fc.assert(
    fc.property(ms, ms, (warned, passed) => {
      const warnedAt = after(WARN_AFTER_MS + warned)
      const now = new Date(warnedAt.getTime() + passed)
      const step = failureAction({ failingSince: start, failedAt: now, warnedAt }, now)
      assert.equal(step, passed >= DAY_MS ? 'give up' : 'wait')
    }),
  )
  assert.deepEqual(giveUpAt(start, after(WARN_AFTER_MS)), after(GIVE_UP_AFTER_MS))
  assert.deepEqual(giveUpAt(start, after(WARN_AFTER_MS - 1)), after(GIVE_UP_AFTER_MS))
})

test('a webhook that has had nothing to take for more than a day is left as it is', () => {
  const [failedAt, warnedAt] = [after(WARN_AFTER_MS), after(WARN_AFTER_MS)]
  const failing = { failingSince: start, failedAt, warnedAt }
  const [day, later] = [after(WARN_AFTER_MS + DAY_MS), after(WARN_AFTER_MS + DAY_MS + 1)]
  assert.equal(failureAction(failing, day), 'give up')
  assert.equal(failureAction(failing, later), 'wait')
  assert.deepEqual(nextFailureActionAt(failing, start), after(GIVE_UP_AFTER_MS))
  assert.equal(nextFailureActionAt(failing, later), null)
})
