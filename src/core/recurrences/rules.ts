import { assert } from '../../lib/assert.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import type { Cents } from '../../lib/money.ts'
import { invalid, problem } from '../../lib/problems.ts'
import { MIN_CHARGE } from '../../pix/amounts.ts'
import { nextBusinessDay } from '../../pix/business-days.ts'
import { dueDay, type Frequency, firstGeneration, generationDay } from '../../pix/calendar.ts'
import { addDays, type LocalDate, localDateOf, startOfDay } from '../../pix/local-time.ts'
import type { Agreement, AgreementStatus } from '../../provider/port.ts'
import { type Billing, debitDay, dueDayAfter, endOfRetries, plan } from '../billings/rules.ts'
import { type Charge, newCharge, type Payer, type Split } from '../charges/rules.ts'
import type { CancelReason, SubscriptionType } from '../events.ts'
import type { Product } from '../products/rules.ts'

export type RecurrenceStatus = 'OPEN' | 'COMPLETED' | 'CANCELED' | 'EXPIRED'

/** An agreement that is billed again and again, or a template that payers start agreements from. */
export type Recurrence = {
  companyId: Uuid
  id: Uuid
  isTemplate: boolean
  /** The template or the payment link that the payer came through. */
  originId: Uuid | null
  productId: Uuid
  productName: string
  value: Cents
  frequency: Frequency
  dayDue: number
  dayGenerateCharge: number | null
  customerId: Uuid | null
  payer: Payer | null
  status: RecurrenceStatus
  authStatus: AgreementStatus
  externalId: string | null
  brCode: string | null
  createdAt: Date
  expiresAt: Date | null
  decidedAt: Date | null
  /** The day on which the first charge is generated. */
  firstOn: LocalDate | null
  /** How many charges have been generated. */
  cycles: number
  lastDueOn: LocalDate | null
  /** When the next task is due: to ask the bank, or to generate the next charge. */
  nextAt: Date | null
  /** Why somebody of the company has canceled it, if they said so. */
  endReason: EndReason | null
  /** Who gets which part of each charge. Null: all of it is the company's. */
  split: Split | null
}

export const END_REASONS = ['CUSTOMER_ASKED', 'NOT_PAID', 'MISTAKE', 'OTHER'] as const
export type EndReason = (typeof END_REASONS)[number]

/** How long a payer has to decide. */
export const AGREEMENT_LIFETIME_S = 30 * 24 * 3600
/** Days to pay, if the product does not say. */
export const DEFAULT_DAY_DUE = 3
const DAY_MS = 24 * 3600 * 1000
const SOON_MS = 15 * 60 * 1000

/** What a payer is asked to agree to: the product as it is now. */
export type Terms = Pick<
  Recurrence,
  'productId' | 'productName' | 'value' | 'frequency' | 'dayDue' | 'dayGenerateCharge' | 'split'
>

export function termsOf(product: Product, split: Split | null = null): Terms {
  const { type, status, frequency, price } = product
  if (type !== 'RECURRING' || frequency === null) throw problem('product_not_recurring')
  if (status !== 'ACTIVE') throw invalid('productId: the product is not active')
  if (price < MIN_CHARGE) {
    throw invalid(`productId: its price must be at least ${MIN_CHARGE} cents, it is ${price}`)
  }
  return {
    productId: product.id,
    productName: product.name,
    value: price,
    frequency,
    dayDue: product.dayDue ?? DEFAULT_DAY_DUE,
    dayGenerateCharge: product.dayGenerateCharge,
    split,
  }
}

/**
 * The recurrence as a reader sees it now. An undecided agreement past its deadline is expired,
 * even if no task has written that yet.
 */
export function asOf(recurrence: Recurrence, now: Date): Recurrence {
  const { authStatus, expiresAt, isTemplate } = recurrence
  const isOver = !isTemplate && authStatus === 'CREATED' && expiresAt! <= now
  return isOver ? { ...recurrence, status: 'EXPIRED', authStatus: 'EXPIRED' } : recurrence
}

/** A changed recurrence, the event of the change, and when it happened. */
type Decided = {
  recurrence: Recurrence
  event: SubscriptionType | null
  at: Date
  reason?: CancelReason
}

const ENDS = {
  REJECTED: { status: 'CANCELED', event: 'subscription.rejected' },
  CANCELED: { status: 'CANCELED', event: 'subscription.canceled' },
  EXPIRED: { status: 'EXPIRED', event: null },
} as const satisfies Record<string, { status: RecurrenceStatus; event: SubscriptionType | null }>

/** The recurrence after the bank's answer about its agreement. Null if nothing has changed. */
export function follow(recurrence: Recurrence, agreement: Agreement, now: Date): Decided | null {
  const { status: authStatus, decidedAt } = asExpired(recurrence, agreement, now)
  const { status, authStatus: before } = recurrence
  if (status !== 'OPEN' || authStatus === before || authStatus === 'CREATED') return null
  const at = decidedAt ?? now
  if (authStatus !== 'APPROVED') {
    const { status, event } = ENDS[authStatus]
    return {
      recurrence: { ...recurrence, status, authStatus, decidedAt: at, nextAt: null },
      event,
      at,
    }
  }
  const firstOn = firstGeneration(localDateOf(at), recurrence.dayGenerateCharge)
  const approved: Recurrence = { ...recurrence, authStatus, decidedAt: at, firstOn }
  return {
    recurrence: { ...approved, nextAt: startOfDay(firstOn) },
    event: 'subscription.authorized',
    at,
  }
}

/**
 * If nobody has decided in time, the agreement is canceled at the bank because it has expired. The
 * bank's callback about that may come before its answer.
 */
function asExpired(recurrence: Recurrence, agreement: Agreement, now: Date): Agreement {
  const { authStatus, expiresAt } = recurrence
  const isLate = expiresAt !== null && (agreement.decidedAt ?? now) >= expiresAt
  const isExpired = authStatus === 'CREATED' && agreement.status === 'CANCELED' && isLate
  return isExpired ? { ...agreement, status: 'EXPIRED', decidedAt: expiresAt } : agreement
}

/** A bank may not know an agreement yet that it has made a moment ago. */
const NEW_MS = 10 * 60 * 1000

export const isNew = ({ createdAt }: Recurrence, now: Date): boolean =>
  now.getTime() - createdAt.getTime() < NEW_MS

/**
 * The recurrence if the bank has no such agreement, for example because it was made at another
 * bank: nobody will collect it. Null if nothing has changed.
 */
export function stop(recurrence: Recurrence, now: Date): Decided | null {
  const isOver = asOf(recurrence, now).status === 'EXPIRED'
  const status = isOver ? 'EXPIRED' : 'CANCELED'
  const end = { externalId: recurrence.externalId!, brCode: recurrence.brCode!, status } as const
  const decided = follow(recurrence, { ...end, decidedAt: now }, now)
  return decided && { ...decided, reason: 'UNKNOWN_TO_BANK' }
}

/**
 * When the bank is asked again about an undecided agreement: after as long again as it has waited,
 * but at least every day, and at its deadline. Most payers decide at once or not at all.
 */
export function askAgainAt({ createdAt, expiresAt }: Recurrence, now: Date): Date {
  const waited_ms = now.getTime() - createdAt.getTime()
  const pause_ms = Math.min(Math.max(waited_ms, SOON_MS), DAY_MS)
  const next = new Date(now.getTime() + pause_ms)
  return expiresAt! > now && expiresAt! < next ? expiresAt! : next
}

/** Whether a merchant's request to cancel has anything to do. Throws if it cannot be canceled. */
export function cancellation(recurrence: Recurrence, now: Date): 'cancel' | 'already-canceled' {
  const { status, authStatus } = asOf(recurrence, now)
  if (status === 'OPEN') return 'cancel'
  if (status === 'CANCELED' && authStatus !== 'REJECTED') return 'already-canceled'
  throw problem(
    'recurrence_not_cancelable',
    `The subscription is ${authStatus === 'REJECTED' ? authStatus : status} and can no longer change.`,
  )
}

/** A generated cycle: its charge, its billing, and the agreement as it waits for the next cycle. */
export type Cycle = { charge: Charge; billing: Billing; recurrence: Recurrence }

/**
 * Generates the charge of the cycle that is due. If a cycle is generated late, its charge is due
 * later too, and never on the day of another cycle.
 */
export function generate(recurrence: Recurrence, now: Date): Cycle {
  const { companyId, id: recurrenceId, customerId, payer, cycles: cycle } = recurrence
  assert(isGenerating(recurrence, now), 'a cycle is generated when it is due, and not before')
  const today = localDateOf(now)
  const dueOn = dueDayAfter(recurrence, today)
  const charge = newCharge({
    companyId,
    id: newId(),
    kind: 'RECURRING',
    amount: recurrence.value,
    paymentStatus: 'PROCESSING',
    recurrenceId,
    customerId,
    payer,
    split: recurrence.split,
    createdAt: now,
    expiresAt: endOfRetries(dueOn),
  })
  const billing = plan({ companyId, chargeId: charge.id, recurrenceId, cycle, dueOn }, today)
  return { charge, billing, recurrence: { ...leaveOut(recurrence), lastDueOn: dueOn } }
}

/** The agreement without the charge of its next cycle: the one after it comes on its own day. */
export function leaveOut(recurrence: Recurrence): Recurrence {
  const cycles = recurrence.cycles + 1
  const nextOn = generationDay(recurrence.firstOn!, recurrence.frequency, cycles)
  return { ...recurrence, cycles, nextAt: startOfDay(nextOn) }
}

export const isGenerating = ({ authStatus, nextAt }: Recurrence, now: Date): boolean =>
  authStatus === 'APPROVED' && nextAt !== null && nextAt <= now

/** A debit that is not made yet: its number in the agreement, from 1, and its day. */
export type UpcomingDebit = { number: number; on: LocalDate; isRetry: boolean }

type Waiting = Pick<Recurrence, 'firstOn' | 'cycles' | 'lastDueOn'>

/** An agreement that would be approved today. */
const fromToday = ({ dayGenerateCharge }: Terms, today: LocalDate): Waiting => ({
  firstOn: firstGeneration(today, dayGenerateCharge),
  cycles: 0,
  lastDueOn: null,
})

/**
 * The next debits of an agreement: first the billings that have not ended and still have a day,
 * then the charges that are not generated yet, on the days that `generate` gives them.
 */
export function upcomingDebits(
  terms: Terms,
  agreed: { agreement: Waiting; open: Pick<Billing, 'cycle' | 'dueOn' | 'nextAt'>[] } | null,
  today: LocalDate,
  count: number,
): UpcomingDebit[] {
  const { firstOn, cycles, lastDueOn } = agreed?.agreement ?? fromToday(terms, today)
  const debits = (agreed?.open ?? []).flatMap((billing): UpcomingDebit[] => {
    const on = debitDay(billing, today)
    return on ? [{ number: billing.cycle + 1, on, isRetry: on !== billing.dueOn }] : []
  })
  let last = lastDueOn
  for (let cycle = cycles; debits.length < count; cycle++) {
    const generated = generationDay(firstOn!, terms.frequency, cycle)
    const due = dueDay(generated > today ? generated : today, terms.dayDue)
    last = last === null || due > last ? due : nextBusinessDay(addDays(last, 1))
    debits.push({ number: cycle + 1, on: last, isRetry: false })
  }
  return debits.slice(0, count)
}
