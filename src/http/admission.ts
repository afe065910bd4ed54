import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FullApp } from '../core/full-app.ts'
import { clientName } from '../lib/client-name.ts'
import type { Uuid } from '../lib/ids.ts'
import { limitFailures, type RateLimit } from '../lib/limits.ts'
import { problem } from '../lib/problems.ts'
import { findVersion, LATEST, VERSION_NAMES, type Version } from '../versions/history.ts'
import { type KeyRing, keyIn, requireScope, type Session } from './auth.ts'
import { readKey } from './idempotency.ts'
import { createRequestSlots, divideLimits } from './request-slots.ts'
import type { Route } from './route.ts'
import type { ServerParts } from './server-parts.ts'

/** Failed keys per address. Enough for a mistake in a script, too few to guess a key. */
const FAILED_KEYS = { perSecond: 20, burst: 200 }

/**
 * Requests with a large body, such as batches, that this process takes at once: one of a company at
 * a time and few in all, because each takes memory.
 */
export const LARGE_BODIES = { size: 8, perOwner: 1, waiting: 8, inAll: 72 }

/** The version that a request names, or null when it names none that exists. */
export const requestedVersion = (request: FastifyRequest): Version | null => {
  const name = request.headers['x-api-version']
  return typeof name === 'string' ? findVersion(name) : null
}

/** Calls `done` when a request may begin, or with what it is refused with. */
export type Admit = (
  request: FastifyRequest,
  reply: FastifyReply,
  /** Null: an agent asks, whose body says what it asks for. */
  route: Route | null,
  done: (error?: Error) => void,
) => void

const noBearer = () => problem('missing_api_key', 'Send the API key as Authorization: Bearer KEY.')

/**
 * Checks key, limit, version, scope and the form of the Idempotency-Key, in this order and before
 * the body is read. Then the request waits for a slot.
 */
export function admission({ app, keys }: ServerParts): Admit {
  const { rateLimit, requests, processes } = app.config
  const { rate } = app.limits
  const byKey = rateLimit && rate('keys', rateLimit.perSecond, rateLimit.burst)
  const byAddress = rateLimit && rate('failed keys', FAILED_KEYS.perSecond, FAILED_KEYS.burst)
  const enterSlot = createRequestSlots(divideLimits(requests, processes))
  const enterLarge = createRequestSlots(LARGE_BODIES)
  const look = keyFinder(app, keys, byAddress)

  /** While a request with a large body waits for others of them, it has no other slot. */
  function enterLast(
    request: FastifyRequest,
    reply: FastifyReply,
    { company, keyId }: Session,
    done: (error?: Error) => void,
  ): void {
    request.pace = byKey ? paceOf(byKey, keyId) : null
    enterLarge(company.id, reply.raw, (large) => {
      try {
        enterSlot(company.id, reply.raw, (slot) => {
          request.slot = { ...slot, during: (work) => slot.during(() => large.during(work)) }
          done()
        })
      } catch (error) {
        done(error as Error)
      }
    })
  }

  return (request, reply, route, done) => {
    const enter = (session: Session, wait_s: number) => {
      limit(wait_s)
      if (route) accept(request, route, session)
      if (route?.largeBody) return enterLast(request, reply, session, done)
      enterSlot(session.company.id, reply.raw, (slot) => {
        request.slot = slot
        done()
      })
    }
    const admit = (found: Session | null) => {
      const session = recognize(request, found)
      const wait_s = byKey ? byKey.take(session.keyId) : 0
      if (typeof wait_s === 'number') return enter(session, wait_s)
      return wait_s.then((seconds) => enter(session, seconds))
    }
    try {
      const key = keyIn(request.headers, route === null)
      if (key === null) throw route ? problem('missing_api_key') : noBearer()
      // A cached key is admitted in the same tick of the event loop.
      const cached = keys.findCached(key)
      const admitted = cached ? admit(cached) : look(request, key).then(admit)
      admitted?.catch(done)
    } catch (error) {
      done(error as Error)
    }
  }
}

/** Waits until there is a token, and takes it. Of what a request does at once only one asks. */
export function paceOf(rate: RateLimit, keyId: Uuid): () => Promise<void> {
  let last = Promise.resolve()
  return () => {
    last = last.then(() => waitFor(rate, keyId))
    return last
  }
}

/** Waits until there is a token, and takes it. */
async function waitFor(rate: RateLimit, keyId: Uuid): Promise<void> {
  for (let wait_s = await rate.take(keyId); wait_s > 0; wait_s = await rate.take(keyId)) {
    await pause(wait_s * 1000)
  }
}

/** Notes whose request it is, and the version that it gets. */
function recognize(request: FastifyRequest, session: Session | null): Session {
  if (!session) throw problem('invalid_api_key')
  request.session = session
  request.version = findVersion(session.company.apiVersion) ?? LATEST
  if (request.headers['x-api-version'] !== undefined) request.version = requireVersion(request)
  return session
}

function accept(request: FastifyRequest, route: Route, session: Session): void {
  requireScope(session, route.scope)
  if (route.method !== 'GET') {
    request.idempotencyKey = readKey(request.raw)
  }
}

function limit(wait_s: number): void {
  if (wait_s === 0) return
  throw problem('rate_limited', undefined, { 'Retry-After': String(Math.ceil(wait_s)) })
}

/**
 * If an address has sent too many wrong keys, its keys are not looked up any more, so that guessing
 * costs no queries. Keys that have worked before, in any process, are still looked up, because
 * others may share the address.
 */
function keyFinder(
  { vault, limits }: FullApp,
  keys: KeyRing,
  byAddress: RateLimit | null,
): (request: FastifyRequest, key: string) => Promise<Session | null> {
  const { familiarKeys } = limits
  const attempt = byAddress && limitFailures(byAddress)
  return async (request, key) => {
    if (!attempt || keys.isFamiliar(key)) return keys.find(key)
    const name = familiarKeys ? vault.hashKey(key).toString('base64') : ''
    const find = () => keys.find(key)
    const isKnown = familiarKeys?.has(name)
    const session = isKnown ? await find() : await attempt(clientName(request.ip), limit, find)
    if (session) familiarKeys?.note(name)
    else familiarKeys?.forget(name)
    return session
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
