import { setTimeout as pause } from 'node:timers/promises'

/** Far more than it takes: only what never comes is given up. */
export const MAX_WAIT_S = 300
const [MIN_PAUSE_ms, MAX_PAUSE_ms] = [5, 100]
/** The longer it takes, the less often it is looked for, since looks take from what is tested. */
const PAUSE_SHARE = 0.1

type Look<T> = () => T | null | false | Promise<T | null | false>

/** Looks until there is something to see. Returns null if there was nothing in time. */
export async function lookFor<T>(look: Look<T>, max_s: number): Promise<T | null> {
  const began_ms = performance.now()
  for (;;) {
    const seen = await look()
    if (seen !== null && seen !== false) return seen
    const waited_ms = performance.now() - began_ms
    if (waited_ms > max_s * 1000) return null
    await pause(Math.min(Math.max(waited_ms * PAUSE_SHARE, MIN_PAUSE_ms), MAX_PAUSE_ms))
  }
}

export async function until<T>(what: string, look: Look<T>, max_s = MAX_WAIT_S): Promise<T> {
  const seen = await lookFor(look, max_s)
  if (seen === null) throw new Error(`${what}: not within ${max_s} seconds`)
  return seen
}
