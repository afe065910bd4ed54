import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isBusinessDay } from './business-days.ts'
import {
  agreedDueDay,
  dueDay,
  type Frequency,
  firstGeneration,
  generationDay,
  maySchedule,
  retryDays,
  scheduleDay,
} from './calendar.ts'
import { addDays, daysBetween, type LocalDate } from './local-time.ts'

const cycles = (first: LocalDate, frequency: Frequency, count: number) =>
  Array.from({ length: count }, (_, n) => generationDay(first, frequency, n))

test('the first charge is generated on the day of approval when the product names no day', () => {
  for (const day of ['2026-08-15', '2026-01-31', '2028-02-29', '2026-12-31']) {
    assert.equal(firstGeneration(day, null), day)
  }
})

test('the first charge is generated on the product’s day, from the day of approval on', () => {
  const firsts: [approvedOn: LocalDate, day: number, first: LocalDate][] = [
    ['2026-08-15', 15, '2026-08-15'],
    ['2026-08-15', 16, '2026-08-16'],
    ['2026-08-15', 14, '2026-09-14'],
    ['2026-08-31', 1, '2026-09-01'],
    ['2026-12-29', 28, '2027-01-28'],
    ['2026-12-31', 1, '2027-01-01'],
    ['2027-01-29', 28, '2027-02-28'],
    ['2028-02-29', 28, '2028-03-28'],
    ['2028-02-28', 28, '2028-02-28'],
  ]
  for (const [approvedOn, day, first] of firsts) {
    assert.equal(firstGeneration(approvedOn, day), first, `${approvedOn}, day ${day}`)
  }
})

test('cycles of every frequency keep the day, clipped to the month and back again', () => {
  const tables: [first: LocalDate, frequency: Frequency, days: LocalDate[]][] = [
    ['2026-12-18', 'WEEKLY', ['2026-12-18', '2026-12-25', '2027-01-01', '2027-01-08']],
    ['2028-02-22', 'WEEKLY', ['2028-02-22', '2028-02-29', '2028-03-07', '2028-03-14']],
    ['2026-11-15', 'MONTHLY', ['2026-11-15', '2026-12-15', '2027-01-15', '2027-02-15']],
    ['2027-01-31', 'MONTHLY', ['2027-01-31', '2027-02-28', '2027-03-31', '2027-04-30']],
    ['2028-01-31', 'MONTHLY', ['2028-01-31', '2028-02-29', '2028-03-31', '2028-04-30']],
    ['2027-12-30', 'MONTHLY', ['2027-12-30', '2028-01-30', '2028-02-29', '2028-03-30']],
    ['2026-12-29', 'MONTHLY', ['2026-12-29', '2027-01-29', '2027-02-28', '2027-03-29']],
    ['2028-02-29', 'MONTHLY', ['2028-02-29', '2028-03-29', '2028-04-29', '2028-05-29']],
    ['2026-08-31', 'SEMIANNUAL', ['2026-08-31', '2027-02-28', '2027-08-31', '2028-02-29']],
    ['2026-12-31', 'SEMIANNUAL', ['2026-12-31', '2027-06-30', '2027-12-31', '2028-06-30']],
    ['2028-02-29', 'SEMIANNUAL', ['2028-02-29', '2028-08-29', '2029-02-28', '2029-08-29']],
    ['2026-12-31', 'ANNUAL', ['2026-12-31', '2027-12-31', '2028-12-31', '2029-12-31']],
    ['2028-02-29', 'ANNUAL', ['2028-02-29', '2029-02-28', '2030-02-28', '2031-02-28']],
  ]
  for (const [first, frequency, days] of tables) {
    assert.deepEqual(cycles(first, frequency, 4), days, `${frequency} from ${first}`)
  }
  assert.equal(generationDay('2028-02-29', 'ANNUAL', 4), '2032-02-29')
})

test('a charge is due so many days after generation, at least two, on a business day', () => {
  const dues: [generatedOn: LocalDate, dayDue: number | null, dueOn: LocalDate, what: string][] = [
    ['2026-08-10', null, '2026-08-13', 'three days when the product says none'],
    ['2026-08-10', 1, '2026-08-12', 'the scheme wants two'],
    ['2026-08-10', 2, '2026-08-12', 'two'],
    ['2026-08-10', 4, '2026-08-14', 'four'],
    ['2026-08-10', 5, '2026-08-17', 'a Saturday'],
    ['2026-08-10', 7, '2026-08-17', 'seven'],
    ['2026-12-22', 3, '2026-12-28', 'Christmas, then a weekend'],
    ['2026-12-29', 3, '2027-01-04', 'New Year, then a weekend'],
    ['2026-02-11', null, '2026-02-18', 'Carnival'],
    ['2026-02-07', 7, '2026-02-18', 'Carnival, eleven days on'],
    ['2028-02-26', 3, '2028-03-01', '29 February is Carnival Tuesday'],
    ['2024-02-26', 3, '2024-02-29', '29 February'],
    ['2027-02-25', 3, '2027-03-01', 'a Sunday that ends February'],
  ]
  for (const [generatedOn, dayDue, dueOn, what] of dues) {
    assert.equal(dueDay(generatedOn, dayDue), dueOn, what)
  }
})

test('a charge is scheduled when it is generated, or when the window of ten days opens', () => {
  assert.equal(scheduleDay('2026-08-10', '2026-08-13'), '2026-08-10')
  assert.equal(scheduleDay('2026-02-08', '2026-02-18'), '2026-02-08')
  assert.equal(scheduleDay('2026-02-07', '2026-02-18'), '2026-02-08')
})

test('the window is from ten to two days before the due day', () => {
  const window = ['2026-08-02', '2026-08-03', '2026-08-11', '2026-08-12', '2026-08-13']
  assert.deepEqual(
    window.map((on) => maySchedule(on, '2026-08-13')),
    [false, true, true, false, false],
  )
})

test('a failed charge is tried again 1, 4 and 7 days after it was due', () => {
  assert.deepEqual(retryDays('2026-12-28'), ['2026-12-29', '2027-01-01', '2027-01-04'])
  assert.deepEqual(retryDays('2028-02-25'), ['2028-02-26', '2028-02-29', '2028-03-03'])
})

test('what no product may say is a bug', () => {
  for (const day of [0, 29, 1.5, Number.NaN]) {
    assert.throws(() => firstGeneration('2026-08-15', day), /assertion failed/)
  }
  for (const days of [0, 8, 2.5])
    assert.throws(() => dueDay('2026-08-15', days), /assertion failed/)
  for (const n of [-1, 0.5]) {
    assert.throws(() => generationDay('2026-08-15', 'MONTHLY', n), /assertion failed/)
  }
})

const MONTHS = { MONTHLY: 1, SEMIANNUAL: 6, ANNUAL: 12 }
const product = fc.record({
  approvedOn: fc.integer({ min: 0, max: 365 * 60 }).map((count) => addDays('2018-01-01', count)),
  frequency: fc.constantFrom<Frequency>('WEEKLY', 'MONTHLY', 'SEMIANNUAL', 'ANNUAL'),
  dayGenerateCharge: fc.option(fc.integer({ min: 1, max: 28 })),
  dayDue: fc.option(fc.integer({ min: 1, max: 7 })),
})
/** Calendars fail at month ends and leap days, which are rare among random days. */
const awkward = product.chain((any) =>
  fc
    .constantFrom(
      '2026-01-31',
      '2027-08-31',
      '2028-02-29',
      '2026-12-31',
      '2027-01-30',
      '2027-12-29',
    )
    .map((approvedOn) => ({ ...any, approvedOn })),
)
const anyProduct = fc.oneof(product, awkward)
const COUNT = 30

test('the first generation is the product’s day, on or after approval, and the nearest such', () => {
  fc.assert(
    fc.property(anyProduct, ({ approvedOn, dayGenerateCharge }) => {
      const first = firstGeneration(approvedOn, dayGenerateCharge)
      const waited = daysBetween(approvedOn, first)
      const wanted = dayGenerateCharge ?? Number(approvedOn.slice(8))
      assert.equal(Number(first.slice(8)), wanted)
      assert.ok(waited >= 0)
      for (let i = 0; i < waited; i++) {
        assert.notEqual(Number(addDays(approvedOn, i).slice(8)), wanted)
      }
    }),
  )
})

const monthIndex = (day: LocalDate) => Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7))
const isLastOfMonth = (day: LocalDate) => addDays(day, 1).endsWith('-01')

test('no cycle is skipped and none doubled: each is one step after the one before', () => {
  fc.assert(
    fc.property(anyProduct, ({ approvedOn, frequency, dayGenerateCharge }) => {
      const first = firstGeneration(approvedOn, dayGenerateCharge)
      const days = cycles(first, frequency, COUNT)
      assert.equal(days[0], first)
      for (let n = 1; n < COUNT; n++) {
        const [before, day] = [days[n - 1]!, days[n]!]
        assert.ok(day > before, `${before} → ${day}`)
        if (frequency === 'WEEKLY') {
          assert.equal(daysBetween(before, day), 7)
        } else {
          assert.equal(monthIndex(day) - monthIndex(before), MONTHS[frequency])
          const kept = day.slice(8) === first.slice(8)
          assert.ok(kept || (isLastOfMonth(day) && day.slice(8) < first.slice(8)), day)
        }
      }
    }),
  )
})

test('every cycle is due on a business day of its own, after those before it', () => {
  fc.assert(
    fc.property(anyProduct, ({ approvedOn, frequency, dayGenerateCharge, dayDue }) => {
      const first = firstGeneration(approvedOn, dayGenerateCharge)
      const days = cycles(first, frequency, COUNT)
      const dues = days.map((day) => dueDay(day, dayDue))
      for (let n = 0; n < COUNT; n++) {
        const agreed = addDays(days[n]!, dayDue ?? 3)
        assert.ok(isBusinessDay(dues[n]!), dues[n])
        assert.ok(dues[n]! >= agreed, 'never before the agreed days have passed')
        assert.ok(n === 0 || dues[n]! > dues[n - 1]!, 'never two on one day')
        // Only closed days lie between the agreed day and the due day.
        const nominal = agreedDueDay(days[n]!, dayDue)
        for (let day = nominal; day < dues[n]!; day = addDays(day, 1)) {
          assert.ok(!isBusinessDay(day), day)
        }
      }
    }),
  )
})

test('every charge can be scheduled inside the window, on the first day that is', () => {
  fc.assert(
    fc.property(anyProduct, ({ approvedOn, dayDue }) => {
      const dueOn = dueDay(approvedOn, dayDue)
      const on = scheduleDay(approvedOn, dueOn)
      const ahead = daysBetween(on, dueOn)
      assert.ok(ahead >= 2 && ahead <= 10, `${on}, due ${dueOn}`)
      assert.ok(maySchedule(on, dueOn))
      assert.ok(on >= approvedOn)
      assert.ok(on === approvedOn || !maySchedule(addDays(on, -1), dueOn))
    }),
  )
})

test('retries are three, on different days, within seven days after the due day', () => {
  fc.assert(
    fc.property(anyProduct, ({ approvedOn, dayDue }) => {
      const dueOn = dueDay(approvedOn, dayDue)
      const after = retryDays(dueOn).map((day) => daysBetween(dueOn, day))
      assert.equal(new Set(after).size, 3)
      assert.ok(
        after.every((days) => days >= 1 && days <= 7),
        String(after),
      )
    }),
  )
})

test('the agreed due days fall one into each cycle of the scheme, holidays or not', () => {
  fc.assert(
    fc.property(anyProduct, ({ approvedOn, frequency, dayGenerateCharge, dayDue }) => {
      const first = firstGeneration(approvedOn, dayGenerateCharge)
      const starts = cycles(first, frequency, COUNT + 2)
      const cycleOf = (day: LocalDate) => starts.findLastIndex((start) => start <= day)
      const agreed = starts.slice(0, COUNT).map((day) => cycleOf(agreedDueDay(day, dayDue)))
      for (let n = 1; n < COUNT; n++) assert.equal(agreed[n]! - agreed[n - 1]!, 1)
    }),
  )
})
