import type { KnownNames, Limits, RateLimit } from '../lib/limits.ts'
import { createRecent } from '../lib/memo.ts'
import type { Channel } from './channel.ts'

/** As many names as the parent remembers for a limit. */
const MAX_REFUSED = 20_000

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

  return {
    rate,
    count(limit, max) {
      post('count', limit, '', max)
      return {
        add: async (name) => (await ask('add', limit, name)) as boolean,
        remove: (name) => post('remove', limit, name),
      }
    },
    shares(limit, size, max, rest) {
      post('shares', limit, '', size, max, rest)
      let waiting = 0
      return {
        waiting: () => waiting,
        async during(name, most_ms, late, act) {
          waiting += 1
          const entering = ask('enter', limit, name, most_ms)
          const hasEntered = await entering.finally(() => {
            waiting -= 1
          })
          if (!hasEntered) throw late()
          try {
            return await act()
          } finally {
            post('leave', limit, name, entering.id)
          }
        },
      }
    },
    familiarKeys: {
      ...familiar,
      note: (name) => post('note', '', name),
    },
  }
}
