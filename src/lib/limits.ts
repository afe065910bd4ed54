import { createBuckets } from './bucket.ts'
import { createShares } from './shares.ts'
import { createTally } from './tally.ts'

/** Known at once if this process counts, and a little later if another does. */
export type Soon<T> = T | Promise<T>

/** Token buckets by name, as in `bucket.ts`. */
export type RateLimit = {
  /** Takes a token: 0 when there was one, otherwise the seconds to wait for it. */
  take(name: string): Soon<number>
  /** Gives back a token that was taken. */
  giveBack(name: string): void
}

/** Counts by name how many there are at once, as in `tally.ts`. */
export type CountLimit = {
  /** False if there are as many as may be. */
  add(name: string): Soon<boolean>
  remove(name: string): void
}

/** Places that are divided among companies, as in `shares.ts`. */
export type Slots = {
  during<R>(name: string, most_ms: number, late: () => Error, act: () => Promise<R>): Promise<R>
  /** How many of this process wait. */
  waiting(): number
}

/** Names that a process of this machine knows. */
export type KnownNames = {
  note(name: string): void
  forget(name: string): void
  has(name: string): boolean
}

/**
 * What is counted for the whole machine. If it runs several processes, one of them counts for all.
 * A limit has the same name and the same numbers in each of them.
 */
export type Limits = {
  rate(limit: string, perSecond: number, burst: number): RateLimit
  count(limit: string, max: number): CountLimit
  shares(limit: string, size: number, max: number, rest: number): Slots
  /** API keys that have worked in any process, by their hash. Null: there is no other process. */
  familiarKeys: KnownNames | null
}

/** Counts in this process, which is the only one. */
export const ownLimits: Limits = {
  rate(_limit, perSecond, burst) {
    const buckets = createBuckets(perSecond, burst)
    return {
      take: (name) => buckets.take(name, performance.now()),
      giveBack: (name) => buckets.giveBack(name, performance.now()),
    }
  },
  count: (_limit, max) => createTally(max),
  shares: (_limit, size, max, rest) => createShares(size, max, rest),
  familiarKeys: null,
}

/** Tries something that may fail. Null if it has failed. */
export type Attempt = <T>(
  name: string,
  /** Throws. It is called with the seconds to wait if too much has failed under this name. */
  refuse: (wait_s: number) => void,
  act: () => Promise<T | null>,
) => Promise<T | null>

/**
 * Limits what fails. An attempt takes a token before it begins, so that as many as are sent
 * together are counted, and gives it back if it succeeds. If all tokens are taken by attempts that
 * have not ended, others wait for them, so that whoever succeeds is not refused.
 */
export function limitFailures(limit: RateLimit): Attempt {
  const running = new Map<string, Set<Promise<unknown>>>()
  return async (name, refuse, act) => {
    for (let wait_s = await limit.take(name); wait_s > 0; wait_s = await limit.take(name)) {
      const others = running.get(name)
      if (!others) refuse(wait_s)
      else await Promise.allSettled(others)
    }
    const own = act()
    const all = running.get(name) ?? new Set()
    running.set(name, all.add(own))
    try {
      const result = await own
      if (result !== null) limit.giveBack(name)
      return result
    } catch (error) {
      limit.giveBack(name)
      throw error
    } finally {
      all.delete(own)
      if (all.size === 0) running.delete(name)
    }
  }
}
