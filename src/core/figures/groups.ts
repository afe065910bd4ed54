import { addDays, type LocalDate, localDateOf, startOfDay } from '../../pix/local-time.ts'
import type { Period } from './rules.ts'

/** Days, weeks from Monday on, or months of the calendar in São Paulo. */
export const GROUPS = ['day', 'week', 'month'] as const
export type Group = (typeof GROUPS)[number]

/** The days, weeks or months that a period has a part of, each cut to it. At most so many. */
export function groupsOf({ from, to }: Period, group: Group, max: number): Period[] {
  const periods: Period[] = []
  for (let at = from; at < to && periods.length < max; ) {
    const next = startOfDay(firstAfter(localDateOf(at), group))
    periods.push({ from: at, to: next < to ? next : to })
    at = next
  }
  return periods
}

/** The first day of the next day, week or month. */
function firstAfter(day: LocalDate, group: Group): LocalDate {
  if (group === 'day') return addDays(day, 1)
  if (group === 'month') return `${addDays(`${day.slice(0, 8)}01`, 31).slice(0, 8)}01`
  const weekday = (new Date(day).getUTCDay() + 6) % 7
  return addDays(day, 7 - weekday)
}
