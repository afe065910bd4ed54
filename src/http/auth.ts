import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Author } from '../core/activity/rules.ts'
import { receiveChanges } from '../core/companies/announce.ts'
import { keyIdOf } from '../core/companies/keys.ts'
import type { Company, Scope } from '../core/companies/rules.ts'
import { findActiveKeys, touchKeys } from '../core/companies/store.ts'
import type { Database } from '../db/database.ts'
import type { Notifications } from '../db/notifications.ts'
import { createBatcher } from '../lib/batch.ts'
import { newId, type Uuid } from '../lib/ids.ts'
import { problem } from '../lib/problems.ts'
import type { Vault } from '../lib/vault.ts'

export type Session = {
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
  /** Writes when keys were last used to the database. */
  flush(): Promise<void>
}

/** How long a key is cached. If a change of its company is announced, the entry is removed. */
const CACHED_MS = 10_000
const MAX_CACHED = 10_000
const NO_HASH = Buffer.alloc(32)
/** Lookups are grouped, so that guessed keys cost one query for many. */
const LOOKUPS = { max: 100, concurrency: 2 }

export function createKeyRing(db: Database, vault: Vault, notifications: Notifications): KeyRing {
  const cached = new Map<string, { session: Session; until_ms: number }>()
  const uses = new Map<Uuid, { companyId: Uuid; at: Date }>()
  // Counts announced changes, so that a lookup that began before a change is not cached.
  let changes = 0
  const invalidate = (companyId: Uuid | null) => {
    changes += 1
    for (const [text, { session }] of cached) {
      if (companyId === null || session.company.id === companyId) cached.delete(text)
    }
  }
  // If the connection that receives changes is lost, nothing is cached.
  receiveChanges(notifications, invalidate)

  const findActive = createBatcher((ids: Uuid[]) => findActiveKeys(db, ids), LOOKUPS)

  async function look(text: string): Promise<Session | null> {
    const before = notifications.alive() ? changes : Number.NaN
    // Look up, hash and compare in any case, so that the time does not show whether a key exists.
    const found = await findActive(keyIdOf(text) ?? newId())
    const matches = timingSafeEqual(vault.hashKey(text), found ? found.key.hash : NO_HASH)
    if (!found || !matches) return null
    const { company, key } = found
    const author = { kind: 'key', id: key.id, name: key.name } as const
    const session: Session = { company, keyId: key.id, scopes: new Set(key.scopes), author }
    if (cached.size >= MAX_CACHED) cached.clear()
    if (changes === before) {
      cached.set(text, { session, until_ms: performance.now() + CACHED_MS })
    }
    return session
  }

  function used(session: Session): Session {
    const last = uses.get(session.keyId)
    if (last) last.at = new Date()
    else uses.set(session.keyId, { companyId: session.company.id, at: new Date() })
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
    async flush() {
      if (uses.size === 0) return
      const written = new Map(uses)
      uses.clear()
      await touchKeys(db, written)
    },
  }
}

/** The key in X-API-KEY. Agents send it as a bearer token instead, as their protocol wants it. */
export function keyIn(headers: IncomingHttpHeaders, takesBearer: boolean): string | null {
  const key = headers['x-api-key']
  if (typeof key === 'string' && key !== '') return key
  return takesBearer ? (/^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? null) : null
}

export function requireScope(session: Session, scope: Scope): void {
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
