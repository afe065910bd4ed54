import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  addDays,
  addMonths,
  atHour,
  daysBetween,
  formatMoment,
  isLocalDate,
  localDateOf,
  startOfDay,
  weekdayOf,
} from './local-time.ts'

const days = fc.integer({ min: 0, max: 365 * 120 }).map((count) => addDays('2000-01-01', count))

test('a local date is a day that the calendar has', () => {
  for (const day of ['2026-08-31', '2024-02-29', '2000-02-29', '2999-12-31']) {
    assert.equal(isLocalDate(day), true, day)
  }
  const others = ['', '2026-8-31', '2026-02-29', '2100-02-29', '2026-04-31', '2026-13-01']
  for (const text of [...others, '2026-00-10', '2026-01-00', '2026-01-32', '31/08/2026']) {
    assert.equal(isLocalDate(text), false, text)
  }
  assert.equal(isLocalDate('2026-08-31\n'), false)
  assert.equal(isLocalDate('1999-12-31'), false, 'older than anything here')
})

test('the day in São Paulo changes three hours after the one in UTC, two in an old summer', () => {
  const days: [at: string, day: string][] = [
    ['2026-08-01T02:59:59.999Z', '2026-07-31'],
    ['2026-08-01T03:00:00.000Z', '2026-08-01'],
    ['2027-01-01T02:59:59.999Z', '2026-12-31'],
    ['2028-02-29T12:00:00.000Z', '2028-02-29'],
    ['2018-12-31T01:59:59.999Z', '2018-12-30'],
    ['2018-12-31T02:00:00.000Z', '2018-12-31'],
  ]
  for (const [at, day] of days) assert.equal(localDateOf(new Date(at)), day, at)
})

test('a day starts at its first moment, also where clocks were shifted at midnight', () => {
  const starts: [day: string, start: string, what: string][] = [
    ['2026-08-01', '2026-08-01T03:00:00.000Z', 'no summer time since 2019'],
    ['2026-12-25', '2026-12-25T03:00:00.000Z', 'nor in summer'],
    ['2018-11-03', '2018-11-03T03:00:00.000Z', 'the last day before summer time'],
    ['2018-11-04', '2018-11-04T03:00:00.000Z', 'has no 00:00, starts at 01:00'],
    ['2018-11-05', '2018-11-05T02:00:00.000Z', 'in summer time'],
    ['2019-02-16', '2019-02-16T02:00:00.000Z', 'the last day of summer time, 25 hours'],
    ['2019-02-17', '2019-02-17T03:00:00.000Z', 'after it'],
  ]
  for (const [day, start, what] of starts) {
    assert.equal(startOfDay(day).toISOString(), start, what)
    assert.equal(localDateOf(startOfDay(day)), day)
    assert.equal(localDateOf(new Date(startOfDay(day).getTime() - 1)), addDays(day, -1))
  }
})

test('an hour is in the local time of its day', () => {
  assert.equal(atHour('2026-08-01', 8).toISOString(), '2026-08-01T11:00:00.000Z')
  assert.equal(atHour('2018-11-04', 8).toISOString(), '2018-11-04T10:00:00.000Z')
  assert.equal(atHour('2019-02-16', 8).toISOString(), '2019-02-16T10:00:00.000Z')
  assert.equal(atHour('2019-02-16', 23).toISOString(), '2019-02-17T01:00:00.000Z', 'the first one')
  assert.equal(atHour('2019-02-17', 8).toISOString(), '2019-02-17T11:00:00.000Z')
  assert.equal(atHour('2026-12-31', 23).toISOString(), '2027-01-01T02:00:00.000Z')
})

test('every hour of every day is on that day, and a day starts where the one before it ends', () => {
  fc.assert(
    fc.property(days, fc.integer({ min: 0, max: 23 }), (day, hour) => {
      assert.equal(localDateOf(atHour(day, hour)), day)
      const end = new Date(startOfDay(addDays(day, 1)).getTime() - 1)
      assert.equal(localDateOf(end), day)
    }),
  )
})

test('days are counted over month ends, leap days and year ends', () => {
  assert.equal(addDays('2026-12-31', 1), '2027-01-01')
  assert.equal(addDays('2028-02-28', 1), '2028-02-29')
  assert.equal(addDays('2027-02-28', 1), '2027-03-01')
  assert.equal(addDays('2027-01-01', -1), '2026-12-31')
  assert.equal(daysBetween('2028-01-01', '2029-01-01'), 366)
  assert.equal(daysBetween('2018-11-03', '2018-11-05'), 2, 'a day of 23 hours is a day')
  assert.equal(weekdayOf('2026-08-02'), 0)
  assert.equal(weekdayOf('2026-08-01'), 6)
})

test('adding days is undone by taking them away, and counted by the distance', () => {
  fc.assert(
    fc.property(days, fc.integer({ min: 0, max: 3000 }), (day, count) => {
      const other = addDays(day, count)
      assert.equal(isLocalDate(other), true)
      assert.equal(addDays(other, -count), day)
      assert.equal(daysBetween(day, other), count)
      assert.equal(weekdayOf(other), (weekdayOf(day) + count) % 7)
    }),
  )
})

test('months keep the day of the anchor, or end with the month', () => {
  const later = (anchor: string, counts: number[]) => counts.map((n) => addMonths(anchor, n))
  assert.deepEqual(later('2026-01-31', [0, 1, 2, 3, 11, 12]), [
    '2026-01-31',
    '2026-02-28',
    '2026-03-31',
    '2026-04-30',
    '2026-12-31',
    '2027-01-31',
  ])
  assert.deepEqual(later('2028-02-29', [1, 12, 24, 36, 48]), [
    '2028-03-29',
    '2029-02-28',
    '2030-02-28',
    '2031-02-28',
    '2032-02-29',
  ])
  assert.deepEqual(later('2026-12-15', [1, -1, -12]), ['2027-01-15', '2026-11-15', '2025-12-15'])
})

test('what is no day cannot be counted from', () => {
  for (const text of ['', '2026-8-1', '20260801', '2026-08-01T00:00:00Z']) {
    assert.throws(() => addDays(text, 1), /assertion failed/, text)
    assert.throws(() => addMonths(text, 1), /assertion failed/, text)
    assert.throws(() => startOfDay(text), /assertion failed/, text)
  }
})

test('a moment is written by the clock of Brasília', () => {
  assert.equal(formatMoment(new Date('2026-08-20T15:04:59Z')), '20/08/2026 12:04')
  assert.equal(formatMoment(new Date('2026-01-01T02:59:00Z')), '31/12/2025 23:59')
  assert.equal(formatMoment(new Date('2026-01-01T03:00:00Z')), '01/01/2026 00:00')
})
