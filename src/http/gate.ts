import type { ServerResponse } from 'node:http'
import { problem } from '../lib/problems.ts'
import { FREE, type LoopShares, type Spender, UNLIMITED } from './loop-shares.ts'

/** How many requests of one company are processed and wait, and how many of all companies. */
export type GateLimits = { running: number; waiting: number; inAll: number }

/**
 * What one of several processes takes. The system spreads connections over the processes, so what
 * a company sends is spread about evenly. A process always takes one request at least.
 */
export const divideLimits = (
  { running, waiting, inAll }: GateLimits,
  processes: number,
): GateLimits => ({
  running: Math.max(1, Math.floor(running / processes)),
  waiting: Math.floor(waiting / processes),
  inAll: Math.max(1, Math.floor(inAll / processes)),
})

/** The slot of one request, from its admission to its end. */
export type Ticket = {
  /** Counts the time of the event loop that it uses. */
  spender: Spender
  /** The work has begun. The request keeps its slot until `end`, even if the client leaves. */
  begin(): void
  end(): void
  /**
   * Gives up the slot while the request waits for something that may take long. Then it takes the
   * next that is free. The signal aborts if the client leaves.
   */
  rest: Rest
}

export type Rest = <R>(wait: (closed: AbortSignal) => Promise<R>) => Promise<R>

type Company = {
  name: string
  running: number
  /** The function that begins each request, and the length of its body. */
  waiting: Map<() => void, number>
  /** Set while the next request waits for the company's share of the event loop. */
  timer: NodeJS.Timeout | null
}

const RETRY = { 'Retry-After': '1' }
const tooManyOfOne = () =>
  problem(
    'rate_limited',
    'Too many requests at once. Wait for some of them before you send more.',
    RETRY,
  )
const tooManyInAll = () =>
  problem(
    'service_unavailable',
    'The server has more requests than it can take. Retry with the same Idempotency-Key.',
    RETRY,
  )

/** The place of a request among those of its company. */
type Slot = {
  spender: Spender | null
  /** Throws if there are too many requests. */
  check(): void
  take(): void
  leave(): void
}

/** Makes the slot of a request of this company. `start` is called when it may begin. */
type MakeSlot = (name: string, bytes: number, start: () => void) => Slot

function createSlots({ running, waiting, inAll }: GateLimits, shares: LoopShares): MakeSlot {
  const companies = new Map<string, Company>()
  let present = 0

  /** Begins requests that wait, as many as the company may have. */
  function beginNext(company: Company): void {
    for (const [next, bytes] of company.waiting) {
      if (company.running >= running) return
      const wait_ms = shares.wait_ms(company.name, bytes, company.waiting.size)
      if (wait_ms > 0) {
        company.timer ??= setTimeout(() => {
          company.timer = null
          beginNext(company)
        }, wait_ms)
        return
      }
      company.waiting.delete(next)
      company.running++
      next()
    }
  }

  function leave(company: Company, admitted: () => void, isRunning: boolean): void {
    present--
    if (isRunning) company.running--
    else company.waiting.delete(admitted)
    beginNext(company)
    if (company.running > 0 || company.waiting.size > 0) return
    clearTimeout(company.timer ?? undefined)
    companies.delete(company.name)
  }

  return (name, bytes, start) => {
    const company = companies.get(name) ?? { name, running: 0, waiting: new Map(), timer: null }
    const isFree = company.running < running && company.waiting.size === 0
    const mayRun = isFree && shares.wait_ms(name, bytes) === 0
    const begin = () => {
      slot.spender = shares.begin(name, bytes)
      start()
    }
    const slot: Slot = {
      spender: null,
      check() {
        if (!mayRun && company.waiting.size >= waiting) throw tooManyOfOne()
        if (present >= inAll) throw tooManyInAll()
      },
      take() {
        companies.set(name, company)
        present++
        if (mayRun) company.running++
        else company.waiting.set(begin, bytes)
        if (mayRun) begin()
        else beginNext(company)
      },
      leave() {
        slot.spender?.end()
        leave(company, begin, slot.spender !== null)
      },
    }
    return slot
  }
}

/**
 * Admits requests before their body is read. Of each company some are processed at the same time,
 * some wait in order, and further ones are refused. If a company has used its share of the event
 * loop, its requests wait too.
 */
export function createGate(limits: GateLimits, shares: LoopShares = UNLIMITED) {
  const makeSlot = createSlots(limits, shares)

  /**
   * Calls `admit` when the request may begin. Throws if there are too many. A request leaves when
   * its connection is closed and its work has ended, whichever comes last.
   */
  function enter(name: string, response: ServerResponse, admit: (ticket: Ticket) => void): void {
    let slot: Slot | null = makeSlot(name, bodyBytes(response), () => admit(ticket))
    slot.check()
    const leave = () => {
      slot?.leave()
      slot = null
    }
    // Who comes back is not refused. Seats bound how many rest.
    const comeBack = () =>
      new Promise<void>((resolve) => {
        slot = makeSlot(name, 0, resolve)
        slot.take()
      })
    const watch = watchRequest(response, leave)
    const ticket: Ticket = {
      spender: spenderOf(name, () => slot?.spender ?? FREE),
      begin: watch.begin,
      end: watch.end,
      async rest(wait) {
        leave()
        const closed = abortOnClose(response)
        try {
          return await wait(closed)
        } finally {
          if (!closed.aborted) await comeBack()
        }
      },
    }
    slot.take()
    watch.check()
  }
  return { enter }
}

/** A request has another slot after it has rested. */
const spenderOf = (name: string, current: () => Spender): Spender => ({
  name,
  spend: (ms) => current().spend(ms),
  take: (ms) => current().take(ms),
  end: () => current().end(),
})

function abortOnClose(response: ServerResponse): AbortSignal {
  const closed = new AbortController()
  response.once('close', () => closed.abort())
  if (response.destroyed) closed.abort()
  return closed.signal
}

/** The length of the body as announced. A chunked body has no announced length. */
const bodyBytes = ({ req }: ServerResponse): number => Number(req?.headers['content-length']) || 0

/** Calls `leave` once, when the connection is closed and no work is running. */
function watchRequest(response: ServerResponse, leave: () => void) {
  let isWorking = false
  let isClosed = response.destroyed
  let hasLeft = false
  const check = () => {
    if (isWorking || !isClosed || hasLeft) return
    hasLeft = true
    leave()
  }
  response.once('close', () => {
    isClosed = true
    check()
  })
  return {
    check,
    begin() {
      isWorking = true
    },
    end() {
      isWorking = false
      check()
    },
  }
}
