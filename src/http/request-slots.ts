import type { ServerResponse } from 'node:http'
import { createFairQueue, QueueFull, type QueueLimits, type Release } from '../lib/fair-queue.ts'
import { problem } from '../lib/problems.ts'

/** How many requests of one company are processed and wait, and how many of all companies. */
type RequestLimits = { running: number; waiting: number; inAll: number }

/**
 * What one of several processes takes. The system spreads connections over the processes, so what
 * a company sends is spread about evenly. A process always takes one request at least.
 */
export function divideLimits(
  { running, waiting, inAll }: RequestLimits,
  processes: number,
): QueueLimits {
  const size = Math.max(1, Math.floor(inAll / processes))
  return {
    size,
    inAll: size,
    perOwner: Math.max(1, Math.floor(running / processes)),
    waiting: Math.floor(waiting / processes),
  }
}

/** The slot of one request. */
export type RequestSlot = {
  /** Keeps the slot until the work has ended, even if the client leaves before. */
  during<R>(work: () => Promise<R>): Promise<R>
  /**
   * Gives up the slot while the request waits for something that may take long. Then it takes the
   * next that is free. The signal aborts if the client leaves.
   */
  rest: Rest
}

export type Rest = <R>(wait: (closed: AbortSignal) => Promise<R>) => Promise<R>

/** Calls `begin` when a request may begin. Throws if there are too many. */
type EnterRequest = (
  companyId: string,
  response: ServerResponse,
  begin: (slot: RequestSlot) => void,
) => void

/**
 * Gives slots to requests before their body is read. A request keeps its slot until its answer is
 * sent, or its client has left, and its work has ended.
 */
export function createRequestSlots(limits: QueueLimits): EnterRequest {
  const queue = createFairQueue(limits)

  function take(companyId: string, evenIfFull: boolean): Release | Promise<Release> {
    try {
      return queue.take(companyId, { evenIfFull }) as Release | Promise<Release>
    } catch (error) {
      throw error instanceof QueueFull ? tooMany(error) : error
    }
  }

  return (companyId, response, begin) => {
    const hold = (release: Release) => {
      // Whoever has left while the request waited gets no answer.
      if (response.destroyed) release()
      else begin(createSlot(response, release, () => take(companyId, true)))
    }
    const taken = take(companyId, false)
    if (taken instanceof Promise) taken.then(hold)
    else hold(taken)
  }
}

function createSlot(
  response: ServerResponse,
  first: Release,
  takeAgain: () => Release | Promise<Release>,
): RequestSlot {
  let release = first
  let [isWorking, isClosed] = [false, false]
  const leave = () => {
    if (isClosed && !isWorking) release()
  }
  response.once('close', () => {
    isClosed = true
    leave()
  })
  return {
    async during(work) {
      isWorking = true
      try {
        return await work()
      } finally {
        isWorking = false
        leave()
      }
    },
    async rest(wait) {
      release()
      const closed = new AbortController()
      if (isClosed) closed.abort()
      response.once('close', () => closed.abort())
      const result = await wait(closed.signal)
      if (!isClosed) release = await takeAgain()
      return result
    },
  }
}

const RETRY = { 'Retry-After': '1' }

const tooMany = ({ of }: QueueFull) =>
  of === 'owner'
    ? problem(
        'rate_limited',
        'Too many requests at once. Wait for some of them before you send more.',
        RETRY,
      )
    : problem(
        'service_unavailable',
        'The server has more requests than it can take. Retry with the same Idempotency-Key.',
        RETRY,
      )
