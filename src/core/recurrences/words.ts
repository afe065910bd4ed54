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

/** What has become of a charge, and what the bank does next, in a sentence. */
export function whatHappened(
  billing: Billing,
  charge: Charge,
  today: LocalDate,
  { steps }: Pick<AgreementTexts, 'steps'>,
): string {
  const { status, dueOn, nextAt, unanswered } = billing
  if (charge.paymentDate !== null) return steps.paid(formatMoment(charge.paymentDate))
  if (status === 'FAILED') return steps.failed(formatDay(retryDays(dueOn).at(-1)!))
  if (status === 'CANCELED' || charge.status === 'CANCELED') return steps.canceled
  const silence = unanswered > 0 ? ` ${steps.unanswered}` : ''
  if (status === 'PLANNED') {
    return `${steps.planned(formatDay(nextAt ? localDateOf(nextAt) : dueOn))}${silence}`
  }
  const debit = debitDay(billing, today)
  if (debit === dueOn) return `${steps.scheduled(formatDay(dueOn))}${silence}`
  const late = debit
    ? steps.retry(formatDay(dueOn), formatDay(debit))
    : steps.late(formatDay(dueOn))
  return `${late}${silence}`
}
