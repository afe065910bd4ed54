import type { FastifyInstance } from 'fastify'
import { problem } from '../lib/problems.ts'

/** How often waiting requests are checked. */
const CHECK_MS = 1_000
/** How long a request waits before the database is pinged. */
const LATE_MS = 2_000
/** After so many pings in a row without an answer the database counts as unresponsive. */
const MAX_MISSED = 2

/** A request that has no answer yet. */
type Waiting = { since_ms: number; isAnswered(): boolean; refuse(): void }

export type DatabaseWatch = {
  /** Whether the database does not answer at all, because it hangs or cannot be reached. */
  isUnresponsive(): boolean
  /** Adds a request, which is refused if the database stops answering while it waits. */
  add(waiting: Omit<Waiting, 'since_ms'>): void
  close(): void
}

/**
 * Detects that a database is unresponsive. A statement without an answer does not show that,
 * because it may just take long. So if a request waits for long, a ping is sent on another
 * connection. If pings have no answer either, all requests are refused until the database answers
 * again.
 */
export function watchDatabase(
  ping: () => Promise<boolean>,
  steady_ms = () => performance.now(),
): DatabaseWatch {
  const requests = new Set<Waiting>()
  let missed = 0
  let timer: NodeJS.Timeout | null = null
  let isClosed = false
  const isUnresponsive = () => missed >= MAX_MISSED

  function isLate(): boolean {
    for (const request of requests) if (request.isAnswered()) requests.delete(request)
    // The oldest comes first.
    const [oldest] = requests
    return oldest !== undefined && steady_ms() - oldest.since_ms >= LATE_MS
  }

  async function pingOnce(): Promise<void> {
    missed = (await ping()) ? 0 : missed + 1
    if (!isUnresponsive()) return
    for (const request of requests) if (!request.isAnswered()) request.refuse()
    requests.clear()
  }

  /** Repeats while requests wait or the database does not answer. */
  async function check(): Promise<void> {
    if (isLate() || missed > 0) await pingOnce()
    const isOver = isClosed || (requests.size === 0 && missed === 0)
    timer = isOver ? null : setTimeout(check, CHECK_MS).unref()
  }

  return {
    isUnresponsive,
    add(request) {
      requests.add({ ...request, since_ms: steady_ms() })
      timer ??= setTimeout(check, CHECK_MS).unref()
    },
    close() {
      isClosed = true
      if (timer) clearTimeout(timer)
    },
  }
}

/** The paths that need no database. */
const ALWAYS = /^\/(health$|ready$|docs|openapi|assets)/

const notAnswering = () =>
  problem(
    'service_unavailable',
    'The database does not answer. Retry with the same Idempotency-Key.',
    { 'Retry-After': '5' },
  )

/**
 * Refuses requests while the database is unresponsive: new ones at once, and those that wait as
 * soon as it is detected. What they have begun may still be done, as after a lost connection.
 */
export function refuseWhileUnresponsive(server: FastifyInstance, database: DatabaseWatch): void {
  server.addHook('onRequest', (request, reply, done) => {
    if (ALWAYS.test(request.routeOptions.url ?? '')) {
      done()
      return
    }
    if (database.isUnresponsive()) {
      done(notAnswering())
      return
    }
    database.add({
      isAnswered: () => reply.sent || reply.raw.destroyed,
      refuse: () => reply.send(notAnswering()),
    })
    done()
  })
}
