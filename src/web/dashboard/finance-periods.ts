import type { Language } from '../../lib/language.ts'
import {
  endOfPeriod,
  isLocalDate,
  type LocalDate,
  localDateOf,
  startOfDay,
} from '../../pix/local-time.ts'
import type { Html } from '../html.ts'
import { chips, periodWords, withFilters } from './list-parts.ts'
import { daysOf, PERIODS, type PeriodName, untilToday } from './periods.ts'
import type { Visit } from './visit.ts'

/** The first and the last day of a period, which both belong to it. */
export type Days = { from: LocalDate; to: LocalDate }

const firstOfMonth = (day: LocalDate): LocalDate => `${day.slice(0, 8)}01`

/** The days of a period with a name that are not in the future. */
function namedDays(name: PeriodName, now: Date): Days {
  const { first, last } = untilToday(daysOf(name, localDateOf(now)), now)
  return { from: first, to: last }
}

const WORDS: Record<Language, { label: string; all: string }> = {
  pt: { label: 'Período', all: 'Tudo' },
  en: { label: 'Period', all: 'All' },
}

type Dated = Pick<Visit, 'query' | 'app'>

const todayOf = ({ app }: Dated): LocalDate => localDateOf(app.clock.now())

const dayIn = (text: string | undefined): LocalDate | null =>
  text && isLocalDate(text) ? text : null

/** The days of the URL; null if it names none. What is no day is not used. */
export function givenDays({ query }: Pick<Visit, 'query'>): Partial<Days> | null {
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

/** From the first moment of the period until before the first one after it. */
export const spanOf = ({ from, to }: Days): { from: Date; to: Date } => ({
  from: startOfDay(from),
  to: endOfPeriod(to),
})

/**
 * Links to the periods that people look at most, which leave the other filters as they are. `here`
 * is the period that the page shows; null: all.
 */
export function periodChips(
  visit: Visit,
  path: string,
  here: Partial<Days> | null,
  { kept, hasAll = false }: { kept: Record<string, string>; hasAll?: boolean },
): Html | null {
  const now = visit.app.clock.now()
  const names = periodWords(visit.language)
  const words = WORDS[visit.language]
  const to = (days: Days | null) => withFilters(visit, path, kept, { ...days })
  // On the first days of a month several are the same days: the longest name is marked.
  const shown = PERIODS.findLast((name) => {
    const days = namedDays(name, now)
    return here?.from === days.from && here.to === days.to
  })
  const periods = PERIODS.map((name) => ({
    label: names[name],
    href: to(namedDays(name, now)),
    isHere: name === shown,
  }))
  const all = { label: words.all, href: to(null), isHere: here === null }
  return chips(words.label, hasAll ? [all, ...periods] : periods, visit.language)
}
