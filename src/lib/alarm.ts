/**
 * Wakes tasks of this process when work for them has just been committed. Nothing depends on it:
 * due work is found from the database anyway, only later.
 */
export type Alarm = {
  ring(name: string): void
  /** Resolves when the name is rung, when the time is over, or when the signal aborts. */
  wait(name: string, most_ms: number, signal: AbortSignal): Promise<void>
}

export function createAlarm(): Alarm {
  const rung = new Set<string>()
  const waiting = new Map<string, () => void>()
  return {
    ring(name) {
      // Kept for a task that is just at work: it may have looked before the work was there.
      rung.add(name)
      waiting.get(name)?.()
    },
    wait(name, most_ms, signal) {
      if (rung.delete(name) || signal.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer)
          signal.removeEventListener('abort', end)
          waiting.delete(name)
          rung.delete(name)
          resolve()
        }
        const timer = setTimeout(end, most_ms)
        signal.addEventListener('abort', end)
        waiting.set(name, end)
      })
    },
  }
}
