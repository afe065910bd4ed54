import { invalid, problem } from '../../lib/problems.ts'
import type { Company } from '../companies/rules.ts'

/** A company's clock: how far it is ahead of the real one, and where it is on its way to. */
export type TestClock = { ahead_ms: number; target: Date | null }

/** How far a clock is to be moved: by so many seconds, or to a moment. */
export type Move = { advance?: number; now?: string }

const YEAR_S = 365.25 * 24 * 3600
/** The farthest that a clock is moved at once. */
export const MAX_ADVANCE_S = 5 * YEAR_S
/** The farthest that it is ahead of the real one in all, as the database has it. */
const MAX_AHEAD_MS = 100 * YEAR_S * 1000

export function requireSandbox({ mode }: Company): void {
  if (mode !== 'sandbox') throw problem('clock_not_found')
}

/** What no schema can say: it is one of the two. */
export function moveFaults({ advance, now }: Record<string, unknown>): (string | null)[] {
  const both = advance !== undefined && now !== undefined
  const none = advance === undefined && now === undefined
  return [
    both ? 'now: send it or advance, not both' : null,
    none ? 'advance: send it, or the now to move to' : null,
  ]
}

/** The moment that a move leads to, later than the company's now. */
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
