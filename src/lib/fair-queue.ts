/** Known at once if this process counts, and a little later if another does. */
export type Soon<T> = T | Promise<T>

/** Gives a slot back. */
export type Release = () => void

/** Whose work it is, mostly a company. Null: it is done for all, and may take every free slot. */
export type Owner = string | null

export type QueueLimits = {
  /** How many slots there are. Without it, only those of each owner are limited. */
  size?: number
  /** How many of them one owner may have. */
  perOwner?: number
  /** How many of one owner may wait, and how many of all may wait or have a slot. */
  waiting?: number
  inAll?: number
}

type Wait = {
  most_ms?: number
  /** Whoever has had a slot before may wait even if too many do. */
  evenIfFull?: boolean
}

/**
 * A number of slots that owners share. An owner takes another slot only while it has fewer than are
 * free: so one owner alone gets half of them, and a new one finds a free slot. Those that wait are
 * served one owner after the other.
 */
export type FairQueue = {
  /** Takes a slot that is free to the owner now, or gives null. */
  tryTake(owner: Owner): Soon<Release | null>
  /**
   * Takes a slot, or waits for it. Throws or rejects with `QueueFull` if too many wait, and rejects
   * with `QueueLate` if the time is over.
   */
  take(owner: Owner, wait?: Wait): Soon<Release>
  /** How many of this process wait. */
  waiting(): number
}

export class QueueFull extends Error {
  /** Who has too many. */
  readonly of: 'owner' | 'all'
  constructor(of: 'owner' | 'all') {
    super('too many wait')
    this.of = of
  }
}

export class QueueLate extends Error {
  constructor() {
    super('waited for too long')
  }
}

const { POSITIVE_INFINITY: NO_LIMIT } = Number

/** Those who wait, in the order in which owners are served next. */
function createLines() {
  const lines = new Map<Owner, Set<() => void>>()
  let count = 0
  function leave(owner: Owner, begin: () => void): void {
    const line = lines.get(owner)!
    line.delete(begin)
    if (line.size === 0) lines.delete(owner)
    count -= 1
  }
  return {
    count: () => count,
    countOf: (owner: Owner) => lines.get(owner)?.size ?? 0,
    join(owner: Owner, begin: () => void): void {
      const line = lines.get(owner) ?? new Set()
      lines.set(owner, line.add(begin))
      count += 1
    },
    leave,
    /** Lets the first of the next owner begin that may, and puts this owner last. */
    serve(may: (owner: Owner) => boolean): boolean {
      for (const [owner, line] of lines) {
        if (!may(owner)) continue
        const [begin] = line
        leave(owner, begin!)
        if (lines.delete(owner)) lines.set(owner, line)
        begin!()
        return true
      }
      return false
    },
  }
}

export function createFairQueue(limits: QueueLimits): FairQueue {
  const { size = NO_LIMIT, perOwner = NO_LIMIT, waiting = NO_LIMIT, inAll = NO_LIMIT } = limits
  let free = size
  const held = new Map<Owner, number>()
  const lines = createLines()

  const heldBy = (owner: Owner): number => held.get(owner) ?? 0
  const mayTake = (owner: Owner): boolean =>
    owner === null ? free > 0 : heldBy(owner) < Math.min(free, perOwner)
  const isNext = (owner: Owner): boolean => lines.countOf(owner) === 0 && mayTake(owner)
  const isFull = (): boolean => lines.count() + size - free >= inAll

  function hold(owner: Owner): Release {
    free -= 1
    held.set(owner, heldBy(owner) + 1)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      free += 1
      const left = heldBy(owner) - 1
      if (left === 0) held.delete(owner)
      else held.set(owner, left)
      while (lines.count() > 0 && lines.serve(mayTake));
    }
  }

  function wait(owner: Owner, { most_ms, evenIfFull }: Wait): Promise<Release> {
    if (!evenIfFull && isFull()) throw new QueueFull('all')
    if (!evenIfFull && lines.countOf(owner) >= waiting) throw new QueueFull('owner')
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer)
        resolve(hold(owner))
      }
      const giveUp = () => {
        lines.leave(owner, begin)
        reject(new QueueLate())
      }
      const timer = most_ms === undefined ? undefined : setTimeout(giveUp, most_ms)
      lines.join(owner, begin)
    })
  }

  return {
    tryTake: (owner) => (isNext(owner) ? hold(owner) : null),
    take: (owner, how = {}) => (isNext(owner) && !isFull() ? hold(owner) : wait(owner, how)),
    waiting: lines.count,
  }
}

/** Does something in a slot. `late` makes the error of who has waited for too long. */
export async function inSlot<R>(
  queue: FairQueue,
  owner: Owner,
  { most_ms, late, waited }: { most_ms: number; late(): Error; waited?(seconds: number): void },
  act: () => Promise<R>,
): Promise<R> {
  const release = await takeWithin(queue, owner, most_ms, late, waited)
  try {
    return await act()
  } finally {
    release()
  }
}

/** Takes a slot, or throws what `late` makes. */
export async function takeWithin(
  queue: FairQueue,
  owner: Owner,
  most_ms: number,
  late: () => Error,
  waited?: (seconds: number) => void,
): Promise<Release> {
  let since_ms: number | undefined
  try {
    const taken = queue.take(owner, { most_ms })
    if (waited && taken instanceof Promise) since_ms = performance.now()
    return await taken
  } catch (error) {
    throw error instanceof QueueLate || error instanceof QueueFull ? late() : error
  } finally {
    if (since_ms !== undefined) waited!((performance.now() - since_ms) / 1000)
  }
}
