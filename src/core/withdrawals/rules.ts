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
  /** The Pix key that the money goes to. */
  destination: string
  status: Status
  failure: string | null
  /** Of the code that is waited for. */
  otpHash: Buffer | null
  otpExpiresAt: Date
  otpAttempts: number
  otpSent: number
  endToEndId: string | null
  /** An operator sends it, by hand, and nobody else takes it up. */
  manual: boolean
  /** When the bank was first about to be told of it. */
  orderedAt: Date | null
  /** How often the payout was taken up. */
  attempts: number
  nextAttemptAt: Date | null
  createdAt: Date
  confirmedAt: Date | null
  finishedAt: Date | null
}

export const CODE_LIFETIME_S = 600
export const MAX_TRIES = 5
/** The first and three more. */
export const MAX_SENDS = 4
/** Tries that a company may spend in an hour on withdrawals that are never confirmed. */
export const MAX_WRONG = 5 * MAX_TRIES
export const WRONG_WINDOW_S = 3600

const after = (now: Date, seconds: number): Date => new Date(now.getTime() + seconds * 1000)
const secondsUntil = (then: Date, now: Date): number =>
  Math.ceil((then.getTime() - now.getTime()) / 1000)

export const makeCode = (): string => String(randomInt(1_000_000)).padStart(6, '0')

type Start = Pick<Withdrawal, 'companyId' | 'id' | 'value' | 'destination'> & { otpHash: Buffer }

export const start = (fields: Start, now: Date): Withdrawal => ({
  ...fields,
  status: 'PENDING_OTP',
  failure: null,
  otpExpiresAt: after(now, CODE_LIFETIME_S),
  otpAttempts: 0,
  otpSent: 1,
  endToEndId: null,
  manual: false,
  orderedAt: null,
  attempts: 0,
  nextAttemptAt: null,
  createdAt: now,
  confirmedAt: null,
  finishedAt: null,
})

/** A company has one withdrawal at a time; who starts another is told which. */
export function alreadyPending({ id, status }: Withdrawal): Problem {
  const description =
    status === 'PENDING_OTP'
      ? 'A withdrawal is waiting for its one-time code. Confirm or cancel it first.'
      : 'A withdrawal is being paid out. Wait for its end.'
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
    `value: ${value} cents are more than the ${available} cents in the available balance.`,
  )

/** Tries that were spent on a withdrawal without confirming it. */
export type Spent = { tries: number; at: Date }

/**
 * Whoever guesses codes is stopped, however the tries are spread over withdrawals. Newest first.
 */
export function requireNoGuessing(spent: Spent[], now: Date): void {
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
 * If a company was sent too many codes, it gets no other for now: whoever has its API key could
 * fill its mailbox otherwise. `sent` lists the moments of the last codes, newest first, of all
 * withdrawals.
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

export const isDue = ({ status, otpExpiresAt }: Withdrawal, now: Date): boolean =>
  status === 'PENDING_OTP' && otpExpiresAt <= now

/** Past the end of its code a withdrawal is expired for everybody, before the worker writes it. */
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

/** Throws unless a code can still confirm it. */
function requireWaiting(withdrawal: Withdrawal, now: Date): void {
  const current = asOf(withdrawal, now)
  if (current.status === 'EXPIRED') {
    throw problem('otp_expired', 'The one-time code has expired. Start another withdrawal.')
  }
  if (current.status !== 'PENDING_OTP') throw noLongerWaits(current)
}

/**
 * `hash` is that of the code whose try was counted; null when there was no try to count. What no
 * bank sends waits for an operator.
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
  return {
    ...withdrawal,
    status: 'PROCESSING',
    otpHash: null,
    confirmedAt: now,
    manual,
    nextAttemptAt: manual ? null : now,
  }
}

/** A new code has its own end, but no tries of its own: they count for the withdrawal. */
export function renewCode(withdrawal: Withdrawal, otpHash: Buffer, now: Date): Withdrawal {
  requireWaiting(withdrawal, now)
  if (triesLeft(withdrawal) === 0) throw triesUsed()
  if (withdrawal.otpSent >= MAX_SENDS) {
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

/** The last try was wrong. Null when the withdrawal has come to another end since. */
export function refuseGuesses(withdrawal: Withdrawal, now: Date): Withdrawal | null {
  if (withdrawal.status !== 'PENDING_OTP') return null
  return { ...ended(withdrawal, 'CANCELED', now), failure: 'five wrong codes' }
}

/**
 * What the bank's word makes of a payout that was taken up for the `attempt`th time; null when it
 * changes nothing. Money that has left has left, whoever hears of it. A refusal counts only while
 * nobody else has taken the payout up, for they may be telling the bank at this moment.
 */
export function concluded(
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
 * Leaves a payout to an operator, for good, because the company has no bank any more that sends;
 * null when somebody else has taken it up.
 */
export function handOver(
  withdrawal: Withdrawal,
  attempt: number,
  orderedBefore: boolean,
): Withdrawal | null {
  if (withdrawal.status !== 'PROCESSING' || withdrawal.attempts !== attempt) return null
  const orderedAt = orderedBefore ? withdrawal.orderedAt : null
  return { ...withdrawal, manual: true, nextAttemptAt: null, orderedAt }
}

/** The sending institution, a minute of UTC, and 11 characters of the sender's choice. */
const END_TO_END_ID = /^E[0-9A-Z]{8}(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)[0-9A-Za-z]{11}$/

/** Whether the scheme could have given a payment this id. */
export function isEndToEndId(text: string): boolean {
  const [, ...parts] = END_TO_END_ID.exec(text) ?? []
  const [year, month, day, hour, minute] = parts
  const at = new Date(`${year}-${month}-${day}T${hour}:${minute}:00Z`)
  // A day that its month lacks is read as one of the next.
  return !Number.isNaN(at.getTime()) && at.getUTCDate() === Number(day)
}

/** What an operator says of a withdrawal that they were to send. */
export type ByHand = { endToEndId: string } | { failure: string }

const notByHand = (description: string): Problem =>
  problem('withdrawal_not_confirmable', description)

/** The same word again changes nothing: then it is 'told before'. Another one is refused. */
export function concludedByHand(
  withdrawal: Withdrawal,
  word: ByHand,
  now: Date,
): Withdrawal | 'told before' {
  const { status, manual, endToEndId, failure } = withdrawal
  const isSame = 'failure' in word ? failure === word.failure : endToEndId === word.endToEndId
  if (manual && isSame && status !== 'PROCESSING') return 'told before'
  if (status === 'COMPLETED') throw notByHand(`The withdrawal is COMPLETED as ${endToEndId}.`)
  if (status === 'FAILED') throw notByHand(`The withdrawal is FAILED: ${failure}.`)
  if (status !== 'PROCESSING') {
    throw notByHand(`The withdrawal is ${status}: its one-time code did not confirm it.`)
  }
  if (!manual) throw notByHand('The bank sends this withdrawal: its end comes by itself.')
  return 'failure' in word
    ? { ...ended(withdrawal, 'FAILED', now), failure: word.failure }
    : { ...ended(withdrawal, 'COMPLETED', now), endToEndId: word.endToEndId }
}

/** Money on its way out is held from the start, and only a completed withdrawal has spent it. */
export function postingOf({ id, value: amount, status }: Withdrawal): Posting {
  assert(status !== 'PROCESSING', 'a payout on its way moves nothing in the books')
  const order = { ref: toPublic('wd', id), amount }
  if (status === 'PENDING_OTP') return withdrawalHeld(order)
  return status === 'COMPLETED' ? withdrawalPaid(order) : withdrawalReleased(order)
}
