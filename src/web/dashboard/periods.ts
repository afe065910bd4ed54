import { GROUPS, type Group, groupsOf } from '../../core/figures/groups.ts'
import type { Period } from '../../core/figures/rules.ts'
import {
  addDays,
  addMonths,
  daysBetween,
  isLocalDate,
  type LocalDate,
  localDateOf,
  startOfDay,
} from '../../pix/local-time.ts'

/** The periods that have a name. Any other one is given by its days. */
export const PERIODS = ['today', '7d', 'month', 'last'] as const
export type PeriodName = (typeof PERIODS)[number]

/** The period with a name that filters give. Days win over it. */
export const periodIn = ({
  period,
  from,
  to,
}: Record<string, string | undefined>): PeriodName | null =>
  from || to ? null : (PERIODS.find((name) => name === period) ?? null)

/** Days of the calendar in São Paulo. Both belong to them. */
export type Days = { first: LocalDate; last: LocalDate }

/** Parts of a period. */
const STEPS = ['hour', ...GROUPS] as const
export type Step = (typeof STEPS)[number]

/** A part of a period, from its first moment on and before its last one. */
export type Part = Days & Period

/** The longest period that can be asked for. */
export const MAX_YEARS = 2
/** The lengths in days that a step divides into neither too few nor too many parts. */
const FITTING: Record<Group, { least: number; most: number }> = {
  day: { least: 2, most: 92 },
  week: { least: 8, most: 735 },
  month: { least: 29, most: 735 },
}
/** The most parts that any of these makes. */
const MAX_PARTS = 110
/** So many days are shown by day, and so many by week, if nobody chooses. */
const BY_DAY = 62
const BY_WEEK = 190
const DAYS_OF_WEEK = 7
const HOUR_MS = 3_600_000

export const lengthOf = ({ first, last }: Days): number => daysBetween(first, last) + 1

const monthOf = (day: LocalDate): LocalDate => `${day.slice(0, 7)}-01`
const endOfMonth = (day: LocalDate): LocalDate => addDays(addMonths(monthOf(day), 1), -1)

export function daysOf(name: PeriodName, today: LocalDate): Days {
  const month = monthOf(today)
  switch (name) {
    case 'today':
      return { first: today, last: today }
    case '7d':
      return { first: addDays(today, 1 - DAYS_OF_WEEK), last: today }
    case 'month':
      return { first: month, last: endOfMonth(today) }
    case 'last':
      return { first: addMonths(month, -1), last: addDays(month, -1) }
  }
}

/** Why days cannot be shown. */
export type DaysFault = 'no-day' | 'backwards' | 'future' | 'too-long'

/** The days that a person has typed. One that is missing is today, or the same as the other. */
export function readDays(
  from: string | undefined,
  to: string | undefined,
  today: LocalDate,
): Days | DaysFault {
  const last = to || today
  const first = from || last
  if (!isLocalDate(first) || !isLocalDate(last)) return 'no-day'
  if (last < first) return 'backwards'
  if (first > today) return 'future'
  if (last >= addMonths(first, MAX_YEARS * 12)) return 'too-long'
  return { first, last }
}

/** How many whole months the days are. 0: they are not whole months. */
export function monthsIn({ first, last }: Days): number {
  if (first !== monthOf(first) || last !== endOfMonth(last)) return 0
  const numberOf = (day: LocalDate) => Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7))
  return numberOf(last) - numberOf(first) + 1
}

/** The days before: as many months if they are whole months, else as many days. */
export function daysBefore(days: Days): Days {
  const months = monthsIn(days)
  const first = months > 0 ? addMonths(days.first, -months) : addDays(days.first, -lengthOf(days))
  return { first, last: addDays(days.first, -1) }
}

export const periodOf = ({ first, last }: Days): Period => ({
  from: startOfDay(first),
  to: startOfDay(addDays(last, 1)),
})

/**
 * What a period is compared with: the one before, and while the period lasts, as much of it as is
 * over of the period. The first half of a month is not compared with a whole one.
 */
export function periodBefore(days: Days, now: Date): Period {
  const { from, to } = periodOf(days)
  const before = periodOf(daysBefore(days))
  if (now >= to) return before
  const until_ms = before.from.getTime() + now.getTime() - from.getTime()
  return { from: before.from, to: new Date(Math.min(before.to.getTime(), until_ms)) }
}

/** The steps that a period can be divided by. */
export function stepsOf(days: Days): Step[] {
  const length = lengthOf(days)
  if (length === 1) return ['hour']
  const isFitting = (step: Group) => length >= FITTING[step].least && length <= FITTING[step].most
  return GROUPS.filter(isFitting)
}

export function usualStep(days: Days): Step {
  const length = lengthOf(days)
  if (length === 1) return 'hour'
  return length <= BY_DAY ? 'day' : length <= BY_WEEK ? 'week' : 'month'
}

/** The parts of a period in their order. The first and the last week or month may be cut. */
export function partsOf(days: Days, step: Step): Part[] {
  const period = periodOf(days)
  const parts = step === 'hour' ? hoursOf(period) : groupsOf(period, step, MAX_PARTS)
  return parts.map(({ from, to }) => ({
    first: localDateOf(from),
    last: localDateOf(new Date(to.getTime() - 1)),
    from,
    to,
  }))
}

function hoursOf({ from, to }: Period): Period[] {
  const hours = Math.round((to.getTime() - from.getTime()) / HOUR_MS)
  return Array.from({ length: hours }, (_, i) => ({
    from: new Date(from.getTime() + i * HOUR_MS),
    to: new Date(from.getTime() + (i + 1) * HOUR_MS),
  }))
}

/** Without the days that have not begun. */
export const untilToday = ({ first, last }: Days, now: Date): Days => {
  const today = localDateOf(now)
  return { first, last: last < today ? last : today }
}
