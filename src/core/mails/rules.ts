import { problem } from '../../lib/problems.ts'

export type MailKind =
  | 'withdrawal-code'
  | 'withdrawal-approval'
  | 'withdrawal-completed'
  | 'withdrawal-failed'
  | 'payment-link'
  | 'receipt'
  | 'webhook-failing'
  | 'webhook-deactivated'
  | 'bank-return'
  | 'certificate-ending'
  | 'bank-changed'
  | 'access-changed'
  | 'email-changed'
  | 'email-confirmed'
  | 'invitation'
  | 'new-password'
  | 'sign-in-link'
  | 'password-changed'
  | 'factor-changed'

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
