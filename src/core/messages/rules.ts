import { type ErrorItem, invalid, Problem } from '../../lib/problems.ts'
import { lastDayInTime, lastDayToPay } from '../../pix/due-amount.ts'
import { formatDay, formatMoment, localDateOf } from '../../pix/local-time.ts'
import { amountAt, asOf, type Charge, receivedOf } from '../charges/rules.ts'
import type { Company } from '../companies/rules.ts'
import { type AboutMessage, MESSAGE_PLACEHOLDERS, type MessageSort } from '../letters/messages.ts'
import { placeholderFaults } from '../letters/placeholders.ts'

/** The messages that a company has written itself. The others are ours. */
export type OwnMessages = Partial<Record<MessageSort, string>>

/** An address has to hold it. */
export const MAX_MESSAGE = 1000

/** Throws if a message is empty or too long, or has a placeholder that it cannot have. */
export function requireMessage(sort: MessageSort, text: string): void {
  if (!/\S/.test(text) || text.length > MAX_MESSAGE) {
    throw invalid(`text: must have 1 to ${MAX_MESSAGE} characters`)
  }
  const [first, ...others]: ErrorItem[] = placeholderFaults(
    'text',
    text,
    MESSAGE_PLACEHOLDERS[sort],
  )
  if (first) throw new Problem([first, ...others])
}

/** Which message is about a charge as it is now. */
export function sortOf(charge: Charge, now: Date): MessageSort {
  if (asOf(charge, now).status === 'COMPLETED') return 'receipt'
  if (isOverdue(charge, now)) return 'overdue'
  return charge.kind === 'LINK' ? 'link' : 'charge'
}

const isOverdue = ({ due }: Charge, now: Date): boolean =>
  due !== null && lastDayInTime(due.terms) < localDateOf(now)

/** Until when a charge can be paid, as people read it. */
export const untilOf = ({ due, expiresAt }: Pick<Charge, 'due' | 'expiresAt'>): string =>
  due ? formatDay(lastDayToPay(due.terms)) : formatMoment(expiresAt)

/** What a message says of a charge. */
export const aboutOf = (
  { name }: Pick<Company, 'name'>,
  charge: Charge,
  now: Date,
): AboutMessage => ({
  company: name,
  payerName: charge.payer?.name ?? null,
  product: null,
  amount: charge.status === 'COMPLETED' ? receivedOf(charge) : amountAt(charge, now),
  until: untilOf(charge),
  dueDate: charge.due && lastDayInTime(charge.due.terms),
})
