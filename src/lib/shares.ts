/**
 * Divides a fixed number of places among companies. A company takes another place only while it has
 * fewer than are free, and beside others only while it has fewer than a quarter of those. So one
 * company alone gets half of the places, and a newcomer finds a free one and little that runs
 * before it. Those that wait are served one company after another.
 */
export type Shares = {
  /**
   * Resolves when the place is taken, or gives undefined if that was possible at once. Who has no
   * name, because it works for all companies, may take every free place.
   */
  take(name: Name, most_ms: number, late: () => Error): Promise<void> | undefined
  /** Gives a place back. */
  give(name: Name): void
  /** Does something in a place, and gives it back. */
  during<R>(name: Name, most_ms: number, late: () => Error, act: () => Promise<R>): Promise<R>
  /** How many wait. */
  waiting(): number
}

type Name = string | null

/** Beside others, a company has fewer than this part of the places that are free. */
const BESIDE_OTHERS = 1 / 4
/** How long it is remembered that a company has taken a place. */
const REMEMBERED_MS = 1_000
/** The longest rest of a place. */
const MAX_REST_MS = 300

/**
 * Of `size` places, one company gets `max` at once, however many are free. If `rest` is given and
 * somebody waits, a place rests after use for so many times as long as it was used, so that work
 * for which there is always more leaves the processor to others.
 */
export function createShares(size: number, max = size, rest = 0): Shares {
  let free = size
  const held = new Map<Name, number>()
  const queues = createQueues()
  const { note, isOtherThere } = noteNames()

  const heldBy = (name: Name): number => held.get(name) ?? 0
  function mayTake(name: Name): boolean {
    if (name === null) return free > 0
    const part = isOtherThere(name) ? BESIDE_OTHERS : 1
    return heldBy(name) < Math.min(free * part, max)
  }

  function hold(name: Name): void {
    free -= 1
    note(name)
    held.set(name, heldBy(name) + 1)
  }

  const take: Shares['take'] = (name, most_ms, late) => {
    if (queues.has(name) || !mayTake(name)) return queues.join(name, most_ms, late)
    hold(name)
    return undefined
  }

  function give(name: Name): void {
    free += 1
    const left = heldBy(name) - 1
    if (left === 0) held.delete(name)
    else held.set(name, left)
    while (free > 0 && queues.serve(mayTake, hold));
  }

  return {
    take,
    give,
    async during(name, most_ms, late, act) {
      await take(name, most_ms, late)
      const start_ms = performance.now()
      try {
        return await act()
      } finally {
        const rest_ms = Math.min(rest * (performance.now() - start_ms), MAX_REST_MS)
        if (rest_ms > 0 && queues.size() > 0) setTimeout(give, rest_ms, name)
        else give(name)
      }
    },
    waiting: queues.size,
  }
}

/** Notes who has taken a place last, and when somebody else has. */
function noteNames() {
  let latest: Name = null
  let [latest_ms, other_ms] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
  return {
    note(name: Name): void {
      if (name === null) return
      if (name !== latest) other_ms = latest_ms
      latest = name
      latest_ms = performance.now()
    },
    isOtherThere(name: Name): boolean {
      const last_ms = name === latest ? other_ms : latest_ms
      return performance.now() - last_ms < REMEMBERED_MS
    },
  }
}

type Waiting = { begin(): void }

/** Those who wait, by company, in the order in which companies are served next. */
function createQueues() {
  const queues = new Map<Name, Set<Waiting>>()

  function leave(name: Name, waiting: Waiting): void {
    const queue = queues.get(name)
    queue?.delete(waiting)
    if (queue?.size === 0) queues.delete(name)
  }

  return {
    has: (name: Name) => queues.has(name),
    size: () => [...queues.values()].reduce((sum, { size }) => sum + size, 0),
    join: (name: Name, most_ms: number, late: () => Error) =>
      new Promise<void>((resolve, reject) => {
        const waiting = {
          begin() {
            clearTimeout(timer)
            resolve()
          },
        }
        const timer = setTimeout(() => {
          leave(name, waiting)
          reject(late())
        }, most_ms)
        queues.set(name, (queues.get(name) ?? new Set()).add(waiting))
      }),
    /** Lets the first of the next company begin that may, and puts this company last. */
    serve(may: (name: Name) => boolean, begin: (name: Name) => void): boolean {
      for (const [name, queue] of queues) {
        if (!may(name)) continue
        const [first] = queue
        leave(name, first!)
        if (queues.delete(name)) queues.set(name, queue)
        begin(name)
        first!.begin()
        return true
      }
      return false
    },
  }
}
