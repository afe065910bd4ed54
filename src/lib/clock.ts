/** Every "now" of the product comes from a clock that is handed in, so that tests can move it. */
export type Clock = { now(): Date }

export const systemClock: Clock = { now: () => new Date() }

let last = { ms: 0, text: new Date(0).toISOString() }

/** A moment as text. Many are written within the same millisecond, and writing it takes longest. */
export function isoOf(at: Date): string {
  const ms = at.getTime()
  if (ms !== last.ms) last = { ms, text: at.toISOString() }
  return last.text
}
