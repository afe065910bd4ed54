import { type FairQueue, type Owner, QueueLate, type QueueLimits } from '../lib/fair-queue.ts'
import type { KnownNames, Limits, RateLimit } from '../lib/limits.ts'
import { createRecent } from '../lib/memo.ts'
import type { Channel } from './channel.ts'

/** As many names as the parent remembers for a limit. */
const MAX_REFUSED = 20_000

/** The longest time of a timer, and more than any queue has slots. */
const MOST = 2 ** 31 - 1

/** As many keys as a process remembers itself. */
const MAX_FAMILIAR = 10_000

/** Keys that have worked in any process, as far as the parent has said. */
export function createFamiliarKeys() {
  const names = new Set<string>()
  return {
    has: (name: string) => names.has(name),
    forget: (name: string) => {
      names.delete(name)
    },
    know(more: string[]): void {
      if (names.size + more.length > MAX_FAMILIAR) names.clear()
      for (const name of more) names.add(name)
    },
  }
}

/**
 * Has everything counted in the parent, so that it holds for all processes together. What was
 * refused is refused here until its time comes, so that a flood does not reach the parent.
 */
export function createRemoteLimits(
  { post, ask }: Channel,
  familiar: Omit<KnownNames, 'note'>,
): Limits {
  function rate(limit: string, perSecond: number, burst: number): RateLimit {
    post('rate', limit, '', perSecond, burst)
    const refusedUntil_ms = createRecent<number>(MAX_REFUSED)
    const left_s = (name: string): number =>
      Math.max(0, ((refusedUntil_ms.get(name) ?? 0) - performance.now()) / 1000)
    async function take(name: string): Promise<number> {
      const wait_s = (await ask('take', limit, name)) as number
      if (wait_s > 0) refusedUntil_ms.set(name, performance.now() + wait_s * 1000)
      return wait_s
    }
    return {
      take: (name) => left_s(name) || take(name),
      giveBack(name) {
        refusedUntil_ms.set(name, 0)
        post('giveBack', limit, name)
      },
    }
  }

  function queue(limit: string, { size = MOST, perOwner = MOST }: QueueLimits): FairQueue {
    post('queue', limit, '', size, perOwner)
    let waiting = 0
    async function enter(verb: 'enter' | 'tryEnter', owner: Owner, most_ms: number) {
      waiting += 1
      const entering = ask(verb, limit, owner ?? '', most_ms)
      const hasEntered = await entering.finally(() => {
        waiting -= 1
      })
      return hasEntered ? () => post('leave', limit, '', entering.id) : null
    }
    return {
      tryTake: (owner) => enter('tryEnter', owner, 0),
      async take(owner, { most_ms = MOST } = {}) {
        const release = await enter('enter', owner, most_ms)
        if (!release) throw new QueueLate()
        return release
      },
      waiting: () => waiting,
    }
  }

  return {
    rate,
    queue,
    familiarKeys: {
      ...familiar,
      note: (name) => post('note', '', name),
    },
  }
}
