import type { FastifyInstance } from 'fastify'
import { registerDocs } from './docs.ts'
import { codeOf, statusOf } from './operator.ts'
import type { ServerParts } from './server-parts.ts'

/** How long the readiness is cached, because each check writes to the database. */
const READY_MS = 250

/** Health, readiness, the OpenAPI document and its pages. */
export function registerOperations(server: FastifyInstance, { app, isReady }: ServerParts): void {
  server.addHook('onSend', async (request, reply) => {
    reply.header('X-Request-Id', request.id)
  })
  server.get('/health', async () => ({ status: 'ok' }))
  const ready = cache(isReady)
  server.get('/ready', async (_request, reply) => {
    const findings = await ready()
    // This port shows only the status. The port of operators shows the reasons too.
    return reply.status(codeOf(findings)).send({ status: statusOf(findings) })
  })
  registerDocs(server, app)
}

/** Caches the answer for a moment, so that many requests cost only one check. */
function cache<T>(find: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | null = null
  let until_ms = 0
  return () => {
    if (found && performance.now() < until_ms) return found
    found = find()
    until_ms = performance.now() + READY_MS
    return found
  }
}
