import type { FastifyInstance } from 'fastify'
import { registerDocs } from './docs.ts'
import { codeOf, statusOf } from './operator.ts'
import type { ServerParts } from './server-parts.ts'

/** How long an answer on readiness is given again: each is found by a write. */
const READY_MS = 250

/** What tools and readers ask for: health, readiness, the OpenAPI document and its pages. */
export function registerOperations(server: FastifyInstance, { app, isReady }: ServerParts): void {
  server.addHook('onSend', async (request, reply) => {
    reply.header('X-Request-Id', request.id)
  })
  server.get('/health', async () => ({ status: 'ok' }))
  const ready = remember(isReady)
  server.get('/ready', async (_request, reply) => {
    const findings = await ready()
    // Strangers learn whether, operators on their own port also why.
    return reply.status(codeOf(findings)).send({ status: statusOf(findings) })
  })
  registerDocs(server, app)
}

/** Gives the same answer again for a moment, so that strangers who ask cost no more than one. */
function remember<T>(find: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | null = null
  let until_ms = 0
  return () => {
    if (found && performance.now() < until_ms) return found
    found = find()
    until_ms = performance.now() + READY_MS
    return found
  }
}
