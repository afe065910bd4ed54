import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { addDays, localDateOf, startOfDay } from '../../pix/local-time.ts'
import {
  type Days,
  daysBefore,
  daysOf,
  lengthOf,
  partsOf,
  periodBefore,
  periodOf,
  readDays,
  stepsOf,
  usualStep,
} from './periods.ts'

const days = (first: string, last: string): Days => ({ first, last })

test('periods with a name are whole days, up to the ends of their months', () => {
  for (const [name, today, first, last] of [
    ['today', '2028-02-29', '2028-02-29', '2028-02-29'],
    ['7d', '2028-03-03', '2028-02-26', '2028-03-03'],
    ['month', '2028-02-10', '2028-02-01', '2028-02-29'],
    ['month', '2027-02-10', '2027-02-01', '2027-02-28'],
    ['last', '2028-03-31', '2028-02-01', '2028-02-29'],
    ['last', '2027-01-01', '2026-12-01', '2026-12-31'],
  ] as const) {
    assert.deepEqual(daysOf(name, today), days(first, last), `${name} on ${today}`)
  }
})

test('whole months are compared with months, and other days with as many days', () => {
  for (const [first, last, before, end] of [
    ['2028-03-01', '2028-03-31', '2028-02-01', '2028-02-29'],
    ['2027-03-01', '2027-03-31', '2027-02-01', '2027-02-28'],
    ['2027-01-01', '2027-12-31', '2026-01-01', '2026-12-31'],
    ['2027-03-01', '2027-03-30', '2027-01-30', '2027-02-28'],
    ['2027-03-02', '2027-03-31', '2027-01-31', '2027-03-01'],
    ['2028-03-01', '2028-03-01', '2028-02-29', '2028-02-29'],
  ] as const) {
    assert.deepEqual(daysBefore(days(first, last)), days(before, end), `${first} – ${last}`)
  }
})

test('a period starts and ends at midnight in São Paulo', () => {
  const { from, to } = periodOf(days('2027-01-31', '2027-01-31'))
  assert.equal(from.toISOString(), '2027-01-31T03:00:00.000Z')
  assert.equal(to.toISOString(), '2027-02-01T03:00:00.000Z')
})

test('while a period lasts, it is compared with as much of the one before', () => {
  const at = (text: string) => new Date(`${text}-03:00`)
  const march = days('2027-03-01', '2027-03-31')
  const february = at('2027-02-01T00:00')
  for (const [now, end] of [
    ['2027-03-01T00:00', '2027-02-01T00:00'],
    ['2027-03-10T14:05', '2027-02-10T14:05'],
    // February is over before March is.
    ['2027-03-31T12:00', '2027-03-01T00:00'],
    ['2027-04-01T00:00', '2027-03-01T00:00'],
    ['2028-01-01T00:00', '2027-03-01T00:00'],
  ] as const) {
    assert.deepEqual(periodBefore(march, at(now)), { from: february, to: at(end) }, now)
  }
})

test('typed days that cannot be shown are told apart', () => {
  const today = '2027-03-10'
  assert.deepEqual(readDays('2027-03-01', '', today), days('2027-03-01', today))
  assert.deepEqual(readDays('', '2027-03-01', today), days('2027-03-01', '2027-03-01'))
  assert.equal(readDays('2027-02-29', today, today), 'no-day')
  assert.equal(readDays("1' or 1=1", today, today), 'no-day')
  assert.equal(readDays('2027-03-05', '2027-03-04', today), 'backwards')
  assert.equal(readDays('2027-03-11', '2027-03-12', today), 'future')
  assert.equal(readDays('2025-03-10', '2027-03-10', today), 'too-long')
  assert.deepEqual(readDays('2025-03-10', '2027-03-09', today), days('2025-03-10', '2027-03-09'))
})

const anyDays = fc
  .tuple(fc.integer({ min: 0, max: 1500 }), fc.integer({ min: 0, max: 730 }))
  .map(([start, more]): Days => {
    const first = addDays('2024-01-01', start)
    return { first, last: addDays(first, more) }
  })

test('the parts of a period follow each other without a gap, whatever the step', () => {
  const check = (given: Days) => {
    const steps = stepsOf(given)
    assert.ok(steps.includes(usualStep(given)), 'the usual step is one that can be chosen')
    for (const step of steps) {
      const parts = partsOf(given, step)
      const { from, to } = periodOf(given)
      assert.deepEqual([parts[0]!.from, parts.at(-1)!.to], [from, to])
      parts.slice(1).forEach((part, i) => {
        assert.deepEqual(part.from, parts[i]!.to)
      })
      assert.ok(parts.length <= 106, `${parts.length} parts by ${step}`)
      for (const part of parts) {
        assert.ok(part.from < part.to)
        if (step !== 'hour') assert.deepEqual(part.from, startOfDay(localDateOf(part.from)))
      }
    }
  }
  fc.assert(fc.property(anyDays, check), { numRuns: 200 })
})

test('the period before ends where the period begins, and whole months stay whole', () => {
  const check = (given: Days) => {
    const before = daysBefore(given)
    assert.equal(addDays(before.last, 1), given.first)
    const isMonths = before.first.endsWith('-01') && given.first.endsWith('-01')
    assert.ok(isMonths || lengthOf(before) === lengthOf(given))
  }
  fc.assert(fc.property(anyDays, check), { numRuns: 300 })
})
