import { setTimeout as pause } from 'node:timers/promises'

const LOOK_AGAIN_MS = 5
/** Far more than it takes: only what never comes is given up. */
const PATIENCE_S = 300

/** Looks until there is something to see, and gives it. */
export async function until<T>(
  what: string,
  look: () => T | null | false | Promise<T | null | false>,
  most_s = PATIENCE_S,
): Promise<T> {
  const deadline = performance.now() + most_s * 1000
  for (;;) {
    const seen = await look()
    if (seen !== null && seen !== false) return seen
    if (performance.now() > deadline) throw new Error(`${what}: not within ${most_s} seconds`)
    await pause(LOOK_AGAIN_MS)
  }
}
