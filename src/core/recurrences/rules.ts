import { assert } from '../../lib/assert.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { addDays, atHour, type LocalDate, localDateOf, startOfDay } from '../../lib/local-time.ts'
import { type Cents, MIN_CHARGE, toCents } from '../../lib/money.ts'
import { invalid, problem } from '../../lib/problems.ts'
import { nextBusinessDay } from '../../pix/business-days.ts'
import {
  dueDay,
  type Frequency,
  firstGeneration,
  generationDay,
  maySchedule,
  RETRY_DAYS,
  retryDays,
  SCHEDULE_DAYS,
  scheduleDay,
} from '../../pix/calendar.ts'
import type { Agreement, AgreementStatus, Collection } from '../../provider/port.ts'
import type { Charge, Payer } from '../charges/rules.ts'
import type { EventType } from '../events.ts'
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
  /** How many charges were generated. */
  cycles: number
  lastDueOn: LocalDate | null
  /** When something is to be done next: the bank asked, or the next charge generated. */
  nextAt: Date | null
}

/** A payer has so long to decide. */
export const AGREEMENT_LIFETIME_S = 30 * 24 * 3600
/** Days to pay, where the product does not say. */
export const DAY_DUE = 3
const DAY_MS = 24 * 3600 * 1000
const SOON_MS = 15 * 60 * 1000

/** What a payer is asked to agree to: the product as it is now. */
export type Terms = Pick<
  Recurrence,
  'productId' | 'productName' | 'value' | 'frequency' | 'dayDue' | 'dayGenerateCharge'
>

export function termsOf(product: Product): Terms {
  const { type, status, frequency, price } = product
  if (type !== 'RECURRING' || frequency === null) throw problem('product_not_recurring')
  if (status !== 'ACTIVE') throw invalid('productId: the product is not active')
  if (price < MIN_CHARGE) {
    throw invalid(`productId: its price must be at least ${MIN_CHARGE} cents, it is ${price}`)
  }
  return {
    ...{ productId: product.id, productName: product.name, value: price, frequency },
    dayDue: product.dayDue ?? DAY_DUE,
    dayGenerateCharge: product.dayGenerateCharge,
  }
}

/** Past its deadline an undecided agreement is expired for every reader at once. */
export function asOf(recurrence: Recurrence, now: Date): Recurrence {
  const { authStatus, expiresAt, isTemplate } = recurrence
  const isOver = !isTemplate && authStatus === 'CREATED' && expiresAt! <= now
  return isOver ? { ...recurrence, status: 'EXPIRED', authStatus: 'EXPIRED' } : recurrence
}

/** A changed recurrence and what the change is called. */
export type Decided = { recurrence: Recurrence; event: EventType | null; at: Date }

const ENDS = {
  REJECTED: { status: 'CANCELED', event: 'subscription.rejected' },
  CANCELED: { status: 'CANCELED', event: 'subscription.canceled' },
  EXPIRED: { status: 'EXPIRED', event: null },
} as const satisfies Record<string, { status: RecurrenceStatus; event: EventType | null }>

/** Takes over what the bank says of an agreement; null when that is nothing new. */
export function follow(
  recurrence: Recurrence,
  { status: authStatus, decidedAt }: Agreement,
  now: Date,
): Decided | null {
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
 * An undecided agreement is asked about soon, then after as long again as it has waited, at least
 * once a day, and when its time is over. Most payers decide at once or not at all.
 */
export function askAgainAt({ createdAt, expiresAt }: Recurrence, now: Date): Date {
  const waited_ms = now.getTime() - createdAt.getTime()
  const pause_ms = Math.min(Math.max(waited_ms, SOON_MS), DAY_MS)
  const next = new Date(now.getTime() + pause_ms)
  return expiresAt! > now && expiresAt! < next ? expiresAt! : next
}

/** Whether a merchant's wish to end it has anything to do. */
export function cancellation(recurrence: Recurrence, now: Date): 'cancel' | 'already-canceled' {
  const { status, authStatus } = asOf(recurrence, now)
  if (status === 'OPEN') return 'cancel'
  if (status === 'CANCELED' && authStatus !== 'REJECTED') return 'already-canceled'
  throw problem(
    'recurrence_not_cancelable',
    `The subscription is ${authStatus === 'REJECTED' ? authStatus : status} and can no longer change.`,
  )
}

export type BillingStatus = 'PLANNED' | 'SCHEDULED' | 'PAID' | 'FAILED' | 'CANCELED'

/** One charge of an agreement on its way through the bank. */
export type Billing = {
  companyId: Uuid
  chargeId: Uuid
  recurrenceId: Uuid
  cycle: number
  dueOn: LocalDate
  status: BillingStatus
  unanswered: number
  ordered: boolean
  nextAt: Date | null
}

/** The bank collects in the morning; when it has not told what came of it by noon, it is asked. */
const ASKING_HOUR = 12
const ASK_AGAIN_MS = 3_600_000

/** A cycle: its charge, its way through the bank, and the agreement as it waits for the next. */
export type Cycle = { charge: Charge; billing: Billing; recurrence: Recurrence }

/** How long a payer has, and the day of the last cycle that has one. */
type Due = Pick<Recurrence, 'dayDue' | 'lastDueOn'>

/**
 * The day agreed for what is generated today, or the first one after it that no other cycle has.
 */
function ownDueDay({ dayDue, lastDueOn }: Due, today: LocalDate): LocalDate {
  const agreed = dueDay(today, dayDue)
  return lastDueOn === null || agreed > lastDueOn ? agreed : nextBusinessDay(addDays(lastDueOn, 1))
}

/** When the last day is over on which a charge can be collected. */
export const endOf = (dueOn: LocalDate): Date => startOfDay(addDays(dueOn, RETRY_DAYS.at(-1)! + 1))

/**
 * Generates the charge of the cycle that is due. A cycle that comes late, because nobody was there
 * to generate it, is due later too: never on the day of another.
 */
export function generate(recurrence: Recurrence, now: Date): Cycle {
  const { companyId, id, firstOn, frequency, cycles, value } = recurrence
  assert(isGenerating(recurrence, now), 'a cycle is generated when it is due, and not before')
  const today = localDateOf(now)
  const dueOn = ownDueDay(recurrence, today)
  const charge: Charge = {
    ...{ companyId, id: newId(), kind: 'RECURRING', amount: value, recurrenceId: id },
    ...{ status: 'OPEN', paymentStatus: 'PROCESSING', devMode: false, externalId: null },
    ...{ fingerprint: null, customerId: recurrence.customerId, payer: recurrence.payer },
    ...{ link: null, brCode: null, endToEndId: null, createdAt: now },
    expiresAt: endOf(dueOn),
    ...{ paymentDate: null, releaseAt: null, booked: false, refunded: toCents(0) },
    ...{ staticCodeId: null, shipping: null },
  }
  const billing: Billing = {
    ...{ companyId, chargeId: charge.id, recurrenceId: id, cycle: cycles, dueOn },
    ...{ status: 'PLANNED', unanswered: 0, ordered: false },
    nextAt: startOfDay(scheduleDay(today, dueOn)),
  }
  const nextAt = startOfDay(generationDay(firstOn!, frequency, cycles + 1))
  const waiting = { ...recurrence, cycles: cycles + 1, lastDueOn: dueOn, nextAt }
  return { charge, billing, recurrence: waiting }
}

export const isGenerating = ({ authStatus, nextAt }: Recurrence, now: Date): boolean =>
  authStatus === 'APPROVED' && nextAt !== null && nextAt <= now

/** Whether it is too late to schedule a collection for its day. */
export const hasMissed = ({ dueOn }: Billing, today: LocalDate): boolean =>
  dueOn < addDays(today, SCHEDULE_DAYS.latest)

/** The same collection on the first day for which it can still be scheduled, and no other is. */
export function reschedule(billing: Billing, agreed: Due, today: LocalDate): Billing {
  const dueOn = ownDueDay(agreed, today)
  const nextAt = maySchedule(today, dueOn) ? billing.nextAt : startOfDay(scheduleDay(today, dueOn))
  return { ...billing, dueOn, nextAt }
}

/** What is to be done about a collection, by what the bank says of it. */
export type Step =
  | { kind: 'wait'; until: Date }
  | { kind: 'settle'; endToEndIds: string[] }
  | { kind: 'retry'; on: LocalDate }
  | { kind: 'fail' }
  | { kind: 'cancel' }

export function stepAfter(billing: Billing, { status, attempts }: Collection, now: Date): Step {
  const paid = attempts.flatMap(({ endToEndId }) => endToEndId ?? [])
  if (status === 'PAID') return { kind: 'settle', endToEndIds: paid }
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
