import type { FastifyInstance } from 'fastify'
import { problem } from '../lib/problems.ts'

/** How often requests that wait are looked at. */
const LOOK_MS = 1_000
/** How long a request has to wait before the database is asked whether it is there. */
const LATE_MS = 2_000
/** If so many questions in a row have no answer, it is unresponsive. One may be by chance. */
const MAX_MISSED = 2

/** A request that has no answer yet. */
type Waiting = { since_ms: number; isAnswered(): boolean; refuse(): void }

export type DatabaseWatch = {
  /** Whether the database accepts work but answers nothing: it is frozen, or out of reach. */
  isUnresponsive(): boolean
  /** Has a request refused if the database stops answering while it waits. */
  add(waiting: Omit<Waiting, 'since_ms'>): void
  close(): void
}

/**
 * Notices that a database is unresponsive. A single statement cannot show that: a long one is
 * waited for. So while a request waits for long, a question that takes no time is asked beside it.
 * If that is not answered either, all requests are refused, until the database answers again.
 */
export function watchDatabase(
  answers: () => Promise<boolean>,
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

  async function ask(): Promise<void> {
    missed = (await answers()) ? 0 : missed + 1
    if (!isUnresponsive()) return
    for (const request of requests) if (!request.isAnswered()) request.refuse()
    requests.clear()
  }

  /** Looks again and again while there is something to wait for. */
  async function look(): Promise<void> {
    if (isLate() || missed > 0) await ask()
    const isOver = isClosed || (requests.size === 0 && missed === 0)
    timer = isOver ? null : setTimeout(look, LOOK_MS).unref()
  }

  return {
    isUnresponsive,
    add(request) {
      requests.add({ ...request, since_ms: steady_ms() })
      timer ??= setTimeout(look, LOOK_MS).unref()
    },
    close() {
      isClosed = true
      if (timer) clearTimeout(timer)
    },
  }
}

/** What is served without a database. */
const ALWAYS = /^\/(health$|ready$|docs|openapi|assets)/

const notAnswering = () =>
  problem(
    'service_unavailable',
    'The database does not answer. Retry with the same Idempotency-Key.',
    { 'Retry-After': '5' },
  )

/**
 * Refuses requests while the database is unresponsive: new ones at once, and those that wait as
 * soon as it is noticed. What they have begun may still be done, as after a lost connection.
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
