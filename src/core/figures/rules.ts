import { addDays, type LocalDate, localDateOf, startOfDay } from '../../pix/local-time.ts'

const HOUR_MS = 3_600_000
const WEEK_MS = 7 * 24 * HOUR_MS
/** A charge is written at most so long after the moment that it says it was made at. */
const WRITTEN_WITHIN_MS = HOUR_MS
/** Days of which operators see what a company has received, and charges are counted on Today. */
export const CONVERSION_DAYS = 30

/** From `from` on and before `to`. */
export type Period = { from: Date; to: Date }
export type Day = Period & { day: LocalDate }

export const hourOf = (at: Date): Date => new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS)

/** Up to when hours have all the charges that are made in them. */
export const completeUntil = (now: Date): Date =>
  hourOf(new Date(now.getTime() - WRITTEN_WITHIN_MS))

/** The last days of the calendar in São Paulo up to today, oldest first. */
export function lastDays(count: number, now: Date): Day[] {
  const today = localDateOf(now)
  return Array.from({ length: count }, (_, i) => dayOf(addDays(today, i + 1 - count)))
}

/** A day of the calendar in São Paulo. */
export const dayOf = (day: LocalDate): Day => ({
  day,
  from: startOfDay(day),
  to: startOfDay(addDays(day, 1)),
})

/** The same weekday of the week before, up to the same time of day. */
export function sameTimeLastWeek(now: Date): Period {
  const to = new Date(now.getTime() - WEEK_MS)
  return { from: startOfDay(localDateOf(to)), to }
}
