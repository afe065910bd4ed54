import type { FastifyInstance } from 'fastify'

/** One year, which is the minimum for the preload lists of browsers. */
const HSTS = 'max-age=31536000'

/**
 * The headers of every answer that does not set them itself: it is not cached, not shown in a
 * frame, and its content type is not guessed. If the service uses https, browsers use only https.
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

/** The value of X-Warnings: what is allowed, but probably a mistake. Null if there is nothing. */
export function warningsIn(data: unknown): string | null {
  const { warnings } = (data ?? {}) as { warnings?: string[] }
  if (!warnings) return null
  // A header is ASCII.
  return warnings.join(' ').replace(/[^\x20-\x7e]/gu, encodeURIComponent)
}

export const warningHeader = (warnings: string | null): Record<string, string> =>
  warnings === null ? {} : { 'X-Warnings': warnings }
