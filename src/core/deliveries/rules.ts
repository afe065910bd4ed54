import type { Uuid } from '../../lib/ids.ts'
import type { AnyEventType } from '../events.ts'

export const DELIVERY_STATES = ['PENDING', 'DELIVERED', 'FAILED'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** The response of a receiver to one attempt. */
export type Attempt = {
  at: string
  status: number | null
  error: string | null
  latencyMs: number
  /** The beginning of the response body. */
  response: string
}

/** An event that is sent to one webhook. The ids of both are its key. */
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

/** Seconds from each failure to the next try. After the last of them there is no other try. */
export const RETRY_S = [60, 300, 900, 3600, 21_600]

/** The state of a delivery after an attempt. */
export type NextState = { outcome: 'DELIVERED' | 'FAILED' } | { outcome: 'RETRY'; at: Date }

/** Decides after an attempt. `tries` counts the attempts before it. */
export function nextStateAfter(
  result: 'delivered' | 'gone' | 'failed',
  tries: number,
  now: Date,
): NextState {
  if (result === 'delivered') return { outcome: 'DELIVERED' }
  const wait_s = RETRY_S[tries]
  if (result === 'gone' || wait_s === undefined) return { outcome: 'FAILED' }
  return { outcome: 'RETRY', at: new Date(now.getTime() + wait_s * 1000) }
}
