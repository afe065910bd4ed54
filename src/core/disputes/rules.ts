import { assert } from '../../lib/assert.ts'
import type { Uuid } from '../../lib/ids.ts'
import { type Cents, toCents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import type { BankDispute, ReturnReason, Source } from '../../provider/port.ts'
import { accountOf, type Charge, type MoneyAccount, refundableOf } from '../charges/rules.ts'
import type { Paid } from '../payments/lock.ts'
import { isUndecided, undecidedOf } from '../payments/rules.ts'

export const DISPUTE_STATES = ['OPEN', 'DEFENDED', 'ACCEPTED', 'WON', 'LOST', 'CANCELED'] as const
export type DisputeState = (typeof DISPUTE_STATES)[number]

/** A payer's claim for the money of a received payment (MED). */
export type Dispute = {
  companyId: Uuid
  id: Uuid
  /** The bank's id of it; null if the bank has only returned the money. */
  bankId: string | null
  endToEndId: string
  paymentSource: Source
  /** The charge that the payment has paid. */
  chargeId: Uuid | null
  amount: Cents
  reason: ReturnReason
  status: DisputeState
  /** The account that the money is held from; null if there was nothing to hold. */
  heldFrom: MoneyAccount | null
  /** What was held when it was opened. */
  hold: Cents
  /** What is held now. If it is LOST, that waits for the bank to return it. */
  held: Cents
  /** What was given back when it ended. */
  released: Cents
  /** The refund, or the return by the bank, that took the money last. */
  refundId: Uuid | null
  deadline: Date | null
  /** When the company is told of the deadline next. */
  noticeAt: Date | null
  /** The text of the defense, sealed. */
  defense: Buffer | null
  defendedAt: Date | null
  sentAt: Date | null
  failure: string | null
  orderedAt: Date | null
  attempts: number
  /** When the bank gets the defense next; null if there is nothing to send. */
  nextAttemptAt: Date | null
  openedAt: Date
  createdAt: Date
  closedAt: Date | null
}

const NONE = toCents(0)
const less = (from: number, what: number): Cents => toCents(Math.max(0, from - what))

export const isOpen = ({ status }: Pick<Dispute, 'status'>): boolean =>
  status === 'OPEN' || status === 'DEFENDED'

/** Whether another claim for the same payment has to wait, because money is still to move. */
export const isUnsettled = (dispute: Dispute): boolean => isOpen(dispute) || dispute.held > 0

/** The account that has the money of a payment, and how much of it could still go back. */
export type Standing = { account: MoneyAccount; left: Cents }

/**
 * Where the money of a payment is of which an amount is claimed. `returned` is what went back of a
 * payment that was kept without a charge. What waits for a decision is money of no charge.
 */
export function standingOf({ payment, charge }: Paid, claimed: number, returned: number): Standing {
  if (!payment.booked) return { account: 'available', left: NONE }
  const undecided = isUndecided(payment) ? undecidedOf(payment) : NONE
  if (undecided > 0 && (charge === null || claimed <= undecided)) {
    return { account: 'unmatched', left: undecided }
  }
  if (charge) return { account: accountOf(charge), left: toCents(refundableOf(charge)) }
  const isKept = payment.status === 'ACCEPTED'
  return { account: 'available', left: isKept ? less(payment.amount, returned) : NONE }
}

/** Where the money would be that is held for a dispute, if it were not disputed. */
export const accountNow = ({ heldFrom }: Dispute, charge: Charge | null): MoneyAccount =>
  heldFrom === 'unmatched' || charge === null ? (heldFrom ?? 'available') : accountOf(charge)

/**
 * The dispute that money of a payment is held for, or would be: it is open, or lost and not
 * returned, or a refund that is under way has taken its money. `disputes` are those of the payment.
 */
export function activeOf(disputes: Dispute[], underWay: Uuid[]): Dispute | null {
  const isReturning = ({ status, held, refundId }: Dispute) =>
    status === 'LOST' && (held > 0 || refundId === null)
  const isRefunding = ({ status, refundId }: Dispute) =>
    status === 'ACCEPTED'
      ? refundId === null || underWay.includes(refundId)
      : status === 'LOST' && underWay.includes(refundId!)
  return disputes.find(isOpen) ?? disputes.find(isReturning) ?? disputes.find(isRefunding) ?? null
}

/**
 * How much of money that goes back is taken from what is held for a dispute. If it is as much as is
 * held, the dispute is settled by it. Less is taken from the rest first. `left` has both.
 */
export function takenFromHold(value: number, left: number, held: number): Cents {
  return value >= held ? toCents(held) : less(value, left - held)
}

/**
 * The dispute that a failed refund has taken money from. If several refunds have settled it
 * together, it names only the last of them.
 */
export const settledBy = (disputes: Dispute[], refund: { id: Uuid; disputed: number }) =>
  activeOf(disputes, [refund.id]) ??
  (refund.disputed > 0 ? (disputes.find(({ status }) => status === 'ACCEPTED') ?? null) : null)

/** How long before the deadline the company is told of it. */
export const NOTICE_HOURS = [48, 24, 6] as const
const HOUR_MS = 3_600_000

/** When the company is told next. Moments that have passed are left out. */
export function nextNotice(deadline: Date | null, now: Date): Date | null {
  if (!deadline) return null
  const moments = NOTICE_HOURS.map((hours) => deadline.getTime() - hours * HOUR_MS)
  const next = moments.find((moment) => moment > now.getTime())
  return next === undefined ? null : new Date(next)
}

/**
 * Tells of the deadline, and when to do that again. If moments were missed, it is told once.
 * `hours` is null if nothing is to be told: it has ended, was defended, or the deadline is over.
 */
export function notice(dispute: Dispute, now: Date): { dispute: Dispute; hours: number | null } {
  const { status, deadline, noticeAt } = dispute
  if (status !== 'OPEN' || !deadline || !noticeAt) {
    return { dispute: { ...dispute, noticeAt: null }, hours: null }
  }
  if (noticeAt > now) return { dispute, hours: null }
  const left_ms = deadline.getTime() - now.getTime()
  const told = NOTICE_HOURS.findLast((hours) => left_ms <= hours * HOUR_MS)
  const next = { ...dispute, noticeAt: nextNotice(deadline, now) }
  return { dispute: next, hours: left_ms > 0 ? (told ?? null) : null }
}

/** The charge that money in an account is of. What waits for a decision is money of no charge. */
export const chargeIn = (account: MoneyAccount, { charge }: Pick<Paid, 'charge'>): Uuid | null =>
  account === 'unmatched' ? null : (charge?.id ?? null)

type NewDispute = Pick<Dispute, 'id' | 'bankId' | 'amount' | 'reason' | 'openedAt'>

const empty = ({ payment }: Paid, given: NewDispute, now: Date): Dispute => ({
  companyId: payment.companyId,
  ...given,
  endToEndId: payment.endToEndId,
  paymentSource: payment.source,
  chargeId: null,
  status: 'OPEN',
  heldFrom: null,
  hold: NONE,
  held: NONE,
  released: NONE,
  refundId: null,
  deadline: null,
  noticeAt: null,
  defense: null,
  defendedAt: null,
  sentAt: null,
  failure: null,
  orderedAt: null,
  attempts: 0,
  nextAttemptAt: null,
  createdAt: now,
  closedAt: null,
})

/** A dispute that the bank has opened. Its money is held, as far as it did not go back before. */
export function open(
  paid: Paid,
  id: Uuid,
  claim: BankDispute,
  { account, left }: Standing,
  now: Date,
): Dispute {
  const hold = toCents(Math.min(claim.amount, left))
  const { deadline } = claim
  const given = {
    id,
    bankId: claim.id,
    amount: claim.amount,
    reason: claim.reason,
    openedAt: claim.openedAt,
  }
  return {
    ...empty(paid, given, now),
    chargeId: chargeIn(account, paid),
    heldFrom: hold > 0 ? account : null,
    hold,
    held: hold,
    deadline,
    noticeAt: nextNotice(deadline, now),
  }
}

/** What the bank has returned by itself after a claim that it did not tell of. */
export function lostAtOnce(
  paid: Paid,
  given: Pick<Dispute, 'id' | 'chargeId' | 'amount' | 'reason' | 'openedAt' | 'refundId'>,
  now: Date,
): Dispute {
  return {
    ...empty(paid, { ...given, bankId: null }, now),
    ...given,
    status: 'LOST',
    closedAt: now,
  }
}

const closed = { noticeAt: null, nextAttemptAt: null }

function end(dispute: Dispute, status: DisputeState, now: Date): Dispute {
  return { ...dispute, ...closed, status, closedAt: now }
}

/** The dispute after a refund that takes a part of what is held for it. */
export function afterRefund(dispute: Dispute, taken: Cents, refundId: Uuid, now: Date): Dispute {
  assert(taken <= dispute.held, 'no more is taken than is held')
  const after = { ...dispute, held: less(dispute.held, taken), refundId }
  return isOpen(dispute) && after.held === 0 ? end(after, 'ACCEPTED', now) : after
}

/** Nothing is held, because all of it is on its way back or was returned: so the company agrees. */
export const accept = (dispute: Dispute, now: Date): Dispute => end(dispute, 'ACCEPTED', now)

/**
 * The dispute after a refund has failed, whose money is there again: what is missing is held again.
 * If the refund had settled the dispute, it is open again. A defense of which nobody knows that the
 * bank has it is sent then. If it was ordered before, the bank is asked first.
 */
export function afterFailure(
  dispute: Dispute,
  { account, left }: Standing,
  now: Date,
): { dispute: Dispute; missing: Cents } {
  const needed = Math.min(dispute.amount, left)
  const missing = less(needed, dispute.held)
  const isBack = dispute.status === 'ACCEPTED' && missing > 0
  const status = dispute.defendedAt ? ('DEFENDED' as const) : ('OPEN' as const)
  const noticeAt = status === 'OPEN' ? nextNotice(dispute.deadline, now) : null
  const nextAttemptAt = dispute.defense !== null && dispute.sentAt === null ? now : null
  const unsent = status === 'DEFENDED' ? { nextAttemptAt } : {}
  const reopened = isBack ? { status, noticeAt, closedAt: null, ...unsent } : {}
  const hold = missing > 0 ? { held: toCents(dispute.held + missing), heldFrom: account } : {}
  return { dispute: { ...dispute, ...reopened, ...hold }, missing }
}

/** The bank has returned money because of the dispute. What is left of the hold is given back. */
export function afterReturn(dispute: Dispute, taken: Cents, refundId: Uuid, now: Date): Dispute {
  const released = less(dispute.held, taken)
  const lost = { ...dispute, held: NONE, released, refundId }
  return dispute.status === 'LOST' ? lost : end(lost, 'LOST', now)
}

/** The hold is given back: the money stays, or is taken from elsewhere. */
export const withoutHold = (dispute: Dispute): Dispute => ({
  ...dispute,
  released: dispute.held,
  held: NONE,
})

/**
 * The dispute after what the bank says of it; itself if that changes nothing. What has ended stays
 * so. If it is lost, the money stays held until the bank has returned it.
 */
export function afterDecision(dispute: Dispute, { status, decidedAt }: BankDispute, now: Date) {
  if (!isOpen(dispute)) return dispute
  const at = decidedAt ?? now
  switch (status) {
    case 'OPEN':
      return dispute
    case 'DEFENDED':
      return dispute.status === 'OPEN' ? defended(dispute, null, at) : dispute
    case 'LOST':
      return end(dispute, 'LOST', now)
    default:
      return withoutHold(end(dispute, status, now))
  }
}

/** The company has defended itself, here or at the bank. Here there is something to send. */
export const defended = (dispute: Dispute, defense: Buffer | null, now: Date): Dispute => ({
  ...dispute,
  status: 'DEFENDED',
  noticeAt: null,
  defense,
  defendedAt: now,
  sentAt: null,
  failure: null,
  orderedAt: null,
  attempts: 0,
  nextAttemptAt: defense ? now : null,
})

/** The bank does not take the defense. The dispute waits again, unless it has ended since. */
export function notDefended(dispute: Dispute, failure: string, now: Date): Dispute {
  const told = { ...dispute, failure, nextAttemptAt: null }
  if (dispute.status !== 'DEFENDED') return told
  const noticeAt = nextNotice(dispute.deadline, now)
  return { ...told, status: 'OPEN', defendedAt: null, noticeAt }
}

export function requireOpen({ status }: Dispute): void {
  if (status === 'OPEN' || status === 'DEFENDED') return
  throw problem('dispute_not_open', `The dispute is ${status}: nothing can be done about it.`)
}

/** Throws if it is too late to defend it, or that was done. */
export function requireDefensible({ status, deadline }: Dispute, now: Date): void {
  if (status === 'DEFENDED') {
    throw problem('dispute_not_open', 'The dispute was defended already. The bank decides now.')
  }
  requireOpen({ status } as Dispute)
  if (!deadline || now <= deadline) return
  const at = deadline.toISOString()
  throw problem('dispute_not_open', `The deadline was ${at}: the bank takes no defense any more.`)
}
