import { retryDays } from '../../pix/calendar.ts'
import { formatDay, formatMoment, type LocalDate, localDateOf } from '../../pix/local-time.ts'
import type { Billing } from '../billings/rules.ts'
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

/** The day on which the bank debits next: the due day, or after it the day of the next retry. */
export const debitDay = (dueOn: LocalDate, today: LocalDate): LocalDate =>
  dueOn >= today ? dueOn : (retryDays(dueOn).find((day) => day >= today) ?? dueOn)

/** What has become of a charge, and what the bank does next, in a sentence. */
export function whatHappened(
  { status, dueOn, nextAt, unanswered }: Billing,
  charge: Charge,
  today: LocalDate,
  { steps }: Pick<AgreementTexts, 'steps'>,
): string {
  const retries = retryDays(dueOn)
  if (charge.paymentDate !== null) return steps.paid(formatMoment(charge.paymentDate))
  if (status === 'FAILED') return steps.failed(formatDay(retries.at(-1)!))
  if (status === 'CANCELED' || charge.status === 'CANCELED') return steps.canceled
  const silence = unanswered > 0 ? ` ${steps.unanswered}` : ''
  if (status === 'PLANNED') {
    return `${steps.planned(formatDay(nextAt ? localDateOf(nextAt) : dueOn))}${silence}`
  }
  if (today <= dueOn) return `${steps.scheduled(formatDay(dueOn))}${silence}`
  const again = retries.find((day) => day >= today)
  const late = again
    ? steps.retry(formatDay(dueOn), formatDay(again))
    : steps.late(formatDay(dueOn))
  return `${late}${silence}`
}
