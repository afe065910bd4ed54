import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newId } from '../../lib/ids.ts'
import { isBusinessDay } from '../../pix/business-days.ts'
import { maySchedule } from '../../pix/calendar.ts'
import { addDays, atHour, type LocalDate, localDateOf, startOfDay } from '../../pix/local-time.ts'
import type { Attempt, Collection } from '../../provider/port.ts'
import { type Billing, debitDay, endOfRetries, hasMissed, reschedule, stepAfter } from './rules.ts'

const HOUR_MS = 3_600_000
const START = new Date('2026-08-20T15:00:00Z')
const later = (at: Date, ms: number) => new Date(at.getTime() + ms)

const billingOn = (dueOn: LocalDate, fields: Partial<Billing> = {}): Billing => ({
  companyId: newId(),
  chargeId: newId(),
  recurrenceId: newId(),
  cycle: 0,
  dueOn,
  status: 'SCHEDULED',
  unanswered: 0,
  ordered: true,
  nextAt: START,
  ...fields,
})

test('a billing that is not scheduled two days ahead moves to a day that no other cycle has', () => {
  const lease = new Date('2026-08-20T15:01:00Z')
  const planned = billingOn('2026-08-21', { status: 'PLANNED', nextAt: lease })
  assert.equal(hasMissed(planned, '2026-08-19'), false)
  assert.equal(hasMissed(planned, '2026-08-20'), true)
  const table: [lastDueOn: LocalDate, dueOn: LocalDate, nextAt: Date][] = [
    ['2026-08-21', '2026-08-24', lease],
    // 24 August is another's.
    ['2026-08-24', '2026-08-25', lease],
    ['2026-08-28', '2026-08-31', startOfDay('2026-08-21')],
    // Independence Day is a Monday; the window of ten days opens when it is closest.
    ['2026-09-04', '2026-09-08', startOfDay('2026-08-29')],
  ]
  for (const [lastDueOn, dueOn, nextAt] of table) {
    const moved = reschedule(planned, { dayDue: 3, lastDueOn }, '2026-08-20')
    assert.deepEqual(moved, { ...planned, dueOn, nextAt })
  }
})

test('a billing that is moved can always be scheduled on the day that it gets', () => {
  const days = fc.integer({ min: 0, max: 3000 }).map((count) => addDays('2026-01-01', count))
  const lead = fc.integer({ min: -30, max: 40 })
  fc.assert(
    fc.property(days, lead, fc.integer({ min: 1, max: 7 }), (today, ahead, dayDue) => {
      const lastDueOn = addDays(today, ahead)
      const moved = reschedule(billingOn(today), { dayDue, lastDueOn }, today)
      assert.ok(isBusinessDay(moved.dueOn) && moved.dueOn > lastDueOn)
      assert.equal(hasMissed(moved, today), false)
      const on = maySchedule(today, moved.dueOn) ? today : localDateOf(moved.nextAt!)
      assert.ok(on >= today && maySchedule(on, moved.dueOn))
    }),
  )
})

const attempt = (on: LocalDate, status: Attempt['status']): Attempt => ({
  on,
  status,
  endToEndId: status === 'PAID' ? `E${on}` : null,
})
const DUE_ON = '2026-09-03'
const RETRIES = ['2026-09-04', '2026-09-07', '2026-09-10']

/** A collection whose attempts failed on these days. */
const failed = (...days: LocalDate[]): Collection => ({
  status: 'FAILED',
  attempts: days.map((day) => attempt(day, 'FAILED')),
})

test('a scheduled collection is asked about at noon of its day, and then every hour', () => {
  const billing = billingOn(DUE_ON)
  const waiting: Collection = { status: 'SCHEDULED', attempts: [attempt(DUE_ON, 'SCHEDULED')] }
  const noon = new Date('2026-09-03T15:00:00Z')
  for (const now of [new Date('2026-08-31T15:00:00Z'), later(noon, -1)]) {
    assert.deepEqual(stepAfter(billing, waiting, now), { kind: 'wait', until: noon })
  }
  assert.deepEqual(stepAfter(billing, waiting, noon), {
    kind: 'wait',
    until: later(noon, HOUR_MS),
  })
  const again = { ...waiting, attempts: [attempt(DUE_ON, 'FAILED'), ...waiting.attempts] }
  again.attempts[1] = attempt(RETRIES[0]!, 'SCHEDULED')
  const until = new Date('2026-09-04T15:00:00Z')
  assert.deepEqual(stepAfter(billing, again, noon), { kind: 'wait', until })
})

test('the next debit is on the due day, then on the days of the retries, and never in the past', () => {
  const dueOn = '2026-12-28'
  const noon = (day: LocalDate) => atHour(day, 12)
  const table: [today: LocalDate, nextAt: Date | null, debit: LocalDate | null][] = [
    ['2026-12-20', startOfDay('2026-12-20'), '2026-12-28'],
    ['2026-12-28', noon('2026-12-28'), '2026-12-28'],
    // The debit has failed in the morning, and the retry is ordered.
    ['2026-12-28', noon('2026-12-29'), '2026-12-29'],
    // A retry may be on a holiday. If the bank is asked earlier, that changes no day.
    ['2026-12-30', noon('2027-01-01'), '2027-01-01'],
    ['2026-12-30', noon('2026-12-30'), '2027-01-01'],
    ['2027-01-04', noon('2027-01-04'), '2027-01-04'],
    ['2027-01-05', noon('2027-01-05'), null],
  ]
  for (const [today, nextAt, debit] of table) {
    assert.equal(debitDay({ dueOn, nextAt }, today), debit, today)
  }
})

test('a paid collection gives the scheme’s ids of its payments, a canceled one is canceled', () => {
  const attempts = [attempt(DUE_ON, 'FAILED'), attempt(RETRIES[0]!, 'PAID')]
  assert.deepEqual(stepAfter(billingOn(DUE_ON), { status: 'PAID', attempts }, START), {
    kind: 'paid',
    endToEndIds: ['E2026-09-04'],
  })
  const canceled: Collection = { status: 'CANCELED', attempts: [] }
  assert.deepEqual(stepAfter(billingOn(DUE_ON), canceled, START), { kind: 'cancel' })
})

test('a failed one is tried again 1, 4 and 7 days after it was due, and then has failed', () => {
  const tried = [DUE_ON, ...RETRIES]
  tried.forEach((day, n) => {
    const now = atHour(day, 8)
    const on = RETRIES[n]
    const step = stepAfter(billingOn(DUE_ON), failed(...tried.slice(0, n + 1)), now)
    assert.deepEqual(step, on ? { kind: 'retry', on } : { kind: 'fail' }, day)
  })
})

test('if a failure is found late, the retries on the days that are left are made', () => {
  const steps: [today: LocalDate, on: LocalDate | null][] = [
    ['2026-09-05', '2026-09-07'],
    ['2026-09-07', '2026-09-07'],
    ['2026-09-08', '2026-09-10'],
    ['2026-09-10', '2026-09-10'],
    ['2026-09-11', null],
  ]
  for (const [today, on] of steps) {
    const step = stepAfter(billingOn(DUE_ON), failed(DUE_ON), atHour(today, 23))
    assert.deepEqual(step, on ? { kind: 'retry', on } : { kind: 'fail' }, today)
    assert.ok(
      atHour(today, 23) < endOfRetries(DUE_ON) === (on !== null),
      'as long as the charge is open',
    )
  }
})

test('no more than three retries are ordered, whatever days the bank has tried', () => {
  const days = fc.subarray([1, 2, 3, 4, 5, 6, 7], { minLength: 0, maxLength: 7 })
  fc.assert(
    fc.property(days, fc.integer({ min: 0, max: 9 }), (tried, today) => {
      const collection = failed(DUE_ON, ...tried.map((count) => addDays(DUE_ON, count)))
      const now = atHour(addDays(DUE_ON, today), 9)
      const step = stepAfter(billingOn(DUE_ON), collection, now)
      if (step.kind === 'fail') return
      assert.equal(step.kind, 'retry')
      const { on } = step as { on: LocalDate }
      assert.ok(tried.length < 3)
      assert.ok(RETRIES.includes(on) && on > collection.attempts.at(-1)!.on)
      assert.ok(on >= localDateOf(now))
    }),
  )
})
