import { assert } from '../lib/assert.ts'

export const ZONE = 'America/Sao_Paulo'
const DAY_ms = 86_400_000
// Before the year 2000 the offset from UTC was not always a whole number of hours.
const GIVEN_DATE = /^2\d{3}-\d\d-\d\d$/
/** Results of calculations may be later than the last date that may be given. */
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
// The Swedish locale formats dates as ISO 8601 does: 2026-08-31, and 2026-08-31 08 with the hour.
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

/** A moment as people in Brazil read it, in the time of Brasília: dd/mm/aaaa HH:mm. */
export const formatMoment = (at: Date): string => FORM.format(at).replace(',', '')

/** A day as people in Brazil read it: dd/mm/aaaa. */
export const formatDay = (day: LocalDate): string => day.split('-').toReversed().join('/')

/** The day and the time of a moment: dd/mm/aaaa and HH:mm:ss. */
export const formatSecond = (at: Date): [day: string, time: string] =>
  EXACT.format(at).split(', ') as [string, string]

/** Whether the text is a day of the calendar: 2028-02-29 is one, 2027-02-29 is not. */
export function isLocalDate(text: string): boolean {
  const number = GIVEN_DATE.test(text) ? Date.parse(text) / DAY_ms : Number.NaN
  return Number.isInteger(number) && localDate(number) === text
}

export const localDateOf = (at: Date): LocalDate => DATE.format(at)

/**
 * When a day starts: at 03:00 UTC, or at 02:00 UTC in daylight saving time. Clocks change at
 * midnight, so the first day of daylight saving time has no 00:00 and starts at 01:00.
 */
export const startOfDay = (day: LocalDate): Date => atHour(day, 0)

/** The start of a period that is given by its first day or by a moment. */
export const startOfPeriod = (text: string): Date =>
  isLocalDate(text) ? startOfDay(text) : new Date(text)

/** The end of a period that is given by its last day or by the first moment after it. */
export const endOfPeriod = (text: string): Date =>
  isLocalDate(text) ? startOfDay(addDays(text, 1)) : new Date(text)

/** The moment of a whole hour of a day. If the day has that hour twice, it is the first one. */
export function atHour(day: LocalDate, hour: number): Date {
  const midnight_ms = dayNumber(day) * DAY_ms
  const inSummer = new Date(midnight_ms + (hour + 2) * 3_600_000)
  const isInSummer = HOUR.format(inSummer) === `${day} ${String(hour).padStart(2, '0')}`
  return isInSummer ? inSummer : new Date(midnight_ms + (hour + 3) * 3_600_000)
}

export const addDays = (day: LocalDate, days: number): LocalDate => localDate(dayNumber(day) + days)

export const daysBetween = (from: LocalDate, to: LocalDate): number =>
  dayNumber(to) - dayNumber(from)

/** From 0, Sunday, to 6, Saturday. */
export const weekdayOf = (day: LocalDate): number => new Date(dayNumber(day) * DAY_ms).getUTCDay()

/**
 * The same day of a later month, or the last day of that month if it is shorter. Always count from
 * the same anchor, because then a 31st that was shortened in February is a 31st again in March.
 */
export function addMonths(anchor: LocalDate, months: number): LocalDate {
  assert(LOCAL_DATE.test(anchor), 'a local date is YYYY-MM-DD')
  const [year, month, date] = anchor.split('-').map(Number)
  const lastDate = new Date(Date.UTC(year!, month! + months, 0)).getUTCDate()
  return localDate(Date.UTC(year!, month! - 1 + months, Math.min(date!, lastDate)) / DAY_ms)
}

/** Days since 1 January 1970. A text that is not a day is a bug, because it would give NaN. */
function dayNumber(day: LocalDate): number {
  assert(LOCAL_DATE.test(day), 'a local date is YYYY-MM-DD')
  return Date.parse(day) / DAY_ms
}

const localDate = (number: number): LocalDate =>
  new Date(number * DAY_ms).toISOString().slice(0, 10)
