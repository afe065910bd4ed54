import { invalid, problem } from '../../lib/problems.ts'
import type { Company } from '../companies/rules.ts'

/** A company's clock: how far it is ahead of the real one, and its target while it advances. */
export type TestClock = { ahead_ms: number; target: Date | null }

/** How to move a clock: by seconds, or to a moment. */
export type Move = { advance?: number; now?: string }

const YEAR_S = 365.25 * 24 * 3600
/** The longest move. */
export const MAX_ADVANCE_S = 5 * YEAR_S
/** The longest that a clock may be ahead of the real one. The database has the same limit. */
const MAX_AHEAD_MS = 100 * YEAR_S * 1000

export function requireSandbox({ mode }: Company): void {
  if (mode !== 'sandbox') throw problem('clock_not_found')
}

/** A schema cannot say that exactly one of the two is needed. */
export function moveFaults({ advance, now }: Record<string, unknown>): (string | null)[] {
  const both = advance !== undefined && now !== undefined
  const none = advance === undefined && now === undefined
  return [
    both ? 'now: send it or advance, not both' : null,
    none ? 'advance: send it, or the now to move to' : null,
  ]
}

/** The target of a move, which is later than the present time of the company. */
export function targetOf(move: Move, now: Date, ahead_ms: number): Date {
  const field = move.advance === undefined ? 'now' : 'advance'
  const target =
    move.advance === undefined ? new Date(move.now!) : new Date(now.getTime() + move.advance * 1000)
  const by_ms = target.getTime() - now.getTime()
  if (by_ms <= 0) {
    throw invalid(`${field}: must be later than ${now.toISOString()}, for time goes forward only`)
  }
  if (by_ms > MAX_ADVANCE_S * 1000) {
    throw invalid(`${field}: must not be more than 5 years after ${now.toISOString()}`)
  }
  if (ahead_ms + by_ms > MAX_AHEAD_MS) {
    throw invalid(`${field}: must not lead more than 100 years ahead of the real time`)
  }
  return target
}
