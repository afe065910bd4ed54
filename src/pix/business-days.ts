import { addDays, daysBetween, type LocalDate, weekdayOf } from './local-time.ts'

// The days that Resolução CMN 4.880/2020, article 6, takes out of the banks' business days:
// weekends, national holidays, and the three that are holidays for banks alone (Carnival's Monday
// and Tuesday, Corpus Christi). Holidays of a state or a city are not known here.
const FIXED = new Set(['01-01', '04-21', '05-01', '09-07', '10-12', '11-02', '11-15', '12-25'])
/** Law 14.759/2023 made Consciência Negra a national holiday. */
const CONSCIENCIA_NEGRA = { date: '11-20', since: 2024 }
/** Days from Easter: Carnival's Monday and Tuesday, Good Friday, Corpus Christi. */
const MOVABLE = new Set([-48, -47, -2, 60])

export function isBusinessDay(day: LocalDate): boolean {
  const weekday = weekdayOf(day)
  return weekday !== 0 && weekday !== 6 && !isBankHoliday(day)
}

/** The day itself when banks work on it, else the first one after it on which they do. */
export function nextBusinessDay(day: LocalDate): LocalDate {
  let open = day
  while (!isBusinessDay(open)) open = addDays(open, 1)
  return open
}

export function isBankHoliday(day: LocalDate): boolean {
  const year = Number(day.slice(0, 4))
  const date = day.slice(5)
  if (FIXED.has(date)) return true
  if (date === CONSCIENCIA_NEGRA.date) return year >= CONSCIENCIA_NEGRA.since
  return MOVABLE.has(daysBetween(easterOf(year), day))
}

/** Easter is the Sunday after the full moon on or after 21 March, by the moon of the church. */
export function easterOf(year: number): LocalDate {
  const century = Math.floor(year / 100)
  const leapCorrection = century - Math.floor(century / 4)
  const moonCorrection = Math.floor((8 * century + 13) / 25)
  const golden = year % 19
  const moon = (19 * golden + leapCorrection - moonCorrection + 15) % 30
  // The church keeps its full moons before 19 April, and no two alike within 19 years.
  const tooLate = moon === 29 || (moon === 28 && golden > 10)
  const fullMoon = addDays(`${year}-03-21`, tooLate ? moon - 1 : moon)
  return addDays(fullMoon, 7 - weekdayOf(fullMoon))
}
