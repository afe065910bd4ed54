import type { FastifyReply } from 'fastify'

/** The origin of an image that a page may load. Null if its URL is not an ordinary one. */
export function imageOrigin(imageUrl: string | null): string | null {
  const origin = imageUrl && URL.canParse(imageUrl) ? new URL(imageUrl).origin : ''
  return /^https?:\/\/[\w.-]+(:\d+)?$/.test(origin) ? origin : null
}

const policy = (images: string | null, frames: boolean): string =>
  [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    `img-src 'self' data:${images ? ` ${images}` : ''}`,
    ...(frames ? ["frame-src 'self'"] : []),
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/**
 * Adds security headers. A page runs only our own scripts and styles. Whoever has the URL of a page
 * can open it, so it is sent to no other site.
 */
export function secure(
  reply: FastifyReply,
  imageUrl: string | null,
  frames = false,
  sameSiteReferrer = false,
): FastifyReply {
  return reply.headers({
    'Content-Security-Policy': policy(imageOrigin(imageUrl), frames),
    'Referrer-Policy': sameSiteReferrer ? 'same-origin' : 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Robots-Tag': 'noindex, nofollow',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cache-Control': 'no-store',
  })
}
