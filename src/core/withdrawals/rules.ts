import { randomInt } from 'node:crypto'
import {
  type Posting,
  withdrawalHeld,
  withdrawalPaid,
  withdrawalReleased,
} from '../../ledger/recipes.ts'
import { assert } from '../../lib/assert.ts'
import { toPublic, type Uuid } from '../../lib/ids.ts'
import type { Cents } from '../../lib/money.ts'
import { type ErrorItem, Problem, problem } from '../../lib/problems.ts'
import type { Outcome, Sent } from '../../provider/port.ts'
import type { Company } from '../companies/rules.ts'
import { type MailLimit, requireWithinLimit } from '../mails/rules.ts'
import { retryIn_s } from '../orders.ts'

export const STATUSES = [
  'PENDING_OTP',
  'PROCESSING',
  'COMPLETED',
  'FAILED',
  'EXPIRED',
  'CANCELED',
] as const
export type Status = (typeof STATUSES)[number]

export type Withdrawal = {
  companyId: Uuid
  id: Uuid
  value: Cents
  /** The Pix key that the money goes to. That of a recipient is masked. */
  destination: string
  /** Whose money it is: of a recipient, or null: of the company. */
  recipientId: Uuid | null
  /** The Pix key of a recipient, sealed. */
  keySealed: Buffer | null
  status: Status
  failure: string | null
  /** The hash of the code that confirms it; null when no code is awaited. */
  otpHash: Buffer | null
  otpExpiresAt: Date
  otpAttempts: number
  otpSent: number
  endToEndId: string | null
  /** The bank's own id of the payout, if it has one. */
  bankReference: string | null
  /** Whether an operator sends it. Then no task claims it. */
  manual: boolean
  /** When it was first claimed, which is before the bank gets the order. */
  orderedAt: Date | null
  /** How often the payout was claimed. */
  attempts: number
  nextAttemptAt: Date | null
  createdAt: Date
  confirmedAt: Date | null
  finishedAt: Date | null
  /** The person who has started it. Null: an API key has. */
  requestedBy: Uuid | null
  /** Whether a second person must approve it. Decided when it is started. */
  needsApproval: boolean
  approvedBy: Uuid | null
  approvedAt: Date | null
  /**
   * Until when it waits for that approval, because the destination was changed shortly before. Then
   * it is sent without one. Null: without an approval it is never sent.
   */
  heldUntil: Date | null
  /**
   * Who had changed the destination shortly before it was started. It has one above the limit too,
   * where `heldUntil` is null. Null: it is not held.
   */
  heldFor: Uuid | null
}

/** Why a withdrawal was canceled, if nobody has asked for that. */
export const NOT_APPROVED = 'not approved'
export const DESTINATION_CHANGED = 'destination changed'
const FIVE_WRONG_CODES = 'five wrong codes'

export const CODE_LIFETIME_S = 600
/** How long a withdrawal whose code was right waits for its approval. */
export const APPROVAL_LIFETIME_S = 3 * 24 * 3600
export const MAX_TRIES = 5
/** The first code and three more. */
const MAX_SENDS = 4
/** How many codes a company may try in an hour for withdrawals that are not confirmed. */
const MAX_WRONG = 5 * MAX_TRIES
export const WRONG_WINDOW_S = 3600

const after = (now: Date, seconds: number): Date => new Date(now.getTime() + seconds * 1000)
const secondsUntil = (then: Date, now: Date): number =>
  Math.ceil((then.getTime() - now.getTime()) / 1000)

export const makeCode = (): string => String(randomInt(1_000_000)).padStart(6, '0')

type Start = Pick<
  Withdrawal,
  | 'companyId'
  | 'id'
  | 'value'
  | 'destination'
  | 'recipientId'
  | 'keySealed'
  | 'requestedBy'
  | 'needsApproval'
  | 'heldUntil'
  | 'heldFor'
> & { otpHash: Buffer }

/**
 * Whether a withdrawal needs the approval of a second person, because it is above the limit alone
 * or together with what left on the same day without one.
 */
export const needsApproval = (value: Cents, above: Cents, without: Cents): boolean =>
  value + without > above

/**
 * Until when a withdrawal is held, because it was changed a short time ago where the money goes.
 * Whoever has got into the dashboard must not be able to have the money sent to themselves before
 * the owners have read about it.
 */
export function holdUntil(changedAt: Date | null, hours: number, now: Date): Date | null {
  if (changedAt === null) return null
  const until = after(changedAt, hours * 3600)
  return now < until ? until : null
}

export const start = (fields: Start, now: Date): Withdrawal => ({
  ...fields,
  status: 'PENDING_OTP',
  failure: null,
  otpExpiresAt: after(now, CODE_LIFETIME_S),
  otpAttempts: 0,
  otpSent: 1,
  endToEndId: null,
  bankReference: null,
  manual: false,
  orderedAt: null,
  attempts: 0,
  nextAttemptAt: null,
  createdAt: now,
  confirmedAt: null,
  finishedAt: null,
  approvedBy: null,
  approvedAt: null,
})

/** A company has one withdrawal at a time. The problem names the one that is pending. */
export function alreadyPending({ id, status, confirmedAt }: Withdrawal): Problem {
  const description =
    status !== 'PENDING_OTP'
      ? 'A withdrawal is being paid out. Wait for its end.'
      : confirmedAt === null
        ? 'A withdrawal is waiting for its one-time code. Confirm or cancel it first.'
        : 'A withdrawal is waiting for the approval of a second person. Cancel it or wait.'
  const item: ErrorItem = {
    code: 'withdrawal_pending',
    description,
    withdrawId: toPublic('wd', id),
  }
  return new Problem([item])
}

export const insufficient = (value: Cents, available: number): Problem =>
  problem(
    'insufficient_balance',
    available < 0
      ? `value: the available balance is ${-available} cents below zero, because money that was withdrawn is disputed or was returned by the bank. Nothing can be withdrawn until the next money that you receive has made up for it.`
      : `value: ${value} cents are more than the ${available} cents in the available balance.`,
  )

export const recipientLacks = (value: number, available: number): Problem =>
  problem(
    'insufficient_balance',
    available === 0
      ? 'value: the recipient has no money that could be paid to it.'
      : `value: ${value} cents are more than the ${available} cents that the recipient has.`,
  )

/** Whether the API shows the codes of a company. Then a limit of codes protects nothing. */
export const showsCodes = ({ mode }: Pick<Company, 'mode'>): boolean => mode === 'sandbox'

/** The codes that were tried for a withdrawal without confirming it. */
export type Spent = { tries: number; at: Date }

/**
 * If too many wrong codes were tried within an hour, over all withdrawals, throws. `spent` is in
 * the order newest first.
 */
export function requireFewGuesses(spent: Spent[], now: Date): void {
  let tries = 0
  const last = spent.find((one) => {
    tries += one.tries
    return tries >= MAX_WRONG
  })
  if (!last) return
  const wait_s = secondsUntil(after(last.at, WRONG_WINDOW_S), now)
  throw problem('rate_limited', 'Too many wrong codes were tried within an hour.', {
    'Retry-After': String(Math.max(1, wait_s)),
  })
}

/**
 * If a company was sent too many codes, throws, because whoever has its API key could fill its
 * mailbox. `sent` has the times of the last codes of all withdrawals, newest first.
 */
export const requireFewCodes = (sent: Date[], limit: MailLimit, now: Date): void =>
  requireWithinLimit(sent, limit, now, (perHour, perDay) => {
    return `A company is sent at most ${perHour} one-time codes an hour and ${perDay} a day.`
  })

const ended = (withdrawal: Withdrawal, status: Status, finishedAt: Date): Withdrawal => ({
  ...withdrawal,
  status,
  otpHash: null,
  nextAttemptAt: null,
  finishedAt,
})

/** Whether its time is over, and nothing but that time was awaited. */
const isReleased = ({ confirmedAt, heldUntil }: Withdrawal): boolean =>
  confirmedAt !== null && heldUntil !== null

const isOver = ({ status, otpExpiresAt }: Withdrawal, now: Date): boolean =>
  status === 'PENDING_OTP' && otpExpiresAt <= now

/** Whether its code or its approval has come too late. */
export const isDue = (withdrawal: Withdrawal, now: Date): boolean =>
  isOver(withdrawal, now) && !isReleased(withdrawal)

/** A withdrawal whose code has expired is EXPIRED, also before a task has written that. */
export const asOf = (withdrawal: Withdrawal, now: Date): Withdrawal =>
  isDue(withdrawal, now) ? ended(withdrawal, 'EXPIRED', withdrawal.otpExpiresAt) : withdrawal

const notConfirmable = (description: string): Problem =>
  problem('withdrawal_not_confirmable', description)

const noLongerWaits = ({ status }: Withdrawal): Problem =>
  notConfirmable(`The withdrawal is ${status} and no longer waits for a code.`)

const triesUsed = (): Problem =>
  notConfirmable(`All ${MAX_TRIES} tries are used. Cancel the withdrawal and start another.`)

export const triesLeft = ({ otpAttempts }: Pick<Withdrawal, 'otpAttempts'>): number =>
  MAX_TRIES - otpAttempts

export function wrongCode(withdrawal: Pick<Withdrawal, 'otpAttempts'>): Problem {
  const left = triesLeft(withdrawal)
  const rest =
    left === 0
      ? 'It was the last try: the withdrawal is canceled.'
      : `${left} ${left === 1 ? 'try is' : 'tries are'} left.`
  return problem('otp_invalid', `The one-time code is wrong. ${rest}`)
}

/** If no code can confirm the withdrawal any more, throws. */
function requireWaiting(withdrawal: Withdrawal, now: Date): void {
  const current = asOf(withdrawal, now)
  if (current.confirmedAt !== null && current.status === 'PENDING_OTP') {
    throw notConfirmable('The code was right. The withdrawal waits for a second person’s approval.')
  }
  if (current.status === 'EXPIRED') {
    throw problem('otp_expired', 'The one-time code has expired. Start another withdrawal.')
  }
  if (current.status !== 'PENDING_OTP') throw noLongerWaits(current)
}

/** Whether a second person has still to approve it. */
export const awaitsApproval = ({ status, needsApproval, approvedAt }: Withdrawal): boolean =>
  status === 'PENDING_OTP' && needsApproval && approvedAt === null

/** Lets a withdrawal be paid out. If it is manual, it waits for an operator instead of a task. */
const toPay = (withdrawal: Withdrawal, now: Date, manual: boolean): Withdrawal => ({
  ...withdrawal,
  status: 'PROCESSING',
  otpHash: null,
  manual,
  nextAttemptAt: manual ? null : now,
})

/**
 * Confirms a withdrawal. `hash` is the hash of the code that was tried; null when no try was left.
 * If it has still to be approved, it waits for that, and for longer than for its code.
 */
export function confirm(
  withdrawal: Withdrawal,
  hash: Buffer | null,
  now: Date,
  manual = false,
): Withdrawal {
  requireWaiting(withdrawal, now)
  if (hash === null) throw triesUsed()
  // Another code was sent since the try was counted.
  if (!withdrawal.otpHash?.equals(hash)) throw wrongCode(withdrawal)
  const confirmed = { ...withdrawal, confirmedAt: now }
  if (!awaitsApproval(confirmed)) return toPay(confirmed, now, manual)
  const otpExpiresAt = withdrawal.heldUntil ?? after(now, APPROVAL_LIFETIME_S)
  const waiting = { ...confirmed, otpExpiresAt }
  return release(waiting, now, manual) ?? waiting
}

/** A withdrawal that was held is paid out once its time is over. Null: it is not. */
export function release(withdrawal: Withdrawal, now: Date, manual: boolean): Withdrawal | null {
  const isPayable = isOver(withdrawal, now) && isReleased(withdrawal)
  return isPayable ? toPay({ ...withdrawal, needsApproval: false }, now, manual) : null
}

const notApprovable = (description: string): Problem =>
  problem('withdrawal_not_approvable', description)

/** If the withdrawal waits for no approval, throws. */
function requireAwaitsApproval(withdrawal: Withdrawal, now: Date): void {
  const current = asOf(withdrawal, now)
  if (awaitsApproval(current)) return
  throw notApprovable(`The withdrawal is ${current.status} and waits for no approval.`)
}

/** Somebody who may approve withdrawals of a company, and since when they are a member. */
export type Approver = { id: Uuid; since: Date }

/**
 * Whether a withdrawal is held for what this person has changed. They cannot approve it, also if an
 * API key has started it, which they may have made themselves. Nor can a new member, whom they may
 * have added: only who was one before any change that it can be held for.
 */
export const isHeldFor = (
  { heldFor, createdAt }: Pick<Withdrawal, 'heldFor' | 'createdAt'>,
  { id, since }: Approver,
  hours: number,
): boolean => heldFor !== null && (heldFor === id || since > after(createdAt, -hours * 3600))

/** If it is held for what this person has changed, throws. */
export function requireOtherThanChanger(
  withdrawal: Withdrawal,
  approver: Approver,
  hours: number,
): void {
  if (!isHeldFor(withdrawal, approver, hours)) return
  throw notApprovable(
    'Neither whoever has changed the bank connection nor a new member can approve a withdrawal that is held for it. Ask another person.',
  )
}

/** Where the own money of a company goes. */
export const ownDestination = ({
  payoutKey,
  pixKey,
}: Pick<Company, 'payoutKey' | 'pixKey'>): string => payoutKey ?? pixKey

/**
 * What was held is not sent to where the company's money no longer goes: it is canceled. Null: it
 * can be sent.
 */
export function cancelMoved(
  withdrawal: Withdrawal,
  company: Pick<Company, 'payoutKey' | 'pixKey'>,
  now: Date,
): Withdrawal | null {
  const { status, heldFor, heldUntil, recipientId, destination } = withdrawal
  const isHeld = heldFor !== null || heldUntil !== null
  if (status !== 'PROCESSING' || !isHeld || recipientId !== null) return null
  if (destination === ownDestination(company)) return null
  const canceled = ended({ ...withdrawal, manual: false }, 'CANCELED', now)
  return { ...canceled, failure: DESTINATION_CHANGED }
}

/**
 * A second person approves a withdrawal. It is paid out as soon as both are there, the approval and
 * the right code, in whatever order.
 */
export function approve(
  withdrawal: Withdrawal,
  personId: Uuid,
  now: Date,
  manual = false,
): Withdrawal | 'already-approved' {
  if (withdrawal.approvedBy === personId) return 'already-approved'
  requireAwaitsApproval(withdrawal, now)
  if (withdrawal.requestedBy === personId) {
    throw notApprovable('Whoever has started a withdrawal cannot approve it. Ask another person.')
  }
  const approved = { ...withdrawal, approvedBy: personId, approvedAt: now }
  return approved.confirmedAt === null ? approved : toPay(approved, now, manual)
}

/** A person refuses to approve a withdrawal. Its money is available again. */
export function reject(withdrawal: Withdrawal, now: Date): Withdrawal {
  requireAwaitsApproval(withdrawal, now)
  return { ...ended(withdrawal, 'CANCELED', now), failure: NOT_APPROVED }
}

/** A new code expires later, but adds no tries, because tries are counted per withdrawal. */
export function renewCode(
  withdrawal: Withdrawal,
  otpHash: Buffer,
  now: Date,
  isLimited = true,
): Withdrawal {
  requireWaiting(withdrawal, now)
  if (triesLeft(withdrawal) === 0) throw triesUsed()
  if (isLimited && withdrawal.otpSent >= MAX_SENDS) {
    const wait_s = secondsUntil(withdrawal.otpExpiresAt, now)
    const retry = { 'Retry-After': String(wait_s) }
    throw problem('rate_limited', `The code was sent ${MAX_SENDS} times, which is the most.`, retry)
  }
  const otpExpiresAt = after(now, CODE_LIFETIME_S)
  return { ...withdrawal, otpHash, otpExpiresAt, otpSent: withdrawal.otpSent + 1 }
}

export function cancel(withdrawal: Withdrawal, now: Date): Withdrawal | 'already-canceled' {
  const current = asOf(withdrawal, now)
  if (current.status === 'CANCELED') return 'already-canceled'
  if (current.status !== 'PENDING_OTP') throw noLongerWaits(current)
  return ended(withdrawal, 'CANCELED', now)
}

/** Cancels a withdrawal after the last wrong code. Null when it has ended in another way. */
export function cancelAfterGuesses(withdrawal: Withdrawal, now: Date): Withdrawal | null {
  if (withdrawal.status !== 'PENDING_OTP' || withdrawal.confirmedAt !== null) return null
  return { ...ended(withdrawal, 'CANCELED', now), failure: FIVE_WRONG_CODES }
}

/**
 * The withdrawal after the outcome of its `attempt`th payout; null when nothing changes. If the
 * money was sent, that counts whoever asked the bank. A rejection counts only if no other worker
 * has claimed the payout since, because that worker may be ordering it at this moment.
 */
export function afterOutcome(
  withdrawal: Withdrawal,
  attempt: number,
  outcome: Outcome<Sent>,
  now: Date,
): Withdrawal | null {
  if (withdrawal.status !== 'PROCESSING') return null
  if (outcome.kind === 'accepted') {
    return { ...ended(withdrawal, 'COMPLETED', now), endToEndId: outcome.value.endToEndId }
  }
  if (withdrawal.attempts !== attempt) return null
  if (outcome.kind === 'rejected') {
    return { ...ended(withdrawal, 'FAILED', now), failure: outcome.reason }
  }
  return { ...withdrawal, nextAttemptAt: after(now, retryIn_s(attempt)) }
}

/**
 * Leaves a payout to an operator for good, because no bank of the company sends any more. Null when
 * another worker has claimed it.
 */
export function leaveToOperator(
  withdrawal: Withdrawal,
  attempt: number,
  orderedBefore: boolean,
): Withdrawal | null {
  if (withdrawal.status !== 'PROCESSING' || withdrawal.attempts !== attempt) return null
  const orderedAt = orderedBefore ? withdrawal.orderedAt : null
  return { ...withdrawal, manual: true, nextAttemptAt: null, orderedAt }
}

/** The sending institution, a minute in UTC, and 11 characters that the sender chooses. */
const END_TO_END_ID = /^E[0-9A-Z]{8}(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)[0-9A-Za-z]{11}$/

/** Whether the scheme could have given a payment this id. */
export function isEndToEndId(text: string): boolean {
  const [, ...parts] = END_TO_END_ID.exec(text) ?? []
  const [year, month, day, hour, minute] = parts
  const at = new Date(`${year}-${month}-${day}T${hour}:${minute}:00Z`)
  // If the month has no such day, the Date is in the next month.
  return !Number.isNaN(at.getTime()) && at.getUTCDate() === Number(day)
}

/** What an operator reports about a manual withdrawal. */
export type ManualResult = { endToEndId: string } | { failure: string }

const notManual = (description: string): Problem =>
  problem('withdrawal_not_confirmable', description)

/** The withdrawal after an operator's report. The same report again is 'already-recorded'. */
export function afterManualResult(
  withdrawal: Withdrawal,
  result: ManualResult,
  now: Date,
): Withdrawal | 'already-recorded' {
  const { status, manual, endToEndId, failure, confirmedAt } = withdrawal
  const isSame = 'failure' in result ? failure === result.failure : endToEndId === result.endToEndId
  if (manual && isSame && status !== 'PROCESSING') return 'already-recorded'
  if (status === 'COMPLETED') throw notManual(`The withdrawal is COMPLETED as ${endToEndId}.`)
  if (status === 'FAILED') throw notManual(`The withdrawal is FAILED: ${failure}.`)
  if (status !== 'PROCESSING') {
    const missing = confirmedAt
      ? 'a second person did not approve it'
      : 'its one-time code did not confirm it'
    throw notManual(`The withdrawal is ${status}: ${missing}.`)
  }
  if (!manual) throw notManual('The bank sends this withdrawal: its end comes by itself.')
  return 'failure' in result
    ? { ...ended(withdrawal, 'FAILED', now), failure: result.failure }
    : { ...ended(withdrawal, 'COMPLETED', now), endToEndId: result.endToEndId }
}

/**
 * Holds the money at the start. At the end it is paid if COMPLETED, and released otherwise. A
 * payout is of the money of its recipient.
 */
export function postingOf({ id, value: amount, status, recipientId }: Withdrawal): Posting {
  assert(status !== 'PROCESSING', 'a payout that has not ended moves nothing in the books')
  const order = { ref: toPublic('wd', id), amount }
  const own = recipientId === null ? 'available' : 'recipients'
  if (status === 'PENDING_OTP') return withdrawalHeld(order, own)
  return status === 'COMPLETED' ? withdrawalPaid(order) : withdrawalReleased(order, own)
}
