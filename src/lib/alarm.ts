/**
 * Wakes tasks of this process when work for them has just been committed. Nothing depends on it:
 * due work is found from the database anyway, only later.
 */
export type Alarm = {
  wake(name: string): void
  /** Something was committed: whoever waits for longer than usual looks at once. */
  wrote(): void
  /** How often something was committed. */
  writes(): number
  /** Resolves when the name is woken, when the time is over, or when the signal aborts. */
  wait(name: string, most_ms: number, signal: AbortSignal): Promise<void>
  /** The same, and also when something is committed. */
  waitForWrites(name: string, most_ms: number, signal: AbortSignal): Promise<void>
}

export function createAlarm(): Alarm {
  const woken = new Set<string>()
  const waiting = new Map<string, () => void>()
  const waitingForWrites = new Set<() => void>()
  let writes = 0

  function wait(name: string, most_ms: number, signal: AbortSignal, forWrites: boolean) {
    if (woken.delete(name) || signal.aborted) return Promise.resolve()
    return new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', end)
        waiting.delete(name)
        waitingForWrites.delete(end)
        woken.delete(name)
        resolve()
      }
      const timer = setTimeout(end, most_ms)
      signal.addEventListener('abort', end)
      waiting.set(name, end)
      if (forWrites) waitingForWrites.add(end)
    })
  }

  return {
    wake(name) {
      // Kept for a task that is just at work: it may have looked before the work was there.
      woken.add(name)
      waiting.get(name)?.()
    },
    wrote() {
      writes += 1
      for (const end of [...waitingForWrites]) end()
    },
    writes: () => writes,
    wait: (name, most_ms, signal) => wait(name, most_ms, signal, false),
    waitForWrites: (name, most_ms, signal) => wait(name, most_ms, signal, true),
  }
}

/** The alarm of one of several places: the tasks of each are woken apart. */
export const alarmOfPlace = (alarm: Alarm, place: number): Alarm => {
  const inPlace = (name: string) => `${name} in place ${place}`
  return {
    ...alarm,
    wake: (name) => alarm.wake(inPlace(name)),
    wait: (name, most_ms, signal) => alarm.wait(inPlace(name), most_ms, signal),
    waitForWrites: (name, most_ms, signal) => alarm.waitForWrites(inPlace(name), most_ms, signal),
  }
}
