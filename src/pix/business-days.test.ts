import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  countBusinessDays,
  easterOf,
  isBankHoliday,
  isBusinessDay,
  nextBusinessDay,
} from './business-days.ts'
import { addDays, daysBetween, weekdayOf } from './local-time.ts'

const daysOf = (year: number) =>
  Array.from({ length: daysBetween(`${year}-01-01`, `${year + 1}-01-01`) }, (_, i) =>
    addDays(`${year}-01-01`, i),
  )

// Monday and Tuesday of Carnival, Good Friday, Easter, Corpus Christi.
const MOVABLE: [carnival: string, string, goodFriday: string, easter: string, corpus: string][] = [
  ['2024-02-12', '2024-02-13', '2024-03-29', '2024-03-31', '2024-05-30'],
  ['2025-03-03', '2025-03-04', '2025-04-18', '2025-04-20', '2025-06-19'],
  ['2026-02-16', '2026-02-17', '2026-04-03', '2026-04-05', '2026-06-04'],
  ['2027-02-08', '2027-02-09', '2027-03-26', '2027-03-28', '2027-05-27'],
  ['2028-02-28', '2028-02-29', '2028-04-14', '2028-04-16', '2028-06-15'],
  ['2029-02-12', '2029-02-13', '2029-03-30', '2029-04-01', '2029-05-31'],
  ['2030-03-04', '2030-03-05', '2030-04-19', '2030-04-21', '2030-06-20'],
]
const FIXED = ['01-01', '04-21', '05-01', '09-07', '10-12', '11-02', '11-15', '11-20', '12-25']

test('the bank holidays of 2024 to 2030 are these and no others', () => {
  for (const [monday, tuesday, goodFriday, easter, corpusChristi] of MOVABLE) {
    const year = Number(easter.slice(0, 4))
    const fixed = FIXED.map((date) => `${year}-${date}`)
    const expected = [monday, tuesday, goodFriday, corpusChristi, ...fixed].sort()
    assert.deepEqual(daysOf(year).filter(isBankHoliday), expected, String(year))
    assert.equal(easterOf(year), easter)
  }
})

test('Easter is right at its extremes and where simpler formulas fail', () => {
  const easters = ['2000-04-23', '2008-03-23', '2011-04-24', '2019-04-21', '2038-04-25']
  const rare = ['2049-04-18', '2076-04-19', '2106-04-18', '2133-04-19', '2285-03-22']
  for (const easter of [...easters, ...rare]) {
    assert.equal(easterOf(Number(easter.slice(0, 4))), easter)
  }
})

test('Easter is a Sunday from 22 March to 25 April in every year', () => {
  for (let year = 2000; year < 3000; year++) {
    const easter = easterOf(year)
    assert.equal(weekdayOf(easter), 0, easter)
    assert.ok(easter >= `${year}-03-22` && easter <= `${year}-04-25`, easter)
  }
})

test('20 November is a holiday since 2024', () => {
  assert.equal(isBusinessDay('2023-11-20'), true)
  assert.equal(isBusinessDay('2024-11-20'), false)
  assert.equal(isBusinessDay('2030-11-20'), false)
})

test('banks work on days that only look like holidays', () => {
  const working = ['2026-02-18', '2026-04-02', '2026-06-05', '2026-10-28', '2026-12-24']
  for (const day of [...working, '2026-12-31', '2026-07-09']) {
    assert.equal(isBusinessDay(day), true, day)
  }
})

test('banks work on neither Saturdays nor Sundays', () => {
  assert.deepEqual(['2026-08-07', '2026-08-08', '2026-08-09', '2026-08-10'].map(isBusinessDay), [
    true,
    false,
    false,
    true,
  ])
})

test('the next business day is the day itself, or the first one after a closed stretch', () => {
  const next: [day: string, open: string, what: string][] = [
    ['2026-08-12', '2026-08-12', 'a Wednesday'],
    ['2026-08-15', '2026-08-17', 'a Saturday'],
    ['2026-02-14', '2026-02-18', 'from Carnival Saturday to Ash Wednesday'],
    ['2028-02-26', '2028-03-01', 'Carnival over a leap day'],
    ['2025-04-18', '2025-04-22', 'Good Friday to Tiradentes on a Monday'],
    ['2011-04-21', '2011-04-25', 'Tiradentes, then Good Friday'],
    ['2026-12-25', '2026-12-28', 'Christmas on a Friday'],
    ['2027-12-31', '2027-12-31', 'the last day of a year'],
    ['2028-01-01', '2028-01-03', 'New Year on a Saturday'],
    ['2023-12-30', '2024-01-02', 'over the end of a year'],
  ]
  for (const [day, open, what] of next) assert.equal(nextBusinessDay(day), open, what)
})

test('the next business day is a business day, none was passed over, and it is 4 days off at most', () => {
  const days = fc.integer({ min: 0, max: 365 * 200 }).map((count) => addDays('2000-01-01', count))
  fc.assert(
    fc.property(days, (day) => {
      const open = nextBusinessDay(day)
      assert.equal(isBusinessDay(open), true)
      const passed = daysBetween(day, open)
      assert.ok(passed >= 0 && passed <= 4, `${day} → ${open}`)
      for (let i = 0; i < passed; i++) assert.equal(isBusinessDay(addDays(day, i)), false)
    }),
  )
})

test('business days are counted as if each day was looked at', () => {
  const start = fc.integer({ min: 0, max: 365 * 200 }).map((count) => addDays('2001-01-01', count))
  fc.assert(
    fc.property(start, fc.integer({ min: -10, max: 1500 }), (from, length) => {
      const days = Array.from({ length: Math.max(0, length) }, (_, n) => addDays(from, n + 1))
      assert.equal(
        countBusinessDays(from, addDays(from, length)),
        days.filter(isBusinessDay).length,
      )
    }),
  )
})
