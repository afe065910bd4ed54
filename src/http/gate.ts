import type { ServerResponse } from 'node:http'
import { problem } from '../lib/problems.ts'
import { type LoopShares, type Spender, UNLIMITED } from './loop-shares.ts'

/** How many requests are worked on and how many wait, of one company and of all together. */
export type GateLimits = { running: number; waiting: number; inAll: number }

/** The slot of one request, from its admission to its end. */
export type Ticket = {
  /** What it uses of the event loop. */
  spender: Spender
  /** The request's own work has begun: its slot is kept until that ends, even without a client. */
  begin(): void
  end(): void
}

type Company = {
  name: string
  running: number
  /** What begins each request, and how long its body is. */
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

/**
 * Lets requests in, before anything of them is read. Of one company a number is worked on at once
 * and a number waits in order; what is more is refused at once. A company that has used its share
 * of the event loop waits too.
 */
export function createGate(
  { running, waiting, inAll }: GateLimits,
  shares: LoopShares = UNLIMITED,
) {
  const companies = new Map<string, Company>()
  let present = 0

  /** Begins what waits, as far as the company may. */
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

  /**
   * Calls `admit` when the request may begin. Throws if there are too many. A request leaves when
   * its connection is closed and its work has ended, whichever comes last.
   */
  function enter(name: string, response: ServerResponse, admit: (ticket: Ticket) => void): void {
    const company = companies.get(name) ?? { name, running: 0, waiting: new Map(), timer: null }
    const isFree = company.running < running && company.waiting.size === 0
    const bytes = bodyBytes(response)
    const mayRun = isFree && shares.wait_ms(name, bytes) === 0
    if (!mayRun && company.waiting.size >= waiting) throw tooManyOfOne()
    if (present >= inAll) throw tooManyInAll()
    companies.set(name, company)
    present++
    let spender: Spender | null = null
    const stay = followStay(response, () => {
      spender?.end()
      leave(company, start, spender !== null)
    })
    const start = () => {
      spender = shares.begin(name, bytes)
      admit({ spender, begin: stay.begin, end: stay.end })
    }
    if (mayRun) {
      company.running++
      start()
    } else {
      company.waiting.set(start, bytes)
      beginNext(company)
    }
    stay.look()
  }
  return { enter }
}

/** How long the body is that a request announces. One that comes in pieces announces nothing. */
const bodyBytes = ({ req }: ServerResponse): number => Number(req?.headers['content-length']) || 0

/** Calls `leave` once, when the connection is closed and no work is under way. */
function followStay(response: ServerResponse, leave: () => void) {
  let isWorking = false
  let isClosed = response.destroyed
  let hasLeft = false
  const look = () => {
    if (isWorking || !isClosed || hasLeft) return
    hasLeft = true
    leave()
  }
  response.once('close', () => {
    isClosed = true
    look()
  })
  return {
    look,
    begin() {
      isWorking = true
    },
    end() {
      isWorking = false
      look()
    },
  }
}
