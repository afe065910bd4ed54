import { addDays, daysBetween, type LocalDate, weekdayOf } from './local-time.ts'

// Resolução CMN 4.880/2020, article 6, says which days are no business days of banks: weekends,
// national holidays, and three holidays of banks only (Carnival's Monday and Tuesday, Corpus
// Christi). Holidays of a state or a city are not known here.
const FIXED = new Set(['01-01', '04-21', '05-01', '09-07', '10-12', '11-02', '11-15', '12-25'])
/** Law 14.759/2023 made Consciência Negra a national holiday. */
const CONSCIENCIA_NEGRA = { date: '11-20', since: 2024 }
/** Days from Easter: Carnival's Monday and Tuesday, Good Friday, Corpus Christi. */
const MOVABLE = new Set([-48, -47, -2, 60])

export function isBusinessDay(day: LocalDate): boolean {
  const weekday = weekdayOf(day)
  return weekday !== 0 && weekday !== 6 && !isBankHoliday(day)
}

/** The day itself, if it is a business day. Otherwise the first business day after it. */
export function nextBusinessDay(day: LocalDate): LocalDate {
  let next = day
  while (!isBusinessDay(next)) next = addDays(next, 1)
  return next
}

/** How many business days there are after `from`, until and with `to`. */
export function countBusinessDays(from: LocalDate, to: LocalDate): number {
  if (to <= from) return 0
  const all = daysBetween(from, to)
  const weeks = Math.floor(all / 7)
  const rest = Array.from({ length: all % 7 }, (_, n) => weekdayOf(addDays(from, n + 1)))
  const weekdays = weeks * 5 + rest.filter((day) => day !== 0 && day !== 6).length
  const [first, last] = [Number(from.slice(0, 4)), Number(to.slice(0, 4))]
  const holidays = Array.from({ length: last - first + 1 }, (_, n) => holidaysOf(first + n))
  return weekdays - holidays.flat().filter((day) => day > from && day <= to).length
}

const holidays = new Map<number, LocalDate[]>()

/** The holidays of banks in a year that are no weekends. They never change, so they are kept. */
function holidaysOf(year: number): LocalDate[] {
  const known = holidays.get(year)
  if (known) return known
  const dates = year < CONSCIENCIA_NEGRA.since ? [...FIXED] : [...FIXED, CONSCIENCIA_NEGRA.date]
  const easter = easterOf(year)
  const days = [
    ...dates.map((date) => `${year}-${date}`),
    ...[...MOVABLE].map((n) => addDays(easter, n)),
  ]
  const found = [...new Set(days)].filter((day) => ![0, 6].includes(weekdayOf(day)))
  holidays.set(year, found)
  return found
}

export function isBankHoliday(day: LocalDate): boolean {
  const year = Number(day.slice(0, 4))
  const date = day.slice(5)
  if (FIXED.has(date)) return true
  if (date === CONSCIENCIA_NEGRA.date) return year >= CONSCIENCIA_NEGRA.since
  return MOVABLE.has(daysBetween(easterOf(year), day))
}

/** Easter is the Sunday after the church's full moon on or after 21 March. */
export function easterOf(year: number): LocalDate {
  const century = Math.floor(year / 100)
  const leapCorrection = century - Math.floor(century / 4)
  const moonCorrection = Math.floor((8 * century + 13) / 25)
  const golden = year % 19
  const moon = (19 * golden + leapCorrection - moonCorrection + 15) % 30
  // By the church's rule the full moon is before 19 April, and differs in all years of a cycle of
  // 19.
  const tooLate = moon === 29 || (moon === 28 && golden > 10)
  const fullMoon = addDays(`${year}-03-21`, tooLate ? moon - 1 : moon)
  return addDays(fullMoon, 7 - weekdayOf(fullMoon))
}
