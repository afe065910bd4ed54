import type { Clock } from './clock.ts'

/** Compares the clock of this machine with the one of the database. */
export type ClockWatch = {
  /** Whether both agree. What cannot be undone waits until they do. */
  agrees(): Promise<boolean>
  /** The time of this machine, or of the database if they do not agree. */
  now(): Promise<Date>
  /** How far this machine is ahead of the database, in seconds; asks the database. */
  ahead_s(): Promise<number>
  /** In a sentence, if they do not agree. */
  warning(): Promise<string | null>
}

/** More than a question takes and NTP leaves. */
export const MAX_APART_MS = 5_000
/** An answer holds for so long, unless the clock jumps meanwhile. */
const BELIEVED_MS = 10_000

type Parts = {
  clock: Clock
  /** The other clock. */
  ask(): Promise<Date>
  /** Milliseconds that never jump. */
  steady(): number
  /** Called when the clocks begin to differ, and when they agree again. */
  onChange(agrees: boolean, ahead_s: number): void
}

/**
 * The steady clock of the process shows whether the clock of the machine has jumped since the last
 * comparison, so that the database is not asked each time.
 */
export function watchClock({ clock, ask, steady, onChange }: Parts): ClockWatch {
  let last = { steady_ms: Number.NEGATIVE_INFINITY, offset_ms: 0, ahead_ms: 0, agrees: true }
  const offset = () => clock.now().getTime() - steady()

  async function compare(): Promise<number> {
    const [before_ms, sent_ms] = [clock.now().getTime(), steady()]
    const other = await ask()
    const taken_ms = steady() - sent_ms
    const ahead_ms = before_ms + taken_ms / 2 - other.getTime()
    // An answer that took long may come from the begin or the end of that time.
    const agrees = Math.abs(ahead_ms) - taken_ms / 2 <= MAX_APART_MS
    if (agrees !== last.agrees) onChange(agrees, ahead_ms / 1000)
    last = { steady_ms: sent_ms, offset_ms: before_ms - sent_ms, ahead_ms, agrees }
    return ahead_ms / 1000
  }

  // All tasks ask when a process starts. They share one question.
  let comparing: Promise<number> | undefined
  const compareOnce = () => {
    comparing ??= compare().finally(() => {
      comparing = undefined
    })
    return comparing
  }

  const hasJumped = () => Math.abs(offset() - last.offset_ms) > MAX_APART_MS / 2

  async function renew(isDoubted: boolean): Promise<void> {
    const joined = comparing
    const isRecent = steady() - last.steady_ms < BELIEVED_MS
    if (isDoubted || !isRecent || hasJumped()) await compareOnce()
    // The clock may have jumped since another one had begun to ask.
    if (joined && hasJumped()) await compareOnce()
  }

  async function agrees(): Promise<boolean> {
    await renew(!last.agrees)
    return last.agrees
  }

  /** Requests ask for it, so a difference is believed for as long as that there is none. */
  async function now(): Promise<Date> {
    await renew(false)
    return new Date(clock.now().getTime() - (last.agrees ? 0 : last.ahead_ms))
  }

  return {
    agrees,
    now,
    ahead_s: compare,
    async warning() {
      if (await agrees()) return null
      return 'The clocks of this machine and of the database differ: nothing expires until both are set by NTP.'
    },
  }
}
