import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Author } from '../core/activity/rules.ts'
import { receiveChanges } from '../core/companies/announce.ts'
import { keyIdOf } from '../core/companies/keys.ts'
import type { Company, Scope } from '../core/companies/rules.ts'
import { type ActiveKey, findActiveKeys, touchKeys } from '../core/companies/store.ts'
import type { FullApp, FullFront } from '../core/full-app.ts'
import { firstOf } from '../core/places/directory.ts'
import { appsOf, type Places } from '../core/places/front.ts'
import type { Database } from '../db/database.ts'
import type { Notifications } from '../db/notifications.ts'
import { createBatcher, LOOKUPS } from '../lib/batch.ts'
import { newId, type Uuid } from '../lib/ids.ts'
import { describeError } from '../lib/log.ts'
import { problem } from '../lib/problems.ts'
import type { Vault } from '../lib/vault.ts'

export type Session = {
  /** The app of the place in which the company lives. */
  app: FullApp
  company: Company
  keyId: Uuid
  scopes: Set<Scope>
  /** The key, for the activity log. */
  author: Omit<Author, 'address'>
}

export type KeyRing = {
  /** The company of a key that is cached, or null. */
  findCached(text: string): Session | null
  /** Whether the key has worked in this process, and its company has not changed since. */
  isFamiliar(text: string): boolean
  /** The company of a key, or null when the key is unknown or revoked. */
  find(text: string): Promise<Session | null>
  /** Writes when keys were last used to the database. What cannot be written is kept. */
  flush(): Promise<void>
}

/** How long a key is cached. If a change of its company is announced, the entry is removed. */
const CACHED_MS = 10_000
const MAX_CACHED = 10_000
/** Uses of more keys than this are not kept if they cannot be written. About 20 MB. */
const MAX_USES = 100_000
const NO_HASH = Buffer.alloc(32)

export function createKeyRing(front: FullFront, notifications: readonly Notifications[]): KeyRing {
  const { vault, places } = front
  const apps = appsOf(front)
  // Keys have a share of their own, so that requests without a key do not delay their lookup.
  const databases = apps.map(({ db }) => db.of('keys'))
  const cached = new Map<string, { session: Session; until_ms: number }>()
  const { used, flush } = noteUses(apps, databases)
  // Counts announced changes, so that a lookup that began before a change is not cached.
  let changes = 0
  const invalidate = (companyId: Uuid | null) => {
    changes += 1
    places.forget(companyId)
    for (const [text, { session }] of cached) {
      if (companyId === null || session.company.id === companyId) cached.delete(text)
    }
  }
  // If the connection that receives changes of a place is lost, nothing of it is cached.
  for (const one of notifications) receiveChanges(one, invalidate)

  const findIn = databases.map((db) =>
    createBatcher((ids: Uuid[]) => findActiveKeys(db, ids), LOOKUPS),
  )
  const find = apps.length === 1 ? findIn[0]! : finderInPlaces(places, findIn)

  async function look(text: string): Promise<Session | null> {
    const informed = notifications.map((one) => one.alive())
    const before = changes
    // Look up, hash and compare in any case, so that the time does not show whether a key exists.
    const found = await find(keyIdOf(text) ?? newId())
    const stored = found ? found.key.hash : NO_HASH
    // All are compared, so that the time does not show which of them is right.
    const matches = hashesOf(vault, text).filter((hash) => timingSafeEqual(hash, stored)).length > 0
    if (!found || !matches) {
      cached.delete(text)
      return null
    }
    const { company, key, place = 0 } = found as ActiveKey & { place?: number }
    const author = { kind: 'key', id: key.id, name: key.name } as const
    const scopes = new Set(key.scopes)
    const session: Session = { app: apps[place]!, company, keyId: key.id, scopes, author }
    if (cached.size >= MAX_CACHED) cached.clear()
    if (changes === before && informed[place]) {
      cached.set(text, { session, until_ms: performance.now() + CACHED_MS })
    }
    return session
  }

  return {
    findCached(text) {
      const known = cached.get(text)
      return known && known.until_ms > performance.now() ? used(known.session) : null
    },
    isFamiliar: (text) => cached.has(text),
    async find(text) {
      const session = await look(text)
      return session && used(session)
    },
    flush,
  }
}

/** A key that is older than the present secret has a hash of a former one. */
const hashesOf = (vault: Vault, text: string): Buffer[] =>
  vault.forms((by) => by.hashKey(text)).filter(({ length }) => length === NO_HASH.length)

/** Notes when keys are used, in the place of each. */
function noteUses(apps: readonly FullApp[], databases: readonly Database[]) {
  const uses = apps.map(() => new Map<Uuid, { companyId: Uuid; at: Date }>())
  return {
    used(session: Session): Session {
      const inPlace = uses[apps.indexOf(session.app)]!
      const last = inPlace.get(session.keyId)
      if (last) last.at = new Date()
      else inPlace.set(session.keyId, { companyId: session.company.id, at: new Date() })
      return session
    },
    async flush(): Promise<void> {
      await Promise.all(
        databases.map(async (db, i) => {
          const written = uses[i]!
          if (written.size === 0) return
          uses[i] = new Map()
          await touchKeys(db, written).catch((error) => {
            apps[i]!.log.warn(describeError(error), 'the last uses of keys are not written yet')
            // They are written the next time. Newer uses replace them.
            if (written.size + uses[i]!.size <= MAX_USES)
              uses[i] = new Map([...written, ...uses[i]!])
          })
        }),
      )
    },
  }
}

type FindKey = (id: Uuid) => Promise<ActiveKey | null>

/**
 * Asks all places for a key, because its id does not say where it is. While a company moves, two
 * places may have it: the directory says in which of them it lives. A place that does not answer is
 * missed only by its own companies.
 */
function finderInPlaces(places: Places, findIn: FindKey[]) {
  return async (id: Uuid): Promise<(ActiveKey & { place: number }) | null> => {
    const questions = findIn.map((find) => find(id))
    const first = await firstOf(questions, (found) => found !== null)
    if (first === null) {
      // If a place does not answer, the key may be there.
      await Promise.all(questions)
      return null
    }
    const { company } = (await questions[first])!
    const found = await places.find(company.id, true)
    const place = found ? places.all.indexOf(found) : -1
    const there = place < 0 ? null : await (place === first ? questions[first] : findIn[place]!(id))
    return there ? { ...there, place } : null
  }
}

/** The key in X-API-KEY. Agents send it as a bearer token instead, as their protocol wants it. */
export function keyIn(headers: IncomingHttpHeaders, takesBearer: boolean): string | null {
  const key = headers['x-api-key']
  if (typeof key === 'string' && key !== '') return key
  return takesBearer ? (/^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? null) : null
}

export function requireScope(session: Pick<Session, 'scopes' | 'company'>, scope: Scope): void {
  if (!session.scopes.has(scope)) {
    throw problem('insufficient_scope', `This operation needs a key with the scope ${scope}.`)
  }
  if (session.company.suspendedAt !== null && scope.endsWith(':write')) {
    throw problem(
      'company_suspended',
      'The operator of this service has suspended the company. Its data can be read, and nothing can be changed. Ask the operator.',
    )
  }
}
