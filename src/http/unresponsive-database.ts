import type { FastifyInstance } from 'fastify'
import type { Database } from '../db/database.ts'
import { type Problem, problem } from '../lib/problems.ts'

/** How often requests are removed whose clients have left. */
const REMOVE_MS = 1_000

/** The reply to a request, as far as it is watched. */
type Reply = { sent: boolean; raw: { destroyed: boolean }; send(refusal: Problem): unknown }

export type DatabaseWatch = {
  /** Whether the database does not answer at all, because it hangs or cannot be reached. */
  isUnresponsive(): boolean
  /** Adds a request, which is refused if the database stops answering while it waits. */
  add(reply: Reply): void
  /** Forgets a request at its end: all that it holds would outlive it otherwise. */
  remove(reply: Reply): void
  close(): void
}

const isAnswered = ({ sent, raw }: Reply): boolean => sent || raw.destroyed

/** Refuses all waiting requests as soon as the database is unresponsive, or those of all places. */
export function watchDatabase(heartbeats: Database['heartbeat'][]): DatabaseWatch {
  const waiting = new Set<Reply>()
  let timer: NodeJS.Timeout | null = null

  function removeAnswered(): void {
    for (const reply of waiting) if (isAnswered(reply)) waiting.delete(reply)
    timer = waiting.size > 0 ? setTimeout(removeAnswered, REMOVE_MS).unref() : null
  }

  const isUnresponsive = () => heartbeats.every((one) => one.isUnresponsive())
  const refuseAll = () => {
    if (!isUnresponsive()) return
    for (const reply of waiting) if (!isAnswered(reply)) reply.send(notAnswering())
    waiting.clear()
  }
  for (const { onUnresponsive } of heartbeats) onUnresponsive(refuseAll)
  return {
    isUnresponsive,
    add(reply) {
      waiting.add(reply)
      timer ??= setTimeout(removeAnswered, REMOVE_MS).unref()
    },
    remove: (reply) => waiting.delete(reply),
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
    database.add(reply)
    done()
  })
  server.addHook('onResponse', (_request, reply, done) => {
    database.remove(reply)
    done()
  })
}
