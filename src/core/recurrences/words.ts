import { retryDays } from '../../pix/calendar.ts'
import { formatDay, formatMoment, type LocalDate, localDateOf } from '../../pix/local-time.ts'
import { type Billing, debitDay } from '../billings/rules.ts'
import type { Charge } from '../charges/rules.ts'
import type { Recurrence } from './rules.ts'
import type { AgreementTexts, SubscriptionWord } from './texts.ts'

/** The state of a subscription, or of the link through which payers subscribe. */
export function subscriptionWord({
  isTemplate,
  status,
  authStatus,
}: Pick<Recurrence, 'isTemplate' | 'status' | 'authStatus'>): SubscriptionWord {
  if (isTemplate) return status === 'OPEN' ? 'link' : 'closed'
  return authStatus.toLowerCase() as SubscriptionWord
}

/** How a sentence writes days and moments. */
export type Dates = { day(day: LocalDate): string; moment(at: Date): string }

const LOCAL: Dates = { day: formatDay, moment: formatMoment }

/** What has become of a charge, and what the bank does next, in a sentence. */
export function whatHappened(
  billing: Billing,
  charge: Charge,
  today: LocalDate,
  { steps }: Pick<AgreementTexts, 'steps'>,
  { day, moment } = LOCAL,
): string {
  const { status, dueOn, nextAt, unanswered } = billing
  if (charge.paymentDate !== null) return steps.paid(moment(charge.paymentDate))
  if (status === 'FAILED') return steps.failed(day(retryDays(dueOn).at(-1)!))
  if (status === 'CANCELED' || charge.status === 'CANCELED') return steps.canceled
  const silence = unanswered > 0 ? ` ${steps.unanswered}` : ''
  if (status === 'PLANNED') {
    return `${steps.planned(day(nextAt ? localDateOf(nextAt) : dueOn))}${silence}`
  }
  const debit = debitDay(billing, today)
  if (debit === dueOn) return `${steps.scheduled(day(dueOn))}${silence}`
  const late = debit ? steps.retry(day(dueOn), day(debit)) : steps.late(day(dueOn))
  return `${late}${silence}`
}
