import { localDateOf, startOfDay } from '../../pix/local-time.ts'
import type { Attempt, Delivery } from './rules.ts'

/** So many of the newest deliveries tell how a webhook is, so that a busy one costs no more. */
export const HEALTH_DELIVERIES = 1000

/** The attempts that began in one hour or on one day. */
export type HealthPart = {
  from: Date
  attempts: number
  accepted: number
  /** Half of the attempts were answered within this time. */
  median_ms: number
}

export type Health = {
  /** How long a part is. */
  each: 'hour' | 'day'
  parts: HealthPart[]
  attempts: number
  accepted: number
  median_ms: number
}

const HOUR_MS = 3_600_000
/** A longer time is shown by the day. */
const MAX_HOURS = 48

const isAccepted = ({ status, error }: Attempt): boolean =>
  error === null && status !== null && status >= 200 && status < 300

function medianOf(attempts: Attempt[]): number {
  const sorted = attempts.map(({ latencyMs }) => latencyMs).sort((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)]!
}

const sumUp = (attempts: Attempt[]) => ({
  attempts: attempts.length,
  accepted: attempts.filter(isAccepted).length,
  median_ms: medianOf(attempts),
})

/** How often and how fast a receiver has accepted what was sent to it. Null: nothing was sent. */
export function healthOf(deliveries: Pick<Delivery, 'attempts'>[]): Health | null {
  const attempts = deliveries.flatMap((delivery) => delivery.attempts)
  if (attempts.length === 0) return null
  const times = attempts.map(({ at }) => Date.parse(at))
  const span_ms = Math.max(...times) - Math.min(...times)
  const each = span_ms < MAX_HOURS * HOUR_MS ? 'hour' : 'day'
  const beginOf = (at: number): number =>
    each === 'hour'
      ? Math.floor(at / HOUR_MS) * HOUR_MS
      : startOfDay(localDateOf(new Date(at))).getTime()
  const groups = Map.groupBy(attempts, ({ at }) => beginOf(Date.parse(at)))
  const parts = [...groups]
    .sort(([a], [b]) => a - b)
    .map(([from, own]) => ({ from: new Date(from), ...sumUp(own) }))
  return { each, parts, ...sumUp(attempts) }
}
