import { createBuckets } from './bucket.ts'
import { createShares } from './shares.ts'
import { createTally } from './tally.ts'

/** Known at once if this process counts, and a little later if another does. */
export type Soon<T> = T | Promise<T>

/** Token buckets by name, as in `bucket.ts`. */
export type RateLimit = {
  /** Takes a token: 0 when there was one, otherwise the seconds to wait for it. */
  take(name: string): Soon<number>
  /** The seconds to wait for a token, without taking one. */
  wait(name: string): Soon<number>
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
      wait: (name) => buckets.wait(name, performance.now()),
    }
  },
  count: (_limit, max) => createTally(max),
  shares: (_limit, size, max, rest) => createShares(size, max, rest),
  familiarKeys: null,
}
