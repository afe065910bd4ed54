import { assert } from '../lib/assert.ts'
import { nextBusinessDay } from './business-days.ts'
import { addDays, addMonths, daysBetween, type LocalDate } from './local-time.ts'

/** Code that uses this calendar also needs these functions. */
export {
  addDays,
  addMonths,
  atHour,
  daysBetween,
  type LocalDate,
  localDateOf,
  startOfDay,
} from './local-time.ts'

export type Frequency = 'WEEKLY' | 'MONTHLY' | 'SEMIANNUAL' | 'ANNUAL'

/** The scheme accepts a charge from 10 to 2 days before it is due. */
export const SCHEDULE_DAYS = { earliest: 10, latest: 2 } as const
/**
 * The scheme's PERMITE_3R_7D: three retries, on different days, within 7 days of the due day. They
 * may be on any day, because Pix settles every day: only the due day moves to a business day.
 */
export const RETRY_DAYS = [1, 4, 7] as const

const DEFAULT_DAYS_TO_PAY = 3
const MONTHS = { MONTHLY: 1, SEMIANNUAL: 6, ANNUAL: 12 } as const

/**
 * The day of the first charge. If the product names a day of the month, it is the first such day
 * from the approval on. Otherwise it is the day of the approval.
 */
export function firstGeneration(
  approvedOn: LocalDate,
  dayGenerateCharge: number | null,
): LocalDate {
  if (dayGenerateCharge === null) return approvedOn
  // Every month has the first 28 days, so none is skipped.
  assertWhole(dayGenerateCharge, 1, 28, 'a day of generation')
  const thisMonth = `${approvedOn.slice(0, 8)}${String(dayGenerateCharge).padStart(2, '0')}`
  return thisMonth >= approvedOn ? thisMonth : addMonths(thisMonth, 1)
}

/** The day on which cycle n is generated; cycles count from 0. */
export function generationDay(first: LocalDate, frequency: Frequency, n: number): LocalDate {
  assertWhole(n, 0, Number.MAX_SAFE_INTEGER, 'a cycle')
  return frequency === 'WEEKLY' ? addDays(first, 7 * n) : addMonths(first, MONTHS[frequency] * n)
}

/**
 * The day that was agreed for the payment, which may be no business day. It is always the same
 * number of days after generation, so each cycle of the scheme has exactly one.
 */
export function agreedDueDay(generatedOn: LocalDate, dayDue: number | null): LocalDate {
  const days = dayDue ?? DEFAULT_DAYS_TO_PAY
  assertWhole(days, 1, 7, 'a number of days to pay')
  return addDays(generatedOn, Math.max(days, SCHEDULE_DAYS.latest))
}

/** The day on which the payer's bank collects. */
export const dueDay = (generatedOn: LocalDate, dayDue: number | null): LocalDate =>
  nextBusinessDay(agreedDueDay(generatedOn, dayDue))

/** The first day, from generation on, on which the scheme accepts the charge. */
export function scheduleDay(generatedOn: LocalDate, dueOn: LocalDate): LocalDate {
  const opens = addDays(dueOn, -SCHEDULE_DAYS.earliest)
  return opens > generatedOn ? opens : generatedOn
}

/** Whether the scheme lets a charge be scheduled on this day. */
export function maySchedule(on: LocalDate, dueOn: LocalDate): boolean {
  const ahead = daysBetween(on, dueOn)
  return ahead >= SCHEDULE_DAYS.latest && ahead <= SCHEDULE_DAYS.earliest
}

export const retryDays = (dueOn: LocalDate): LocalDate[] =>
  RETRY_DAYS.map((days) => addDays(dueOn, days))

function assertWhole(value: number, min: number, max: number, what: string): void {
  assert(Number.isInteger(value) && value >= min && value <= max, `${what} is ${min} to ${max}`)
}
