import assert from 'node:assert/strict'
import { test } from 'node:test'
import { healthOf } from './health.ts'
import type { Attempt } from './rules.ts'

const attempt = (at: string, latencyMs: number, status: number | null = 200): Attempt => ({
  at,
  status,
  error: status === null ? 'timeout' : null,
  latencyMs,
  response: '',
})

test('a webhook to which nothing was sent has no health', () => {
  assert.equal(healthOf([]), null)
  assert.equal(healthOf([{ attempts: [] }]), null)
})

test('each attempt counts at its own time, and what is no 2xx is not accepted', () => {
  const health = healthOf([
    {
      attempts: [
        attempt('2026-08-20T10:59:59Z', 30_000, null),
        attempt('2026-08-20T11:00:00Z', 100, 500),
        attempt('2026-08-20T11:05:00Z', 200, 204),
      ],
    },
    { attempts: [attempt('2026-08-20T11:30:00Z', 400, 302)] },
  ])
  assert.deepEqual(health, {
    each: 'hour',
    parts: [
      { from: new Date('2026-08-20T10:00:00Z'), attempts: 1, accepted: 0, median_ms: 30_000 },
      { from: new Date('2026-08-20T11:00:00Z'), attempts: 3, accepted: 1, median_ms: 200 },
    ],
    attempts: 4,
    accepted: 1,
    median_ms: 200,
  })
})

test('more than two days are shown by the day of São Paulo', () => {
  const health = healthOf([
    { attempts: [attempt('2026-08-20T02:59:00Z', 10)] },
    { attempts: [attempt('2026-08-20T03:00:00Z', 20)] },
    { attempts: [attempt('2026-08-22T03:00:00Z', 30)] },
  ])
  assert.equal(health!.each, 'day')
  assert.deepEqual(
    health!.parts.map(({ from, attempts }) => [from.toISOString(), attempts]),
    [
      ['2026-08-19T03:00:00.000Z', 1],
      ['2026-08-20T03:00:00.000Z', 1],
      ['2026-08-22T03:00:00.000Z', 1],
    ],
  )
})
