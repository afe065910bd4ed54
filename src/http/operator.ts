import Fastify, { type FastifyInstance } from 'fastify'
import type { ServerParts } from './server-parts.ts'

/**
 * The server for operators, on a port of its own: health, readiness with its reasons, and metrics.
 */
export async function buildOperator(
  metrics: () => Promise<string>,
  isReady: ServerParts['isReady'],
): Promise<FastifyInstance> {
  const server = Fastify({ logger: false, forceCloseConnections: true })
  server.addHook('onSend', async (_request, reply) => {
    reply.headers({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' })
  })
  server.get('/health', async () => ({ status: 'ok' }))
  server.get('/ready', async (_request, reply) => {
    const findings = await isReady()
    return reply.status(codeOf(findings)).send({ status: statusOf(findings), ...findings })
  })
  server.get('/metrics', async (_request, reply) =>
    reply.type('text/plain; version=0.0.4; charset=utf-8').send(await metrics()),
  )
  await server.ready()
  return server
}

type Findings = Awaited<ReturnType<ServerParts['isReady']>>

export const codeOf = ({ faults }: Findings): number => (faults.length > 0 ? 503 : 200)

/** A warning does not take a server out of service, because it can still do other work. */
export function statusOf({ faults, warnings }: Findings): string {
  if (faults.length > 0) return 'not ready'
  return warnings.length > 0 ? 'degraded' : 'ready'
}
