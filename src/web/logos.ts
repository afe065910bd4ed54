import type { FastifyInstance } from 'fastify'
import { findLogo } from '../core/companies/store.ts'
import { placeOf } from '../core/places/front.ts'
import { isUuid, type Uuid } from '../lib/ids.ts'
import { problem } from '../lib/problems.ts'
import type { Site } from './site.ts'

export const logoUrl = (publicUrl: string, companyId: Uuid, name: string): string =>
  `${publicUrl}/logos/${companyId}/${name}`

type Named = { Params: { company: string; name: string } }

/**
 * Serves the logos that companies have uploaded. They are images of ours, and a browser shows them
 * as nothing else.
 */
export function registerLogos(scope: FastifyInstance, { app }: Site): void {
  scope.get<Named>('/logos/:company/:name', async (request, reply) => {
    const { company, name } = request.params
    const placed = isUuid(company) ? await placeOf(app, company) : null
    const logo = placed && (await findLogo(placed.db, company, name))
    if (!logo) throw problem('route_not_found')
    const etag = `"${name}"`
    reply.headers({
      'Cache-Control': 'public, max-age=31536000, immutable',
      'Content-Security-Policy': "default-src 'none'; sandbox",
      // Mails and pages of others show it too.
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'X-Content-Type-Options': 'nosniff',
      ETag: etag,
    })
    if (request.headers['if-none-match'] === etag) return reply.status(304).send()
    return reply.type(logo.type).send(logo.bytes)
  })
}
