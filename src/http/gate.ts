import type { ServerResponse } from 'node:http'
import { problem } from '../lib/problems.ts'

/** How many requests are worked on and how many wait, of one company and of all together. */
export type GateLimits = { running: number; waiting: number; inAll: number }

/** The place of one request, from its admission to its end. */
export type Ticket = {
  /** The request's own work has begun: its place is kept until that ends, even without a client. */
  begin(): void
  end(): void
}

type Company = { running: number; waiting: Set<() => void> }

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
 * and a number waits in order; what is more is refused at once.
 */
export function createGate({ running, waiting, inAll }: GateLimits) {
  const companies = new Map<string, Company>()
  let present = 0

  function leave(name: string, company: Company, admitted: () => void, isRunning: boolean): void {
    present--
    if (isRunning) company.running--
    else company.waiting.delete(admitted)
    const [next] = company.waiting
    if (next && company.running < running) {
      company.waiting.delete(next)
      company.running++
      next()
    }
    if (company.running === 0 && company.waiting.size === 0) companies.delete(name)
  }

  /**
   * Calls `admit` when the request may begin. Throws if there are too many. A request leaves when
   * its connection is closed and its work has ended, whichever comes last.
   */
  function enter(name: string, response: ServerResponse, admit: (ticket: Ticket) => void): void {
    const company = companies.get(name) ?? { running: 0, waiting: new Set() }
    if (company.running >= running && company.waiting.size >= waiting) throw tooManyOfOne()
    if (present >= inAll) throw tooManyInAll()
    companies.set(name, company)
    present++
    let isRunning = company.running < running
    let isWorking = false
    let isClosed = response.destroyed
    let hasLeft = false
    const ticket = {
      begin() {
        isWorking = true
      },
      end() {
        isWorking = false
        leaveOnce()
      },
    }
    const admitted = () => {
      isRunning = true
      admit(ticket)
    }
    const leaveOnce = () => {
      if (isWorking || !isClosed || hasLeft) return
      hasLeft = true
      leave(name, company, admitted, isRunning)
    }
    response.once('close', () => {
      isClosed = true
      leaveOnce()
    })
    if (isRunning) {
      company.running++
      admit(ticket)
    } else company.waiting.add(admitted)
    leaveOnce()
  }
  return { enter }
}
