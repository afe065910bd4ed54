import type { Uuid } from '../../lib/ids.ts'
import { nextBusinessDay } from '../../pix/business-days.ts'
import {
  dueDay,
  maySchedule,
  RETRY_DAYS,
  retryDays,
  SCHEDULE_DAYS,
  scheduleDay,
} from '../../pix/calendar.ts'
import { addDays, atHour, type LocalDate, localDateOf, startOfDay } from '../../pix/local-time.ts'
import type { Collection } from '../../provider/port.ts'

type BillingStatus = 'PLANNED' | 'SCHEDULED' | 'PAID' | 'FAILED' | 'CANCELED'

/** How the bank collects one charge of an agreement: one billing per cycle. */
export type Billing = {
  companyId: Uuid
  chargeId: Uuid
  recurrenceId: Uuid
  /** The number of the cycle in its agreement, from 0. */
  cycle: number
  dueOn: LocalDate
  status: BillingStatus
  /** How many requests about it the bank has not answered, one after the other. */
  unanswered: number
  /** Whether the bank may know of it. This is written before the bank gets the order. */
  ordered: boolean
  /** When something is to be done next. Null after the billing has ended. */
  nextAt: Date | null
}

/** The bank collects in the morning. If it has not reported a result by noon, it is asked. */
const ASKING_HOUR = 12
const ASK_AGAIN_MS = 3_600_000

/** How many days the payer has, and the due day of the latest cycle that has one. */
type DueTerms = { dayDue: number; lastDueOn: LocalDate | null }

/**
 * The due day of a charge that is generated or moved today. If another cycle is due on that day or
 * later, it is the next business day after that cycle: no two cycles are due on one day.
 */
export function dueDayAfter({ dayDue, lastDueOn }: DueTerms, today: LocalDate): LocalDate {
  const agreed = dueDay(today, dayDue)
  return lastDueOn === null || agreed > lastDueOn ? agreed : nextBusinessDay(addDays(lastDueOn, 1))
}

/** The end of the last day on which a charge that is due on `dueOn` can be collected. */
export const endOfRetries = (dueOn: LocalDate): Date =>
  startOfDay(addDays(dueOn, RETRY_DAYS.at(-1)! + 1))

/**
 * The next day on which the payer's bank debits: the due day or, after a debit has failed, the day
 * of the next retry. Null: all days are over, and the bank's last answer is missing.
 */
export function debitDay(
  { dueOn, nextAt }: Pick<Billing, 'dueOn' | 'nextAt'>,
  today: LocalDate,
): LocalDate | null {
  // After a failure the bank is asked next on the day of the retry.
  const askedOn = nextAt ? localDateOf(nextAt) : today
  const from = askedOn > today ? askedOn : today
  return [dueOn, ...retryDays(dueOn)].find((day) => day >= from) ?? null
}

/** The billing of a charge that is generated today. */
export const plan = (
  charge: Pick<Billing, 'companyId' | 'chargeId' | 'recurrenceId' | 'cycle' | 'dueOn'>,
  today: LocalDate,
): Billing => ({
  ...charge,
  status: 'PLANNED',
  unanswered: 0,
  ordered: false,
  nextAt: startOfDay(scheduleDay(today, charge.dueOn)),
})

/** Whether it is too late to schedule a collection for its due day. */
export const hasMissed = ({ dueOn }: Billing, today: LocalDate): boolean =>
  dueOn < addDays(today, SCHEDULE_DAYS.latest)

/** The billing with a due day for which it can still be scheduled, after that of every cycle. */
export function reschedule(billing: Billing, terms: DueTerms, today: LocalDate): Billing {
  const dueOn = dueDayAfter(terms, today)
  const nextAt = maySchedule(today, dueOn) ? billing.nextAt : startOfDay(scheduleDay(today, dueOn))
  return { ...billing, dueOn, nextAt }
}

/** What to do next about a billing, by the bank's answer about its collection. */
type Step =
  | { kind: 'wait'; until: Date }
  | { kind: 'paid'; endToEndIds: string[] }
  | { kind: 'retry'; on: LocalDate }
  | { kind: 'fail' }
  | { kind: 'cancel' }

export function stepAfter(billing: Billing, { status, attempts }: Collection, now: Date): Step {
  const paid = attempts.flatMap(({ endToEndId }) => endToEndId ?? [])
  if (status === 'PAID') return { kind: 'paid', endToEndIds: paid }
  if (status === 'CANCELED') return { kind: 'cancel' }
  const last = attempts.at(-1)!
  if (status === 'SCHEDULED') {
    const noon = atHour(last.on, ASKING_HOUR)
    return { kind: 'wait', until: noon > now ? noon : new Date(now.getTime() + ASK_AGAIN_MS) }
  }
  const today = localDateOf(now)
  const on = retryDays(billing.dueOn).find((day) => day > last.on && day >= today)
  return on && attempts.length <= RETRY_DAYS.length ? { kind: 'retry', on } : { kind: 'fail' }
}
