/**
 * Keeps what was used of late, a bounded number of it. There are two halves: when the young one is
 * full, the old one is dropped, which costs nothing per entry.
 */
export type Recent<T> = { get(name: string): T | undefined; set(name: string, value: T): void }

export function createRecent<T>(max: number): Recent<T> {
  let young = new Map<string, T>()
  let old = new Map<string, T>()
  function set(name: string, value: T): void {
    if (young.size >= max / 2) {
      old = young
      young = new Map()
    }
    young.set(name, value)
  }
  return {
    set,
    get(name) {
      const value = young.get(name)
      if (value !== undefined) return value
      const older = old.get(name)
      if (older !== undefined) set(name, older)
      return older
    },
  }
}

/** Remembers the latest results of a pure function by name. */
export type Memo<T> = { of(name: string, make: () => T): T }

export function createMemo<T>(max: number): Memo<T> {
  const recent = createRecent<T>(max)
  return {
    of(name, make) {
      let value = recent.get(name)
      if (value === undefined) {
        value = make()
        recent.set(name, value)
      }
      return value
    },
  }
}
