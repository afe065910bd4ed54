/** Counts by name how many of something there are at once, up to a limit. */
export type Tally = {
  /** False if there are as many as may be. */
  add(name: string): boolean
  remove(name: string): void
}

export function createTally(max: number): Tally {
  const counts = new Map<string, number>()
  return {
    add(name) {
      const count = counts.get(name) ?? 0
      if (count >= max) return false
      counts.set(name, count + 1)
      return true
    },
    remove(name) {
      const count = counts.get(name) ?? 0
      if (count > 1) counts.set(name, count - 1)
      else counts.delete(name)
    },
  }
}
