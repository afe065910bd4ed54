/** A queue in which senders alternate, so that who has added much delays only its own. */
export type Alternating<T> = {
  isEmpty(): boolean
  add(sender: string, item: T): void
  /** Removes the oldest item of the next sender. That sender is then the last one. */
  next(): T | undefined
}

export function createAlternating<T>(): Alternating<T> {
  const queues = new Map<string, T[]>()
  return {
    isEmpty: () => queues.size === 0,
    add(sender, item) {
      const queue = queues.get(sender)
      if (queue) queue.push(item)
      else queues.set(sender, [item])
    },
    next() {
      for (const [sender, queue] of queues) {
        queues.delete(sender)
        const item = queue.shift()!
        if (queue.length > 0) queues.set(sender, queue)
        return item
      }
      return undefined
    },
  }
}
