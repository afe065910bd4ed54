import { setTimeout as pause } from 'node:timers/promises'

const LOOK_AGAIN_MS = 20
/** Far more than it takes: only what never comes is given up. */
export const PATIENCE_S = 300

/** Looks until there is something to see; null when there was nothing in time. */
export async function lookFor<T>(look: () => Promise<T | null>, most_s: number): Promise<T | null> {
  const deadline = performance.now() + most_s * 1000
  for (;;) {
    const seen = await look()
    if (seen !== null) return seen
    if (performance.now() > deadline) return null
    await pause(LOOK_AGAIN_MS)
  }
}

export async function until<T>(what: string, look: () => Promise<T | null>): Promise<T> {
  const seen = await lookFor(look, PATIENCE_S)
  if (seen === null) throw new Error(`${what}: not within ${PATIENCE_S} seconds`)
  return seen
}
