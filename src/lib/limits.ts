import { createFairQueue, type FairQueue, type QueueLimits, type Soon } from './fair-queue.ts'
import { createBuckets } from './token-bucket.ts'

/** Token buckets by name, as in `token-bucket.ts`. */
export type RateLimit = {
  /** Takes a token: 0 when there was one, otherwise the seconds to wait for it. */
  take(name: string): Soon<number>
  /** Gives back a token that was taken. */
  giveBack(name: string): void
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
  queue(limit: string, limits: Pick<QueueLimits, 'size' | 'perOwner'>): FairQueue
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
  queue: (_limit, limits) => createFairQueue(limits),
  familiarKeys: null,
}

/** Tries something that may fail. Null if it has failed. */
type Attempt = <T>(
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
