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

export type Wait = {
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

export function createFairQueue(limits: QueueLimits): FairQueue {
  const { size = NO_LIMIT, perOwner = NO_LIMIT, waiting = NO_LIMIT, inAll = NO_LIMIT } = limits
  let free = size
  let waits = 0
  const held = new Map<Owner, number>()
  /** Those who wait, in the order in which owners are served next. */
  const queues = new Map<Owner, Set<() => void>>()

  const heldBy = (owner: Owner): number => held.get(owner) ?? 0
  const mayTake = (owner: Owner): boolean =>
    owner === null ? free > 0 : heldBy(owner) < Math.min(free, perOwner)

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
      while (waits > 0 && serveNext());
    }
  }

  function leave(owner: Owner, begin: () => void): void {
    const queue = queues.get(owner)!
    queue.delete(begin)
    if (queue.size === 0) queues.delete(owner)
    waits -= 1
  }

  /** Lets the first of the next owner begin that may take a slot, and puts this owner last. */
  function serveNext(): boolean {
    for (const [owner, queue] of queues) {
      if (!mayTake(owner)) continue
      const [begin] = queue
      leave(owner, begin!)
      if (queues.delete(owner)) queues.set(owner, queue)
      begin!()
      return true
    }
    return false
  }

  function requireRoom(owner: Owner): void {
    if (waits + size - free >= inAll) throw new QueueFull('all')
    if ((queues.get(owner)?.size ?? 0) >= waiting) throw new QueueFull('owner')
  }

  function wait(owner: Owner, { most_ms, evenIfFull }: Wait): Promise<Release> {
    if (!evenIfFull) requireRoom(owner)
    const queue = queues.get(owner) ?? new Set()
    queues.set(owner, queue)
    waits += 1
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer)
        resolve(hold(owner))
      }
      const give = () => {
        leave(owner, begin)
        reject(new QueueLate())
      }
      const timer = most_ms === undefined ? undefined : setTimeout(give, most_ms)
      queue.add(begin)
    })
  }

  return {
    tryTake: (owner) => (queues.has(owner) || !mayTake(owner) ? null : hold(owner)),
    take: (owner, how = {}) =>
      queues.has(owner) || !mayTake(owner) || waits + size - free >= inAll
        ? wait(owner, how)
        : hold(owner),
    waiting: () => waits,
  }
}

/** Does something in a slot. `late` makes the error of who has waited for too long. */
export async function inSlot<R>(
  queue: FairQueue,
  owner: Owner,
  { most_ms, late }: { most_ms: number; late(): Error },
  act: () => Promise<R>,
): Promise<R> {
  const release = await takeWithin(queue, owner, most_ms, late)
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
): Promise<Release> {
  try {
    return await queue.take(owner, { most_ms })
  } catch (error) {
    throw error instanceof QueueLate || error instanceof QueueFull ? late() : error
  }
}
