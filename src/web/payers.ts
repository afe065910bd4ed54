import type { FastifyRequest } from 'fastify'
import { readCookie } from './dashboard/cookie.ts'
import type { Site } from './site.ts'

/** Messengers and search engines look at a page before anybody does. */
const MACHINES = /bot|crawl|spider|preview|externalhit|whatsapp|curl|wget/i

/** Whether a payer looks at a page, and not a machine or somebody of the company. */
export const isPayer = ({ app }: Site, request: FastifyRequest): boolean =>
  request.method === 'GET' &&
  readCookie(app.publicUrl, request) === null &&
  !MACHINES.test(request.headers['user-agent'] ?? '')
