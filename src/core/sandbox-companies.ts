import type { Tx } from '../db/database.ts'
import type { Uuid } from '../lib/ids.ts'
import type { RateLimit } from '../lib/limits.ts'
import { recordActivity } from './activity/record.ts'
import type { Author } from './activity/rules.ts'
import type { App, Uses } from './app.ts'
import { stopClock } from './clocks/commands.ts'
import { createCompany, createKey, revokeAllKeys } from './companies/commands.ts'
import { type Company, requireSandbox, type Scope } from './companies/rules.ts'
import { LEFT_BEHIND, lockCompany, removeCompany } from './company-tables/remove.ts'
import { readTables } from './company-tables/tables.ts'
import {
  MAX_LIFETIME_S,
  MAX_SANDBOXES,
  notRemovable,
  tooMany,
  tooOften,
} from './sandboxes/rules.ts'
import * as store from './sandboxes/store.ts'
import { deactivateAll } from './webhooks/store.ts'

type Wanted = { expiresIn?: number; author: Author; scopes: ReadonlySet<Scope> }

/** Refuses whoever makes too many, before anything is written. */
export async function requireRare(
  { newSandboxes }: Uses<'newSandboxes'>,
  { id, mode }: Company,
  { address }: Author,
): Promise<void> {
  requireSandbox({ mode })
  const limits: [RateLimit | null, string][] = [
    [newSandboxes.byAddress, address ?? ''],
    [newSandboxes.byCompany, id],
  ]
  for (const [limit, name] of limits) {
    const wait_s = limit ? await limit.take(name) : 0
    if (wait_s > 0) throw tooOften(wait_s)
  }
}

/** Makes a sandbox company with the settings of another, and a key that may do as much as this. */
export async function makeSandbox(
  tx: Tx,
  { systemClock, vault }: Uses<'systemClock' | 'vault'>,
  company: Company,
  { expiresIn = MAX_LIFETIME_S, author, scopes }: Wanted,
): Promise<{ companyId: Uuid; apiKey: string; expiresAt: Date }> {
  requireSandbox(company)
  const now = systemClock.now()
  // One that makes others makes them for whoever has made it, so that they stay as few.
  const madeBy = (await store.find(tx, company.id))?.madeBy ?? company.id
  const { count, first } = await store.countOf(tx, madeBy, now)
  if (count >= MAX_SANDBOXES) {
    throw tooMany(Math.ceil((first!.getTime() - now.getTime()) / 1000))
  }
  const { id: _, pixKey: __, ...fields } = company
  const made = await createCompany(tx, fields, now)
  const expiresAt = new Date(now.getTime() + expiresIn * 1000)
  await store.insert(tx, { companyId: made.id, madeBy, expiresAt })
  const record = { type: 'company', id: made.id } as const
  await recordActivity(tx, made.id, author, { action: 'company.create', record })
  const options = { name: 'sandbox', scopes: [...scopes] }
  const { text } = await createKey(tx, vault, made, options, now)
  return { companyId: made.id, apiKey: text, expiresAt }
}

/**
 * Ends the time of a sandbox. Its keys work for another moment, so that a request whose answer was
 * lost can be repeated.
 */
export async function expireSandbox(
  tx: Tx,
  { systemClock }: Uses<'systemClock'>,
  { id }: Company,
): Promise<boolean> {
  const sandbox = await store.find(tx, id, 'for update')
  if (!sandbox) throw notRemovable()
  const now = systemClock.now()
  if (sandbox.expiresAt <= now) return false
  await store.expire(tx, id, now)
  await stopWork(tx, id, now)
  return true
}

/** Nothing is sent any more, and its time stands still. */
async function stopWork(tx: Tx, companyId: Uuid, now: Date): Promise<void> {
  await deactivateAll(tx, companyId, now)
  await stopClock(tx, companyId)
}

/** Longer than what a request, a task or an audit does that has begun before. */
const GRACE_MS = 120_000

/**
 * Ends sandboxes whose time is over, and removes those that have ended a while ago. If one cannot
 * be removed, the others are, and then it is thrown.
 */
export async function removeSandboxes(app: App, signal?: AbortSignal): Promise<void> {
  const now = app.systemClock.now()
  for (const companyId of await store.listExpired(app.db, now)) {
    await app.db.transaction(async (tx) => {
      await stopWork(tx, companyId, now)
      await store.end(tx, companyId, now)
      await revokeAllKeys(tx, companyId, now)
    })
  }
  const errors: unknown[] = []
  for (const companyId of await store.listEnded(app.db, new Date(now.getTime() - GRACE_MS))) {
    if (signal?.aborted) break
    await removeData(app, companyId).catch((error) => errors.push(error))
  }
  if (errors.length > 0) throw errors[0]
}

/** If it is killed anywhere, what is left is removed the next time: the company goes last. */
async function removeData({ db }: App, companyId: Uuid): Promise<void> {
  await store.removeMembers(db.control, companyId)
  const { client, release } = await db.connect()
  try {
    await client.query(LEFT_BEHIND)
    if (!(await lockCompany(client, companyId))) return
    await removeCompany(client, await readTables(client), companyId)
  } finally {
    // The connection has the settings and the lock, which end with it.
    release(true)
  }
}
