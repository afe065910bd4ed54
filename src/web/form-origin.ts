import type { FastifyInstance, FastifyRequest } from 'fastify'
import { problem } from '../lib/problems.ts'

/**
 * Refuses forms that another site sends through a visitor's browser. Browsers name the origin of a
 * form in Sec-Fetch-Site or at least in Origin. A request with neither is not from a browser.
 *
 * Our pages send no referrer, so older browsers send the origin `null`. It is accepted on the page
 * of a payer, because its URL has a token that other sites do not know. Elsewhere it is refused.
 */
export function refuseForeignForms(
  scope: FastifyInstance,
  publicUrl: string,
  nullOrigin: 'accepted' | 'refused',
): void {
  const own = new URL(publicUrl).origin
  scope.addHook('onRequest', (request, _reply, done) => {
    const isForeign = request.method === 'POST' && isFromOtherSite(request, own, nullOrigin)
    done(isForeign ? problem('invalid_value') : undefined)
  })
}

function isFromOtherSite(
  { headers, host }: FastifyRequest,
  own: string,
  nullOrigin: 'accepted' | 'refused',
): boolean {
  const { origin, 'sec-fetch-site': site } = headers
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  if (origin === undefined) return false
  if (origin === 'null') return nullOrigin === 'refused'
  return origin !== own && (!URL.canParse(origin) || new URL(origin).host !== host)
}
