import { isOver } from './slices.ts'

export type Arrivals = {
  /** Calls `begin` now, or after requests that have waited longer. */
  add(sender: string, begin: () => void): void
}

/**
 * Begins requests that arrive together in slices. Those that do not fit into the first slice wait.
 * Then the senders alternate, so that a sender of hundreds of requests delays only its own. As many
 * can wait as there are connections.
 */
export function createArrivals(isSliceOver: () => boolean = isOver): Arrivals {
  const queues = new Map<string, (() => void)[]>()

  /** Begins the oldest request of the next sender. That sender is then the last one. */
  function beginNext(): void {
    for (const [sender, queue] of queues) {
      queues.delete(sender)
      const begin = queue.shift()!
      if (queue.length > 0) queues.set(sender, queue)
      begin()
      return
    }
  }

  function beginSlice(): void {
    while (queues.size > 0 && !isSliceOver()) beginNext()
    if (queues.size > 0) setImmediate(beginSlice)
  }

  return {
    add(sender, begin) {
      if (queues.size === 0) {
        if (!isSliceOver()) {
          begin()
          return
        }
        setImmediate(beginSlice)
      }
      const queue = queues.get(sender)
      if (queue) queue.push(begin)
      else queues.set(sender, [begin])
    },
  }
}
