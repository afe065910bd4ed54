import { createMemo } from '../../lib/memo.ts'
import { type DueTerms, firstLateDay, lastDayInTime } from '../../pix/due-amount.ts'
import { addDays, atHour, localDateOf, startOfDay } from '../../pix/local-time.ts'
import type { NoticeType } from '../events.ts'
import { type Change, type Charge, type Due, endOf } from './rules.ts'

/** A reminder comes at an hour at which nobody minds a message. */
const REMINDER_HOUR = 9
/** From this hour on, what is late waits until the next morning. */
const QUIET_HOUR = 21

/** A reminder of an open charge: when it comes, and until when it is of use. */
export type Reminder = { day: number; at: Date; until: Date }

/** Everything that is said about an open charge, if it stays open. */
type Calendar = { notices: { event: NoticeType; at: Date }[]; reminders: Reminder[] }

/** Days are slow to calculate, and many charges of a company have the same. */
const calendars = createMemo<Calendar>(4096)

const calendarOf = (terms: DueTerms, days: readonly number[]): Calendar =>
  calendars.of(`${terms.dueDate} ${terms.daysAfterDue} ${days.join()}`, () => {
    const end = endOf(terms)
    return { notices: noticesOf(terms, end), reminders: remindersOf(terms, days, end) }
  })

/** The moments at which something is said about the due date of an open charge. */
const noticesOf = (terms: DueTerms, end: Date): Calendar['notices'] =>
  [
    { event: 'charge.due' as const, at: startOfDay(lastDayInTime(terms)) },
    { event: 'charge.overdue' as const, at: startOfDay(firstLateDay(terms)) },
  ].filter(({ at }) => at < end)

/**
 * The reminders of a charge, by the days of its company's rules. They count from the last day in
 * time, because a due date that is no business day moves. One that comes before the due date is
 * over has no sense after it.
 */
function remindersOf(terms: DueTerms, days: readonly number[], end: Date): Reminder[] {
  const due = lastDayInTime(terms)
  const dueEnd = startOfDay(addDays(due, 1))
  return days
    .map((day) => ({
      day,
      at: atHour(addDays(due, day), REMINDER_HOUR),
      until: day > 0 || end < dueEnd ? end : dueEnd,
    }))
    .filter(({ at }) => at < end)
}

const earliest = (moments: { at: Date }[]): Date | null =>
  moments.length === 0 ? null : new Date(Math.min(...moments.map(({ at }) => at.getTime())))

/** When something is to be said next, after a moment: of the due date, or a reminder. */
export function nextNotice(due: Due | null, days: readonly number[], after: Date): Date | null {
  if (due === null) return null
  const { notices, reminders } = calendarOf(due.terms, days)
  return earliest([...notices, ...reminders].filter(({ at }) => at > after))
}

/** What is to be said now. Each is said once: the next moment is written with it. */
export type Said = {
  /** The events, with the next moment in the charge. */
  changes: Change[]
  /** At most one: if several were missed, the latest says what there is to say. */
  reminder: Reminder | null
}

/** Null if nothing is due. */
export function saidNow(charge: Charge, days: readonly number[], now: Date): Said | null {
  const { due, noticeAt, status } = charge
  // Another worker may have said it while this one waited for the charge.
  if (due === null || noticeAt === null || noticeAt > now || status !== 'OPEN') return null
  const next = { ...charge, noticeAt: nextNotice(due, days, now) }
  const isMissing = ({ at }: { at: Date }) => at >= noticeAt && at <= now
  const { notices, reminders } = calendarOf(due.terms, days)
  const events = notices.filter(isMissing)
  const [reminder = null] = reminders
    // At night a mail waits, perhaps until it is of no use. Then nobody is told of one.
    .filter((one) => isMissing(one) && one.until > awakeAt(now))
    .sort((a, b) => b.day - a.day)
  const changes: Change[] =
    events.length === 0
      ? [{ charge: next, event: null, at: now }]
      : events.map(({ event }) => ({ charge: next, event, at: now }))
  return { changes, reminder }
}

/**
 * The charge under changed rules. Null if nothing changes; what is due is said by its own task. A
 * server whose clock is ahead may have said the next event already: those before `noticeAt` are
 * not said again. Reminders are kept, so they are not said twice either.
 */
export function underRules(charge: Charge, days: readonly number[], now: Date): Change | null {
  const { due, noticeAt, status } = charge
  if (due === null || status !== 'OPEN' || (noticeAt !== null && noticeAt <= now)) return null
  const { notices, reminders } = calendarOf(due.terms, days)
  const next = earliest([
    ...notices.filter(({ at }) => noticeAt !== null && at >= noticeAt),
    ...reminders.filter(({ at }) => at > now),
  ])
  if (next?.getTime() === noticeAt?.getTime()) return null
  return { charge: { ...charge, noticeAt: next }, event: null, at: now }
}

/** When a message may come: now, unless it is night. */
export function awakeAt(now: Date): Date {
  const today = localDateOf(now)
  const morning = atHour(today, REMINDER_HOUR)
  if (now < morning) return morning
  return now < atHour(today, QUIET_HOUR) ? now : atHour(addDays(today, 1), REMINDER_HOUR)
}
