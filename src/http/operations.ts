import type { FastifyInstance } from 'fastify'
import { registerDocs } from './docs.ts'
import { codeOf, statusOf } from './operator.ts'
import type { ServerParts } from './server.ts'

/** What tools and readers ask for: health, readiness, the OpenAPI document and its pages. */
export function registerOperations(server: FastifyInstance, { app, isReady }: ServerParts): void {
  server.addHook('onSend', async (request, reply) => {
    reply.header('X-Request-Id', request.id)
  })
  server.get('/health', async () => ({ status: 'ok' }))
  server.get('/ready', async (_request, reply) => {
    const findings = await isReady()
    // Strangers learn whether, operators on their own port also why.
    return reply.status(codeOf(findings)).send({ status: statusOf(findings) })
  })
  registerDocs(server, app)
}
