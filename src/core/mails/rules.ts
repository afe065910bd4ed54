import { problem } from '../../lib/problems.ts'

/**
 * What bounds how many mails of a kind are sent. 'budgets': those below count each of them when it
 * is sent, because strangers get it, or because a company can cause it as often as it likes.
 * 'source': the command that causes it is limited. Such a mail warns its reader or lets them in, so
 * nothing that is counted here may ever hold it back.
 */
const BOUND_BY = {
  'withdrawal-code': 'source',
  'withdrawal-approval': 'source',
  'withdrawal-completed': 'source',
  'withdrawal-failed': 'source',
  'payment-link': 'budgets',
  receipt: 'budgets',
  reminder: 'budgets',
  'webhook-failing': 'budgets',
  'webhook-deactivated': 'budgets',
  'bank-return': 'source',
  dispute: 'source',
  'certificate-ending': 'source',
  'bank-changed': 'source',
  'recipient-key-changed': 'source',
  'access-changed': 'source',
  'email-changed': 'source',
  'email-confirmed': 'budgets',
  invitation: 'budgets',
  'new-password': 'source',
  'sign-in-link': 'source',
  'password-changed': 'source',
  'factor-changed': 'source',
} as const satisfies Record<string, 'source' | 'budgets'>

export type MailKind = keyof typeof BOUND_BY

/** Who shares a budget. Each kind of mail has budgets of its own, so none is used up by another. */
export type BudgetOf = 'RECIPIENT' | 'COMPANY' | 'ALL'

/** Why a mail waits or was not sent, if no mail server has refused it. */
export type MailReason = BudgetOf | 'PLAY_MONEY' | 'RESTORED'

/** Mails of a day. A fifth of them may be sent at once. */
type DailyMails = Record<BudgetOf, number>

const AT_ONCE = 1 / 5
/** Moments are stored in milliseconds. */
const ROUNDED_MS = 1

/** A budget, and how many of its mails are sent in a day. */
export type Budget = { of: BudgetOf; name: string; perDay: number }

/**
 * The same mailbox however it is written: many servers ignore capitals, dots and what follows a
 * plus sign.
 */
export function mailboxOf(address: string): string {
  const [local = '', domain = ''] = address.toLowerCase().split('@')
  return `${local.replace(/\+.*/, '').replaceAll('.', '')}@${domain}`
}

/** The budgets that a mail is counted in. `recipient` stands for the mailbox. */
export function budgetsOf(
  { kind, companyId }: { kind: MailKind; companyId: string },
  recipient: string,
  perDay: DailyMails,
): Budget[] {
  if (BOUND_BY[kind] === 'source') return []
  return [
    { of: 'RECIPIENT', name: `${kind} to ${recipient}`, perDay: perDay.RECIPIENT },
    { of: 'COMPANY', name: `${kind} of ${companyId}`, perDay: perDay.COMPANY },
    { of: 'ALL', name: kind, perDay: perDay.ALL },
  ]
}

/**
 * Takes one mail from each of its budgets, or from none if one is used up, which is returned then.
 * `fullAt` has the moment at which each budget is whole again, in milliseconds, and is changed.
 */
export function takeFrom(
  budgets: Budget[],
  fullAt: Map<string, number>,
  now_ms: number,
): BudgetOf | null {
  const taken = budgets.map(({ of, name, perDay }) => {
    const each_ms = (DAY_S * 1000) / perDay
    const full_ms = Math.max(fullAt.get(name) ?? 0, now_ms) + each_ms
    const most_ms = Math.ceil(perDay * AT_ONCE) * each_ms + ROUNDED_MS
    return { of, name, full_ms, isOver: full_ms - now_ms > most_ms }
  })
  const over = taken.find(({ isOver }) => isOver)
  if (over) return over.of
  for (const { name, full_ms } of taken) fullAt.set(name, full_ms)
  return null
}

/**
 * Whether a mail over a budget is tried again, as if a mail server had refused it for now. Whoever
 * gets too many links is not sent the rest of them later, but a receipt is somebody's due.
 */
export const waitsFor = (kind: MailKind, of: BudgetOf): boolean =>
  of !== 'RECIPIENT' || kind === 'receipt'

/** How many mails may be under way, if the mail server takes so many. */
type MailShares = { payers: number; ofOneCompany: number }

/** So many connections are enough for other companies while all of one company's hang. */
const OF_OTHERS = 6

/**
 * A sixteenth is kept for mails that are not to payers. Of the rest one company leaves a quarter to
 * others, but no more than they need, so that another finds a connection even if all of them hang.
 */
export function sharesOf(all: number): MailShares {
  const payers = all > 1 ? all - Math.ceil(all / 16) : all
  return { payers, ofOneCompany: payers - Math.min(Math.floor(payers / 4), OF_OTHERS) }
}

const HOUR_S = 3600
export const DAY_S = 24 * HOUR_S

/** How many mails of a kind a company may be sent. */
export type MailLimit = { perHour: number; perDay: number }

/** How long to wait for the next mail of a limit. `sent` are the last times, newest first. */
export function waitOf(sent: Date[], { perHour, perDay }: MailLimit, now: Date): number {
  const wait_ms = (max: number, window_s: number) =>
    (sent[max - 1]?.getTime() ?? Number.NEGATIVE_INFINITY) + window_s * 1000 - now.getTime()
  const wait_s = Math.ceil(Math.max(wait_ms(perHour, HOUR_S), wait_ms(perDay, DAY_S)) / 1000)
  return Math.max(0, wait_s)
}

/** Refuses a mail over the limit. */
export function requireWithinLimit(
  sent: Date[],
  limit: MailLimit,
  now: Date,
  rule: (perHour: number, perDay: number) => string,
): void {
  const wait_s = waitOf(sent, limit, now)
  if (wait_s === 0) return
  const text = rule(limit.perHour, limit.perDay)
  throw problem('rate_limited', `${text} Wait for the time in Retry-After.`, {
    'Retry-After': String(wait_s),
  })
}

/** The outcome of a mail. Without one, it waits for its next attempt. */
export type MailOutcome = 'SENT' | 'FAILED' | 'EXPIRED'

/** Minutes from each failed attempt to the next. The last is used for all further attempts. */
const RETRY_MINUTES = [1, 5, 15, 60]
const MAX_AGE_HOURS = 24

const MINUTE_MS = 60_000

/** When to try a mail again that was not accepted. Null if it is too old. */
export function retryAt(mail: { attempts: number; createdAt: Date }, now: Date): Date | null {
  if (now.getTime() - mail.createdAt.getTime() >= MAX_AGE_HOURS * 60 * MINUTE_MS) return null
  const minutes = RETRY_MINUTES[mail.attempts - 1] ?? RETRY_MINUTES.at(-1)!
  return new Date(now.getTime() + minutes * MINUTE_MS)
}

export const isExpired = (mail: { expiresAt: Date | null }, now: Date): boolean =>
  mail.expiresAt !== null && mail.expiresAt <= now
