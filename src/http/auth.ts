import { timingSafeEqual } from 'node:crypto'
import { listen } from '../core/companies/announce.ts'
import { keyIdOf } from '../core/companies/keys.ts'
import type { Company, Scope } from '../core/companies/rules.ts'
import { findActiveKeys, touchKeys } from '../core/companies/store.ts'
import type { Database } from '../db/database.ts'
import { createBatcher } from '../lib/batch.ts'
import { newId, type Uuid } from '../lib/ids.ts'
import { describeError, type Log } from '../lib/log.ts'
import { problem } from '../lib/problems.ts'
import type { Vault } from '../lib/vault.ts'

export type Session = { company: Company; keyId: Uuid; scopes: Set<Scope> }

export type KeyRing = {
  /** The company of a key that is remembered, or null. */
  recall(text: string): Session | null
  /** Whether the key has worked here before, and no change was received since that would end it. */
  isFamiliar(text: string): boolean
  /** The company of a key, or null when the key is unknown or revoked. */
  find(text: string): Promise<Session | null>
  /** Writes down when keys were last used. */
  flush(): Promise<void>
  close(): Promise<void>
}

/**
 * How long a key is believed without asking; a change announced by an operator ends that at once.
 */
const BELIEVED_MS = 10_000
const MAX_REMEMBERED = 10_000
const NO_HASH = Buffer.alloc(32)
/** Whoever guesses costs one query for many keys. */
const LOOKUPS = { max: 100, concurrency: 2 }

export function createKeyRing(db: Database, vault: Vault, databaseUrl: string, log: Log): KeyRing {
  const remembered = new Map<string, { session: Session; until_ms: number }>()
  const uses = new Map<Uuid, { companyId: Uuid; at: Date }>()
  // Counts announced changes, so that a lookup that began before a change is not remembered.
  let changes = 0
  const forget = (companyId: Uuid | null) => {
    changes += 1
    for (const [text, { session }] of remembered) {
      if (companyId === null || session.company.id === companyId) remembered.delete(text)
    }
  }
  // Without a connection that receives changes, nothing may be remembered.
  const listener = listen(databaseUrl, forget, (error) =>
    log.warn(describeError(error), 'lost the connection that receives changes of companies'),
  )

  const findActive = createBatcher((ids: Uuid[]) => findActiveKeys(db, ids), LOOKUPS)

  async function look(text: string): Promise<Session | null> {
    const before = listener.alive() ? changes : Number.NaN
    // Looked up, hashed and compared in any case: a made-up key takes as long as a wrong one.
    const found = await findActive(keyIdOf(text) ?? newId())
    const matches = timingSafeEqual(vault.hashKey(text), found ? found.key.hash : NO_HASH)
    if (!found || !matches) return null
    const { company, key } = found
    const session: Session = { company, keyId: key.id, scopes: new Set(key.scopes) }
    if (remembered.size >= MAX_REMEMBERED) remembered.clear()
    if (changes === before) {
      remembered.set(text, { session, until_ms: performance.now() + BELIEVED_MS })
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
    recall(text) {
      const known = remembered.get(text)
      return known && known.until_ms > performance.now() ? used(known.session) : null
    },
    isFamiliar: (text) => remembered.has(text),
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
    close: () => listener.close(),
  }
}

export function requireScope(session: Session, scope: Scope): void {
  if (session.scopes.has(scope)) return
  throw problem('insufficient_scope', `This operation needs a key with the scope ${scope}.`)
}
