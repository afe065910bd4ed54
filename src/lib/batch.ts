import { assert } from './assert.ts'
import { type Cause, causesNow, doneFor } from './tracing.ts'

export type Batcher<T, R> = {
  (item: T): Promise<R>
  /** Resolves when nothing gathered or under way is left. */
  idle(): Promise<void>
}

type Waiting<T, R> = {
  item: T
  causes: readonly Cause[]
  resolve: (result: R) => void
  reject: (error: unknown) => void
}

type Options<T> = {
  max: number
  /** Whose an item is. If not all fit into a group, it takes the first of every owner first. */
  ownerOf?: (item: T) => string
  /** How many groups run at the same time. */
  concurrency?: number
  isItemError?: (error: unknown) => boolean
  /** Where nobody waits for the answer: how long a group that is not full gathers. */
  gather_ms?: number
}

/**
 * For lookups by ids that anybody may guess, so that many cost one query. A lookup fails because of
 * the database and not because of an id, so a group that fails is not split and tried again.
 */
export const LOOKUPS = { max: 100, concurrency: 2, isItemError: () => false }

/**
 * Groups calls that arrive together into one. While a flush runs, arriving items gather,
 * and the next flush takes them all. Without `gather_ms` there are no timers: an idle server
 * flushes at once, a busy one batches by itself. `run` answers in the order of its items.
 *
 * When `run` fails as a whole, the group is split and each half tried again, down to the one item
 * that is really at fault, so a bad item never fails its neighbours. `isItemError` separates
 * such a failure from one that has nothing to do with the items and meets them all.
 */
export function createBatcher<T, R>(
  run: (items: T[]) => Promise<R[]>,
  options: Options<T>,
): Batcher<T, R> {
  let gathered: Waiting<T, R>[] = []
  let running = 0
  let scheduled = false
  const onIdle: (() => void)[] = []
  const { max, concurrency = 1, isItemError = () => true, gather_ms, ownerOf } = options
  let gathering: NodeJS.Timeout | undefined

  async function runGroup(group: Waiting<T, R>[]): Promise<void> {
    try {
      const results = await doneFor(causesOf(group), () => run(group.map(({ item }) => item)))
      assert(results.length === group.length, 'a batch answers every item')
      group.forEach((waiting, i) => {
        waiting.resolve(results[i]!)
      })
    } catch (error) {
      if (group.length === 1 || !isItemError(error)) {
        for (const waiting of group) waiting.reject(error)
        return
      }
      const half = group.length >> 1
      await runGroup(group.slice(0, half))
      await runGroup(group.slice(half))
    }
  }

  function flush(): void {
    scheduled = false
    clearTimeout(gathering)
    gathering = undefined
    while (running < concurrency && gathered.length > 0) {
      if (ownerOf && gathered.length > max) {
        gathered = interleaveByOwner(gathered, ({ item }) => ownerOf(item))
      }
      const group = gathered.splice(0, max)
      running += 1
      runGroup(group).finally(() => {
        running -= 1
        if (gathered.length > 0) schedule()
        else if (running === 0) for (const resolve of onIdle.splice(0)) resolve()
      })
    }
  }

  // A tick of the event loop hands over the requests of several sockets: waiting for its end
  // gathers them.
  function schedule(): void {
    if (scheduled || running >= concurrency) return
    if (gather_ms !== undefined && gathered.length < max) {
      gathering ??= setTimeout(flush, gather_ms)
      return
    }
    scheduled = true
    setImmediate(flush)
  }

  const batch = (item: T) =>
    new Promise<R>((resolve, reject) => {
      gathered.push({ item, causes: causesNow(), resolve, reject })
      schedule()
    })
  const idle = () =>
    new Promise<void>((resolve) => {
      if (running === 0 && gathered.length === 0) resolve()
      else onIdle.push(resolve)
    })
  return Object.assign(batch, { idle })
}

/** Who waits for a group: the requests that its items are of. */
function causesOf(group: { causes: readonly Cause[] }[]): readonly Cause[] {
  const [first] = group as [{ causes: readonly Cause[] }]
  if (group.every(({ causes }) => causes === first.causes)) return first.causes
  return [...new Set(group.flatMap(({ causes }) => causes))]
}

/** The first of each owner, then the second of each, and so on. */
export function interleaveByOwner<T>(all: T[], ownerOf: (one: T) => string): T[] {
  const counts = new Map<string, number>()
  const rounds: T[][] = []
  for (const one of all) {
    const owner = ownerOf(one)
    const round = counts.get(owner) ?? 0
    counts.set(owner, round + 1)
    rounds[round] ??= []
    rounds[round].push(one)
  }
  return rounds.flat()
}
