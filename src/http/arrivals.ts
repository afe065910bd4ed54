import { createAlternating } from '../lib/alternating.ts'
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
  const waiting = createAlternating<() => void>()

  function beginSlice(): void {
    while (!waiting.isEmpty() && !isSliceOver()) waiting.next()!()
    if (!waiting.isEmpty()) setImmediate(beginSlice)
  }

  return {
    add(sender, begin) {
      if (waiting.isEmpty()) {
        if (!isSliceOver()) {
          begin()
          return
        }
        setImmediate(beginSlice)
      }
      waiting.add(sender, begin)
    },
  }
}
