import type { FastifyInstance, FastifyRequest } from 'fastify'
import { problem } from '../lib/problems.ts'

/**
 * Refuses forms that another site sends through somebody's browser. Browsers say where a form comes
 * from, in Sec-Fetch-Site or at least in Origin; what says neither is no browser.
 *
 * Our pages send no referrer, and so older browsers call their origin `null`. The address of a
 * payer's page is a token that other sites do not know: there `null` is taken. Elsewhere it is not.
 */
export function refuseForeignForms(
  scope: FastifyInstance,
  publicUrl: string,
  nullOrigin: 'taken' | 'refused',
): void {
  const own = new URL(publicUrl).origin
  scope.addHook('onRequest', (request, _reply, done) => {
    const isForeign = request.method === 'POST' && comesFromElsewhere(request, own, nullOrigin)
    done(isForeign ? problem('invalid_value') : undefined)
  })
}

function comesFromElsewhere(
  { headers, host }: FastifyRequest,
  own: string,
  nullOrigin: 'taken' | 'refused',
): boolean {
  const { origin, 'sec-fetch-site': site } = headers
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  if (origin === undefined) return false
  if (origin === 'null') return nullOrigin === 'refused'
  return origin !== own && (!URL.canParse(origin) || new URL(origin).host !== host)
}
