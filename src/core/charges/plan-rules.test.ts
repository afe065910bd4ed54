import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MAX_AMOUNT, MIN_CHARGE } from '../../pix/amounts.ts'
import { daysBetween } from '../../pix/local-time.ts'
import {
  divide,
  isDivided,
  MAX_CHARGES,
  MIN_CHARGES,
  monthsFrom,
  partsOf,
  statusOf,
  termsOf,
} from './plan-rules.ts'

const counts = fc.integer({ min: MIN_CHARGES, max: MAX_CHARGES })
const days = fc
  .date({ min: new Date('2026-01-01'), max: new Date('2099-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10))

test('equal parts add up to the total to the cent, and only the first may differ', () => {
  fc.assert(
    fc.property(
      counts,
      fc.integer({ min: MIN_CHARGE * MAX_CHARGES, max: MAX_AMOUNT }),
      (count, total) => {
        const [first, ...others] = partsOf(total, count)
        assert.equal(others.length, count - 1)
        assert.equal(new Set(others).size, 1)
        assert.equal(
          others.reduce((sum, part) => sum + part, Number(first)),
          total,
        )
        const rest = first! - others[0]!
        assert.ok(rest >= 0 && rest < count, 'the rest is less than a cent for each')
      },
    ),
  )
})

test('months go on from the first due date: the same day, or the last one of a shorter month', () => {
  assert.deepEqual(monthsFrom('2027-01-31', 4), [
    '2027-01-31',
    '2027-02-28',
    '2027-03-31',
    '2027-04-30',
  ])
  fc.assert(
    fc.property(days, counts, (first, count) => {
      const all = monthsFrom(first, count)
      const months = all.map((day) => Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7)))
      assert.ok(months.every((month, i) => month === months[0]! + i))
      for (const day of all) {
        const [year, month, date] = day.split('-').map(Number)
        const last = new Date(Date.UTC(year!, month!, 0)).getUTCDate()
        assert.equal(date, Math.min(Number(first.slice(8)), last))
      }
    }),
  )
})

test('whatever a sale is divided into has its total, its days in order, and charges that may be', () => {
  const division = fc.record(
    {
      total: fc.integer({ min: 1000, max: 100_000 }),
      count: fc.integer({ min: 2, max: 8 }),
      amounts: fc.array(fc.integer({ min: 500, max: 2000 }), { minLength: 2, maxLength: 8 }),
      firstDueDate: days,
      dueDates: fc.array(days, { minLength: 2, maxLength: 8 }),
    },
    { requiredKeys: ['total'] },
  )
  fc.assert(
    fc.property(division, (given) => {
      const divided = divide(given)
      if (!isDivided(divided))
        return assert.ok(divided.length > 0 && divided.every((one) => /^\w+(\[\d+\])?: /.test(one)))
      assert.equal(
        divided.reduce((sum, { amount }) => sum + amount, 0),
        given.total,
      )
      assert.equal(divided.length, given.count ?? divided.length)
      assert.ok(divided.every(({ amount }) => amount >= MIN_CHARGE))
      const dates = divided.map(({ dueDate }) => dueDate)
      assert.deepEqual(dates, [...new Set(dates)].sort())
      assert.ok(dates[0] === (given.firstDueDate ?? given.dueDates?.[0]))
    }),
    { numRuns: 500 },
  )
})

test('amounts that are given are taken if they add up', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 500, max: 9999 }), { minLength: 2, maxLength: 60 }),
      fc.integer({ min: -1, max: 1 }),
      (amounts, off) => {
        const total = amounts.reduce((sum, one) => sum + one, off)
        const divided = divide({ total, amounts, firstDueDate: '2026-12-10' })
        if (off === 0)
          assert.deepEqual(
            (divided as { amount: number }[]).map(({ amount }) => amount),
            amounts,
          )
        else
          assert.deepEqual(divided, [
            `amounts: add up to ${total - off} cents, and total is ${total}`,
          ])
      },
    ),
  )
})

test('a discount ends so many days before each due date, and is left out once that is over', () => {
  fc.assert(
    fc.property(
      days,
      fc.integer({ min: 0, max: 60 }),
      fc.integer({ min: 0, max: 90 }),
      (due, before, ahead) => {
        const today = new Date(Date.parse(due) - ahead * 86_400_000).toISOString().slice(0, 10)
        const discounts = [{ type: 'FIXED' as const, value: 100, daysBeforeDue: before }]
        const { discounts: dated = [] } = termsOf({ daysAfterDue: 30, discounts }, due, today)
        assert.equal(dated.length, before <= ahead ? 1 : 0)
        for (const { until } of dated) assert.equal(daysBetween(until, due), before)
      },
    ),
  )
})

test('the state of a plan is that of its charges together', () => {
  const of = (...all: ('OPEN' | 'COMPLETED' | 'EXPIRED' | 'CANCELED')[]) =>
    statusOf(all.map((status) => ({ status })))
  assert.equal(of('COMPLETED', 'OPEN'), 'OPEN')
  assert.equal(of('CANCELED', 'EXPIRED', 'OPEN'), 'OPEN')
  assert.equal(of('COMPLETED', 'COMPLETED'), 'COMPLETED')
  assert.equal(of('COMPLETED', 'EXPIRED', 'CANCELED'), 'CANCELED')
  assert.equal(of('COMPLETED', 'EXPIRED'), 'EXPIRED')
})
