import type { FastifyInstance } from 'fastify'
import type { Database } from '../db/database.ts'
import { problem } from '../lib/problems.ts'

/** How often answered requests are removed. */
const REMOVE_MS = 1_000

/** A request that has no answer yet. */
type Waiting = { isAnswered(): boolean; refuse(): void }

export type DatabaseWatch = {
  /** Whether the database does not answer at all, because it hangs or cannot be reached. */
  isUnresponsive(): boolean
  /** Adds a request, which is refused if the database stops answering while it waits. */
  add(waiting: Waiting): void
  close(): void
}

/** Refuses all waiting requests as soon as the database is unresponsive, or those of all places. */
export function watchDatabase(heartbeats: Database['heartbeat'][]): DatabaseWatch {
  const requests = new Set<Waiting>()
  let timer: NodeJS.Timeout | null = null

  function removeAnswered(): void {
    for (const request of requests) if (request.isAnswered()) requests.delete(request)
    timer = requests.size > 0 ? setTimeout(removeAnswered, REMOVE_MS).unref() : null
  }

  const isUnresponsive = () => heartbeats.every((one) => one.isUnresponsive())
  const refuseAll = () => {
    if (!isUnresponsive()) return
    for (const request of requests) if (!request.isAnswered()) request.refuse()
    requests.clear()
  }
  for (const { onUnresponsive } of heartbeats) onUnresponsive(refuseAll)
  return {
    isUnresponsive,
    add(request) {
      requests.add(request)
      timer ??= setTimeout(removeAnswered, REMOVE_MS).unref()
    },
    close() {
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
