import type { Act, Database, Tx } from '../db/database.ts'
import type { Uuid } from '../lib/ids.ts'
import { LATEST } from '../versions/history.ts'
import { recordActivity } from './activity/record.ts'
import type { Author } from './activity/rules.ts'
import type { App } from './app.ts'
import { waitUntilApplied } from './companies/announce.ts'
import { createCompany, createKey, revokeKey } from './companies/commands.ts'
import { type NewCompany, SCOPES, type Scope } from './companies/rules.ts'
import { findCompany } from './companies/store.ts'
import { type IdempotencyRef, runOnce } from './idempotency.ts'
import { changeSuspension } from './operator/commands.ts'
import { mailNewKey } from './people/owner-mails.ts'
import { askAll } from './places/across.ts'
import { appsOf, type Front } from './places/front.ts'
import { countCompanies } from './places/store.ts'

type OperatorApp = Front<App>

/** Whoever asks for a company chooses its id, so that asking again makes no other. */
export type WantedCompany = NewCompany & { id: Uuid; apiVersion?: string; place?: number }

/** The text of a key is known only to whoever has just made it. */
export type MadeCompany = {
  companyId: Uuid
  isNew: boolean
  key: { id: Uuid; text: string } | null
}

/** The class of the advisory locks of ids that are being given to companies. */
const MAKERS = 1986618992

/** Makes a company with its first key, in the place that it names or the one with the fewest. */
export async function makeCompany(
  app: OperatorApp,
  { id, place, ...fields }: WantedCompany,
  author: Author,
): Promise<MadeCompany> {
  const { control } = app.db
  const home = await placeFor(app, place)
  const make = (tx: Tx) => insert(tx, app, { ...fields, id }, author)
  // Two requests with one id may have chosen two places. The lock ends after the company is made.
  return control.transaction(async (lock) => {
    await lock.query({
      text: 'select pg_advisory_xact_lock($1, hashtext($2))',
      values: [MAKERS, id],
    })
    // Nobody takes a second connection of one pool, because then all could wait for each other.
    const isLocked = (db: Database) => db.pools === control.pools
    const known = await askAll(app, (db) => findCompany(isLocked(db) ? lock : db, id))
    if (known.some((found) => found !== null)) return { companyId: id, isNew: false, key: null }
    return isLocked(home.db) ? make(lock) : home.db.transaction(make)
  })
}

async function insert(
  tx: Tx,
  { systemClock, vault }: OperatorApp,
  { id, ...fields }: WantedCompany,
  author: Author,
): Promise<MadeCompany> {
  const now = systemClock.now()
  const company = await createCompany(tx, { apiVersion: LATEST.name, ...fields, id }, now)
  const key = await createKey(tx, vault, company, { name: 'first' }, now)
  await recordActivity(tx, id, author, {
    action: 'company.create',
    record: { type: 'company', id },
  })
  await recordActivity(tx, id, author, {
    action: 'key.create',
    record: { type: 'key', id: key.id },
    details: { name: 'first' },
  })
  return { companyId: id, isNew: true, key }
}

/** How many places there are, for whoever names one. */
export const placesOf = (app: OperatorApp): number => appsOf(app).length

async function placeFor(app: OperatorApp, place: number | undefined) {
  const apps = appsOf(app)
  if (apps.length === 1) return apps[0]!
  if (place !== undefined) return apps[place - 1]!
  const counts = await askAll(app, countCompanies)
  return apps[counts.indexOf(Math.min(...counts))]!
}

export type Changed = { companyId: Uuid; status: 'changed' | 'unchanged' | 'unknown' }

/** Suspends companies or resumes them. Those that are so already, or unknown, stop no other. */
export async function suspendCompanies(
  app: OperatorApp,
  ids: Uuid[],
  isSuspended: boolean,
  author: Author,
): Promise<Changed[]> {
  const changed: Changed[] = []
  const now = app.systemClock.now()
  for (const companyId of ids) {
    const home = await app.places.find(companyId)
    const done = await home?.db.transaction(async (tx) => {
      if (!(await findCompany(tx, companyId))) return null
      return changeSuspension(tx, companyId, isSuspended, author, now)
    })
    const status = done == null ? 'unknown' : done ? 'changed' : 'unchanged'
    changed.push({ companyId, status })
  }
  await waitUntilAllApplied(app)
  return changed
}

export type WantedKey = { companyId: Uuid; name: string; scopes?: Scope[] }

export type MadeKey = { companyId: Uuid } & (
  | { status: 'created'; id: Uuid; text: string }
  | { status: 'unknown' }
)

/**
 * Makes a key of a company, and writes to its owners if the key can move money. If it is asked for
 * again with the same `once`, returns the key of the first time, with its text.
 */
export async function makeKey(
  app: OperatorApp,
  { companyId, name, scopes = SCOPES }: WantedKey,
  author: Author,
  once: IdempotencyRef | null = null,
): Promise<MadeKey> {
  const home = await app.places.find(companyId)
  if (!home) return { companyId, status: 'unknown' }
  const now = app.systemClock.now()
  const make: Act<MadeKey> = async (tx, control) => {
    const company = await findCompany(tx, companyId)
    if (!company) return { companyId, status: 'unknown' }
    const key = await createKey(tx, app.vault, company, { name, scopes }, now)
    await mailNewKey(tx, control, app.vault, company, { name, scopes }, null, now)
    await recordActivity(tx, companyId, author, {
      action: 'key.create',
      record: { type: 'key', id: key.id },
      details: { name, scopes: [...scopes] },
    })
    return { companyId, status: 'created', ...key }
  }
  if (!once) return home.db.transaction(make)
  return runOnce(home.db, app.vault, { companyId, ...once }, await home.clockWatch.now(), make)
}

export type RevokedKey = { companyId: Uuid; id: Uuid; status: 'revoked' | 'unknown' }

/** Revokes keys. Those that are unknown stop no other. */
export async function revokeKeys(
  app: OperatorApp,
  keys: { companyId: Uuid; id: Uuid }[],
  author: Author,
): Promise<RevokedKey[]> {
  const revoked: RevokedKey[] = []
  for (const { companyId, id } of keys) {
    const home = await app.places.find(companyId)
    const isDone = await home?.db.transaction(async (tx) => {
      if (!(await revokeKey(tx, companyId, id, app.systemClock.now()))) return false
      await recordActivity(tx, companyId, author, {
        action: 'key.revoke',
        record: { type: 'key', id },
      })
      return true
    })
    revoked.push({ companyId, id, status: isDone ? 'revoked' : 'unknown' })
  }
  await waitUntilAllApplied(app)
  return revoked
}

/** Servers cache keys and companies. After this none of them answers by what was before. */
async function waitUntilAllApplied(app: OperatorApp): Promise<void> {
  await askAll(app, (db) => waitUntilApplied(db))
}
