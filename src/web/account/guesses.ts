import type { Person } from '../../core/people/rules.ts'
import type { Limits } from '../../lib/limits.ts'

/** Codes that one person may try: five, and then one every five minutes. */
const PER_SECOND = 1 / 300
const BURST = 5

/** Limits how often somebody guesses a code, wherever they do so from. */
export type Guesses = {
  /** Counts a guess. 0 if it may be checked, otherwise the seconds to wait. */
  take(kind: 'totp' | 'recovery', person: Pick<Person, 'id'>): Promise<number>
}

export function limitGuesses({ rate }: Limits): Guesses {
  const limit = rate('guessed codes', PER_SECOND, BURST)
  return { take: async (kind, { id }) => limit.take(`${kind}:${id}`) }
}

export const minutesOf = (seconds: number): number => Math.ceil(seconds / 60)
