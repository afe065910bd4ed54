import type { Clock } from '../../lib/clock.ts'
import type { Profile } from './profile.ts'
import { BEHIND_ms, readMoment } from './text.ts'

/** What is needed to read a bank's moments. */
export type Timing = { clock: Clock; connection: { profile: Pick<Profile, 'marksLocalAsUtc'> } }

/** When something happened at a bank. */
type DatedAt = {
  at: Date
  /** The hours by which the bank's moment was corrected; 0 when it was right. */
  corrected_h: number
  /** Whether the moment does not fit the minute in the id, and nothing explains it. */
  isOdd: boolean
}

const MINUTE_ms = 60_000
const HOUR_ms = 60 * MINUTE_ms
const DAY_ms = 24 * HOUR_ms
/** A payment takes so long at most, unless it was held or scheduled. */
const NEAR_ms = 10 * MINUTE_ms
/** No time zone is farther from UTC. */
const FARTHEST_h = 14

const SCHEME_ID = /^[ED][0-9A-Z]{8}(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)/

/** The minute in the scheme's id of a payment or a return. It is in UTC by the scheme's rule. */
export function minuteIn(id: string): Date | null {
  const found = SCHEME_ID.exec(id)
  return found && readMoment(`${found[1]}-${found[2]}-${found[3]}T${found[4]}:${found[5]}:00Z`)
}

/** Reads a moment as the bank means it. It cannot be in the future, where local time would be. */
export function readAt({ clock, connection }: Timing, value: unknown): Date | null {
  const marked = readMoment(value)
  const isLocal = connection.profile.marksLocalAsUtc && /z\s*$/i.test(String(value))
  if (!marked || !isLocal) return marked
  const local = new Date(marked.getTime() + BEHIND_ms)
  return isFuture(local, clock) ? marked : local
}

const isFuture = (at: Date, clock: Clock): boolean => at.getTime() > clock.now().getTime() + NEAR_ms

/**
 * When a payment or a return happened, compared with the minute in its id. A moment before that
 * minute, or in the future, is wrong. If it is wrong by whole hours, it is corrected, because then
 * the bank has taken one zone for another.
 */
export function datedAt(timing: Timing, value: unknown, id: string): DatedAt | null {
  const minute = minuteIn(id)
  const marked = readMoment(value)
  const stated = readAt(timing, value)
  // If the bank gives no moment, the minute in the id is right to the minute.
  if (!stated || !marked) return minute && dated(minute)
  if (!minute) return dated(stated)
  const apart_ms = (at: Date) => at.getTime() - minute.getTime()
  const isNear = (at: Date) => Math.abs(apart_ms(at)) <= NEAR_ms
  if (isNear(stated)) return dated(stated)
  // If the moment is right as it is marked, the profile is wrong, because the bank has corrected
  // its clock.
  if (isNear(marked)) return { ...dated(marked), corrected_h: -hoursIn(apart_ms(stated)) }
  const hours = hoursIn(apart_ms(stated))
  const corrected = new Date(stated.getTime() - hours * HOUR_ms)
  const isWrong = apart_ms(stated) < 0 || isFuture(stated, timing.clock)
  if (isWrong && Math.abs(hours) <= FARTHEST_h && isNear(corrected)) {
    return { ...dated(corrected), corrected_h: -hours }
  }
  // A payment that was scheduled has the minute of a day before.
  return { ...dated(stated), isOdd: isWrong || apart_ms(stated) < DAY_ms }
}

const hoursIn = (apart_ms: number): number => Math.round(apart_ms / HOUR_ms)
const dated = (at: Date): DatedAt => ({ at, corrected_h: 0, isOdd: false })
