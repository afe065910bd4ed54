/**
 * Remembers the latest results of a pure function by name, a bounded number of them. Two halves
 * take turns: when the young one is full, the old one is dropped, which costs nothing per entry.
 */
export type Memo<T> = { of(name: string, make: () => T): T }

export function createMemo<T>(most: number): Memo<T> {
  let young = new Map<string, T>()
  let old = new Map<string, T>()
  return {
    of(name, make) {
      let value = young.get(name)
      if (value !== undefined) return value
      value = old.get(name) ?? make()
      if (young.size >= most / 2) {
        old = young
        young = new Map()
      }
      young.set(name, value)
      return value
    },
  }
}
