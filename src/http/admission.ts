import type { FastifyReply, FastifyRequest } from 'fastify'
import { createBuckets } from '../lib/bucket.ts'
import { clientName } from '../lib/client-name.ts'
import { problem } from '../lib/problems.ts'
import { findVersion, LATEST, VERSION_NAMES, type Version } from '../versions/history.ts'
import { requireScope, type Session } from './auth.ts'
import { createGate } from './gate.ts'
import { readKey } from './idempotency.ts'
import { createLoopShares } from './loop-shares.ts'
import type { Route } from './route.ts'
import type { ServerParts } from './server-parts.ts'

/** Failed keys per address. Enough for a mistake in a script, too few to guess a key. */
const FAILED_KEYS = { perSecond: 20, burst: 200 }

/** The version that a request names, or null when it names none that exists. */
export const requestedVersion = (request: FastifyRequest): Version | null => {
  const name = request.headers['x-api-version']
  return typeof name === 'string' ? findVersion(name) : null
}

/**
 * Checks key, limit, version, scope and the form of the Idempotency-Key, in this order and before
 * the body is read.
 */
export function admission({ app, keys }: ServerParts) {
  const { rateLimit } = app.config
  const byKey = rateLimit && createBuckets(rateLimit.perSecond, rateLimit.burst)
  const byAddress = rateLimit && createBuckets(FAILED_KEYS.perSecond, FAILED_KEYS.burst)

  function limit(wait_s: number): void {
    if (wait_s === 0) return
    throw problem('rate_limited', undefined, { 'Retry-After': String(Math.ceil(wait_s)) })
  }
  const now = () => performance.now()
  const gate = createGate(app.config.requests, rateLimit ? createLoopShares() : undefined)

  function accept(request: FastifyRequest, route: Route, session: Session | null): void {
    if (!session) {
      byAddress?.take(clientName(request.ip), now())
      throw problem('invalid_api_key')
    }
    request.session = session
    request.version = findVersion(session.company.apiVersion) ?? LATEST
    if (request.headers['x-api-version'] !== undefined) request.version = requireVersion(request)
    if (byKey) limit(byKey.take(session.keyId, now()))
    requireScope(session, route.scope)
    if (route.method !== 'GET') {
      request.idempotencyKey = readKey(request.headers['idempotency-key'])
    }
  }

  /**
   * If an address has sent too many wrong keys, its keys are not looked up any more, so that
   * guessing costs no queries. Keys that have worked before are still looked up, because others may
   * share the address.
   */
  async function look(request: FastifyRequest, key: string): Promise<Session | null> {
    if (byAddress && !keys.isFamiliar(key)) limit(byAddress.wait(clientName(request.ip), now()))
    return keys.find(key)
  }

  return (
    request: FastifyRequest,
    reply: FastifyReply,
    route: Route,
    done: (error?: Error) => void,
  ): void => {
    const key = request.headers['x-api-key']
    if (typeof key !== 'string' || key === '') {
      done(problem('missing_api_key'))
      return
    }
    const admit = (session: Session | null) => {
      try {
        accept(request, route, session)
        gate.enter(session!.company.id, reply.raw, (ticket) => {
          request.ticket = ticket
          done()
        })
      } catch (error) {
        done(error as Error)
      }
    }
    // A cached key is admitted in the same tick of the event loop.
    const cached = keys.findCached(key)
    if (cached) admit(cached)
    else look(request, key).then(admit, done)
  }
}

function requireVersion(request: FastifyRequest): Version {
  const version = requestedVersion(request)
  if (version) return version
  throw problem(
    'invalid_api_version',
    `X-Api-Version must be one of ${VERSION_NAMES.join(', ')}, or be left out.`,
  )
}
