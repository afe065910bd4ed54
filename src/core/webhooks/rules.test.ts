import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  DEACTIVATE_AFTER_MS,
  deactivateAt,
  failureAction,
  pauseUntil,
  WARN_AFTER_MS,
} from './rules.ts'

const DAY_MS = 24 * 3600 * 1000
const start = new Date('2026-08-20T15:00:00Z')
const after = (ms: number) => new Date(start.getTime() + ms)

test('from the tenth failure in a row a webhook is paused for 15 s to 5 min', () => {
  const pauses = [0, 9, 10, 11, 12, 13, 14, 15, 40].map((failures) => {
    const until = pauseUntil(failures, start)
    return until && (until.getTime() - start.getTime()) / 1000
  })
  assert.deepEqual(pauses, [null, null, 15, 30, 60, 120, 240, 300, 300])
})

test('if a webhook only fails, its company is warned after four days, not a millisecond before', () => {
  const failing = { failingSince: start, warnedAt: null }
  const early = after(WARN_AFTER_MS - 1)
  assert.equal(failureAction({ ...failing, failedAt: early }, early), 'wait')
  const now = after(WARN_AFTER_MS)
  assert.equal(failureAction({ ...failing, failedAt: now }, now), 'warn')
})

test('a webhook is deactivated after five days, and never less than a day after the warning', () => {
  const ms = fc.integer({ min: 0, max: 20 * DAY_MS })
  fc.assert(
    fc.property(ms, ms, (warned, passed) => {
      const warnedAt = after(WARN_AFTER_MS + warned)
      const now = new Date(warnedAt.getTime() + passed)
      const step = failureAction({ failingSince: start, failedAt: now, warnedAt }, now)
      assert.equal(step, passed >= DAY_MS ? 'deactivate' : 'wait')
    }),
  )
  assert.deepEqual(deactivateAt(start, after(WARN_AFTER_MS)), after(DEACTIVATE_AFTER_MS))
  assert.deepEqual(deactivateAt(start, after(WARN_AFTER_MS - 1)), after(DEACTIVATE_AFTER_MS))
})

test('a webhook that had nothing to receive for more than a day is not deactivated', () => {
  const [failedAt, warnedAt] = [after(WARN_AFTER_MS), after(WARN_AFTER_MS)]
  const failing = { failingSince: start, failedAt, warnedAt }
  const [day, later] = [after(WARN_AFTER_MS + DAY_MS), after(WARN_AFTER_MS + DAY_MS + 1)]
  assert.equal(failureAction(failing, day), 'deactivate')
  assert.equal(failureAction(failing, later), 'wait')
})
