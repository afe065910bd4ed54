import { assert } from '../lib/assert.ts'

export const ZONE = 'America/Sao_Paulo'
const DAY_ms = 86_400_000
// Before the year 2000 the offset from UTC was not always a whole number of hours.
const GIVEN_DATE = /^2\d{3}-\d\d-\d\d$/
/** The day after the last that may be given can still be reckoned with. */
const LOCAL_DATE = /^[23]\d{3}-\d\d-\d\d$/

const FORM = new Intl.DateTimeFormat('pt-BR', {
  timeZone: ZONE,
  day: '2-digit',
  month: '2-digit',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})
const EXACT = new Intl.DateTimeFormat('pt-BR', {
  timeZone: ZONE,
  dateStyle: 'short',
  timeStyle: 'medium',
})
// Swedes write dates as ISO 8601 does: 2026-08-31, and 2026-08-31 08 with the hour.
const DATE = new Intl.DateTimeFormat('sv', { timeZone: ZONE })
const HOUR = new Intl.DateTimeFormat('sv', {
  timeZone: ZONE,
  day: '2-digit',
  month: '2-digit',
  year: 'numeric',
  hour: '2-digit',
  hourCycle: 'h23',
})

/** A day of the calendar in São Paulo, YYYY-MM-DD. Days compare with < as text. */
export type LocalDate = string

/** A moment as people in Brazil read it, by the clock of Brasília: dd/mm/aaaa HH:mm. */
export const formatMoment = (at: Date): string => FORM.format(at).replace(',', '')

/** A day as people in Brazil read it: dd/mm/aaaa. */
export const formatDay = (day: LocalDate): string => day.split('-').toReversed().join('/')

/** A moment to the second, day and time apart: dd/mm/aaaa and HH:mm:ss. */
export const formatSecond = (at: Date): [day: string, time: string] =>
  EXACT.format(at).split(', ') as [string, string]

/** Whether the text is a day that the calendar has, so 2028-02-29 but not 2027-02-29. */
export function isLocalDate(text: string): boolean {
  const number = GIVEN_DATE.test(text) ? Date.parse(text) / DAY_ms : Number.NaN
  return Number.isInteger(number) && localDate(number) === text
}

export const localDateOf = (at: Date): LocalDate => DATE.format(at)

/**
 * When a day starts: at 03:00 UTC, or at 02:00 in summers that shift the clocks. They are shifted
 * at midnight, so the day on which a summer starts has no 00:00 and starts at 01:00.
 */
export const startOfDay = (day: LocalDate): Date => atHour(day, 0)

/** When a period starts that is given by a day, which is in it, or by a moment. */
export const startOfPeriod = (text: string): Date =>
  isLocalDate(text) ? startOfDay(text) : new Date(text)

/** When a period ends: after the whole of a given day, or right before a given moment. */
export const endOfPeriod = (text: string): Date =>
  isLocalDate(text) ? startOfDay(addDays(text, 1)) : new Date(text)

/** When a whole hour strikes on a day, the first time if it does so twice. */
export function atHour(day: LocalDate, hour: number): Date {
  const midnight_ms = dayNumber(day) * DAY_ms
  const inSummer = new Date(midnight_ms + (hour + 2) * 3_600_000)
  const struck = HOUR.format(inSummer) === `${day} ${String(hour).padStart(2, '0')}`
  return struck ? inSummer : new Date(midnight_ms + (hour + 3) * 3_600_000)
}

export const addDays = (day: LocalDate, days: number): LocalDate => localDate(dayNumber(day) + days)

export const daysBetween = (from: LocalDate, to: LocalDate): number =>
  dayNumber(to) - dayNumber(from)

/** From 0, Sunday, to 6, Saturday. */
export const weekdayOf = (day: LocalDate): number => new Date(dayNumber(day) * DAY_ms).getUTCDay()

/**
 * The same day of a later month, or that month's last day when it is shorter. Counted always from
 * the same anchor, a 31st that was clipped in February is a 31st again in March.
 */
export function addMonths(anchor: LocalDate, months: number): LocalDate {
  assert(LOCAL_DATE.test(anchor), 'a local date is YYYY-MM-DD')
  const [year, month, date] = anchor.split('-').map(Number)
  const lastDate = new Date(Date.UTC(year!, month! + months, 0)).getUTCDate()
  return localDate(Date.UTC(year!, month! - 1 + months, Math.min(date!, lastDate)) / DAY_ms)
}

/** Days since 1 January 1970. A text that is no day is a bug: it would count on as NaN. */
function dayNumber(day: LocalDate): number {
  assert(LOCAL_DATE.test(day), 'a local date is YYYY-MM-DD')
  return Date.parse(day) / DAY_ms
}

const localDate = (number: number): LocalDate =>
  new Date(number * DAY_ms).toISOString().slice(0, 10)
