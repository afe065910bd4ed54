import type { Uuid } from '../../lib/ids.ts'
import type { AnyEventType } from '../events.ts'

export const DELIVERY_STATES = ['PENDING', 'DELIVERED', 'FAILED'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** What a receiver did with one attempt. */
export type Attempt = {
  at: string
  status: number | null
  error: string | null
  latencyMs: number
  /** The beginning of its answer. */
  response: string
}

/** An event on its way to one webhook. Together the two are its name. */
export type Delivery = {
  companyId: Uuid
  webhookId: Uuid
  eventId: Uuid
  type: AnyEventType
  status: DeliveryState
  attempts: Attempt[]
  nextAttemptAt: Date | null
  createdAt: Date
  finishedAt: Date | null
}

/** How long after each failure the next try comes; after the last of them there is none. */
export const RETRY_S = [60, 300, 900, 3600, 21_600]

/** What an attempt makes of a delivery. */
export type Verdict = { outcome: 'DELIVERED' | 'FAILED' } | { outcome: 'RETRY'; at: Date }

/** Decides after an attempt; `tries` counts those before it. */
export function judge(result: 'delivered' | 'gone' | 'failed', tries: number, now: Date): Verdict {
  if (result === 'delivered') return { outcome: 'DELIVERED' }
  const wait_s = RETRY_S[tries]
  if (result === 'gone' || wait_s === undefined) return { outcome: 'FAILED' }
  return { outcome: 'RETRY', at: new Date(now.getTime() + wait_s * 1000) }
}

/** From so many failures in a row on, a receiver is left alone for a while after each. */
export const PATIENCE = 10
const SHORTEST_PAUSE_S = 15
const LONGEST_PAUSE_S = 300

/**
 * Until when a receiver is left alone that has failed so often in a row. What waits for it
 * meanwhile loses none of its tries.
 */
export function pauseUntil(failures: number, now: Date): Date | null {
  if (failures < PATIENCE) return null
  const pause_s = Math.min(SHORTEST_PAUSE_S * 2 ** (failures - PATIENCE), LONGEST_PAUSE_S)
  return new Date(now.getTime() + pause_s * 1000)
}

const DAY_MS = 24 * 3600 * 1000
/** A webhook that only fails is given up after five days; its company is warned a day before. */
export const WARN_AFTER_MS = 4 * DAY_MS
export const GIVE_UP_AFTER_MS = 5 * DAY_MS

/** A webhook that has not taken a delivery since it began to fail. */
export type Failing = { failingSince: Date; failedAt: Date; warnedAt: Date | null }

/**
 * What is to be done about it. Long ago it may have failed once and had nothing to take since then:
 * only one that still fails is given up, and never before its company had a day to mend it.
 */
export function failureAction({ failingSince, failedAt, warnedAt }: Failing, now: Date) {
  const since = (at: Date) => now.getTime() - at.getTime()
  if (since(failingSince) < WARN_AFTER_MS || since(failedAt) > DAY_MS) return 'wait'
  if (warnedAt === null) return 'warn'
  return now < giveUpAt(failingSince, warnedAt) ? 'wait' : 'give up'
}

/**
 * When something is to be done about it, if it does not fail once more before; null when nothing
 * is, for by then its last failure lies too far back.
 */
export function nextFailureActionAt(
  { failingSince, failedAt, warnedAt }: Failing,
  now: Date,
): Date | null {
  const warnAt = new Date(failingSince.getTime() + WARN_AFTER_MS)
  const at = warnedAt === null ? warnAt : giveUpAt(failingSince, warnedAt)
  const first_ms = Math.max(at.getTime(), now.getTime())
  return first_ms - failedAt.getTime() > DAY_MS ? null : at
}

export function giveUpAt(failingSince: Date, warnedAt: Date): Date {
  const notice_ms = GIVE_UP_AFTER_MS - WARN_AFTER_MS
  const end_ms = failingSince.getTime() + GIVE_UP_AFTER_MS
  return new Date(Math.max(end_ms, warnedAt.getTime() + notice_ms))
}
