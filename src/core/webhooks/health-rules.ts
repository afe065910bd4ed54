/**
 * From this many failures in a row, nothing is sent to a webhook for a while after each failure.
 */
export const FAILURES_BEFORE_PAUSE = 10
const MIN_PAUSE_S = 15
const MAX_PAUSE_S = 300

/**
 * Until when nothing is sent to a webhook after so many failures in a row, or null. Deliveries that
 * wait in the meantime keep all their tries.
 */
export function pauseUntil(failures: number, now: Date): Date | null {
  if (failures < FAILURES_BEFORE_PAUSE) return null
  const pause_s = Math.min(MIN_PAUSE_S * 2 ** (failures - FAILURES_BEFORE_PAUSE), MAX_PAUSE_S)
  return new Date(now.getTime() + pause_s * 1000)
}

const DAY_MS = 24 * 3600 * 1000
/** A webhook that only fails is deactivated after five days. Its company is warned a day before. */
export const WARN_AFTER_MS = 4 * DAY_MS
export const DEACTIVATE_AFTER_MS = 5 * DAY_MS

/** A failure says for so long that a webhook still fails. */
export const FAILURE_COUNTS_MS = DAY_MS

/** A webhook that has accepted no delivery since it began to fail. */
export type Failing = { failingSince: Date; failedAt: Date; warnedAt: Date | null }

/**
 * What to do about a failing webhook. If its last failure is more than a day old, it had nothing to
 * receive since then and may work again, so wait. Its company always has a day after the warning.
 */
export function failureAction({ failingSince, failedAt, warnedAt }: Failing, now: Date) {
  const since = (at: Date) => now.getTime() - at.getTime()
  if (since(failingSince) < WARN_AFTER_MS || since(failedAt) > FAILURE_COUNTS_MS) return 'wait'
  if (warnedAt === null) return 'warn'
  return now < deactivateAt(failingSince, warnedAt) ? 'wait' : 'deactivate'
}

export function deactivateAt(failingSince: Date, warnedAt: Date): Date {
  const notice_ms = DEACTIVATE_AFTER_MS - WARN_AFTER_MS
  const end_ms = failingSince.getTime() + DEACTIVATE_AFTER_MS
  return new Date(Math.max(end_ms, warnedAt.getTime() + notice_ms))
}
