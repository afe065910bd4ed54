export type MailKind =
  | 'withdrawal-code'
  | 'withdrawal-completed'
  | 'withdrawal-failed'
  | 'payment-link'
  | 'receipt'
  | 'webhook-failing'
  | 'webhook-deactivated'
  | 'certificate-ending'
  | 'email-changed'
  | 'email-confirmed'

/** How a mail ends; until then it waits for its next attempt. */
export type MailOutcome = 'SENT' | 'FAILED' | 'EXPIRED'

/** From a failed attempt to the next one; the last stands for all that follow. */
const RETRY_MINUTES = [1, 5, 15, 60]
const GIVE_UP_HOURS = 24

const MINUTE_MS = 60_000

/** When a mail that was not taken is tried again; null once it has waited long enough. */
export function retryAt(mail: { attempts: number; createdAt: Date }, now: Date): Date | null {
  if (now.getTime() - mail.createdAt.getTime() >= GIVE_UP_HOURS * 60 * MINUTE_MS) return null
  const minutes = RETRY_MINUTES[mail.attempts - 1] ?? RETRY_MINUTES.at(-1)!
  return new Date(now.getTime() + minutes * MINUTE_MS)
}

export const isExpired = (mail: { expiresAt: Date | null }, now: Date): boolean =>
  mail.expiresAt !== null && mail.expiresAt <= now
