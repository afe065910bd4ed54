import type { FastifyInstance } from 'fastify'

/** A year, as browsers are asked for before they remember it by themselves. */
const HSTS = 'max-age=31536000'

/**
 * What every answer says unless it says something else itself: it is kept by nobody, shown in no
 * frame, and taken for nothing but what it is. If the service is reached by https, it is reached
 * by https only.
 */
export function safeHeaders(publicUrl: string): Record<string, string> {
  return {
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    ...(publicUrl.startsWith('https:') && { 'strict-transport-security': HSTS }),
  }
}

export function addSafeHeaders(server: FastifyInstance, publicUrl: string): void {
  const headers = Object.entries(safeHeaders(publicUrl))
  server.addHook('onSend', async (_request, reply) => {
    for (const [name, value] of headers) if (!reply.hasHeader(name)) reply.header(name, value)
  })
}
