import {
  endOfPeriod,
  isLocalDate,
  type LocalDate,
  localDateOf,
  startOfDay,
} from '../../pix/local-time.ts'
import { daysOf, type PeriodName, periodIn, untilToday } from './periods.ts'
import type { Visit } from './visit.ts'

/** The first and the last day of a period, which both belong to it. */
export type Days = { from: LocalDate; to: LocalDate }

const firstOfMonth = (day: LocalDate): LocalDate => `${day.slice(0, 8)}01`

/** The days of a period with a name that are not in the future. */
function namedDays(name: PeriodName, now: Date): Days {
  const { first, last } = untilToday(daysOf(name, localDateOf(now)), now)
  return { from: first, to: last }
}

type Dated = Pick<Visit, 'query' | 'app'>

const todayOf = ({ app }: Dated): LocalDate => localDateOf(app.clock.now())

const dayIn = (text: string | undefined): LocalDate | null =>
  text && isLocalDate(text) ? text : null

/** The days of the URL, or of the period that it names; else null. What is no day is not used. */
export function givenDays({ query, app }: Dated): Partial<Days> | null {
  const period = periodIn(query)
  if (period) return namedDays(period, app.clock.now())
  const [from, to] = [dayIn(query.from), dayIn(query.to)]
  return from || to ? { ...(from && { from }), ...(to && { to }) } : null
}

/** The days of the URL, or else this month. A period that has one end only is of that month. */
export function daysOrMonth(visit: Dated): Days {
  const today = todayOf(visit)
  const { from, to } = givenDays(visit) ?? {}
  const end = to ?? (from && from > today ? from : today)
  return { from: from ?? firstOfMonth(end), to: end }
}

/** The period with a name that a list shows whose days are those of this month unless given. */
export const periodOrMonth = (given: Record<string, string>): PeriodName | null =>
  given.from || given.to ? null : (periodIn(given) ?? 'month')

/** From the first moment of the period until before the first one after it. */
export const spanOf = ({ from, to }: Days): { from: Date; to: Date } => ({
  from: startOfDay(from),
  to: endOfPeriod(to),
})
