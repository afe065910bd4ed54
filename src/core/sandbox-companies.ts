import type { Tx } from '../db/database.ts'
import { assert } from '../lib/assert.ts'
import { clientName } from '../lib/client-name.ts'
import type { Uuid } from '../lib/ids.ts'
import type { RateLimit } from '../lib/limits.ts'
import { problem } from '../lib/problems.ts'
import { recordActivity } from './activity/record.ts'
import type { Author } from './activity/rules.ts'
import type { App, Uses } from './app.ts'
import { stopClock } from './clocks/commands.ts'
import { createCompany, createKey, revokeAllKeys } from './companies/commands.ts'
import { type Company, requireSandbox, type Scope } from './companies/rules.ts'
import { findCompany } from './companies/store.ts'
import { LEFT_BEHIND, lockCompany, removeCompany } from './company-tables/remove.ts'
import { readTables } from './company-tables/tables.ts'
import {
  GRACE_S,
  MAX_LIFETIME_S,
  MAX_SANDBOXES,
  notRemovable,
  onlyMaker,
  REMOVED_S,
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
    [newSandboxes.byAddress, clientName(address ?? undefined)],
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
  if (await store.find(tx, company.id)) throw onlyMaker()
  const now = systemClock.now()
  // Requests at once wait for each other, and one that was let in before a suspension sees it.
  const maker = await findCompany(tx, company.id, 'for no key update of c')
  assert(maker, 'whoever makes a sandbox is never removed')
  if (maker.suspendedAt) throw problem('company_suspended')
  const { count, first } = await store.countOf(tx, maker.id)
  if (count >= MAX_SANDBOXES) {
    throw tooMany(Math.ceil((first!.getTime() - now.getTime()) / 1000) + REMOVED_S)
  }
  const { id: _, pixKey: __, ...fields } = maker
  const made = await createCompany(tx, fields, now)
  const expiresAt = new Date(now.getTime() + expiresIn * 1000)
  await store.insert(tx, { companyId: made.id, madeBy: maker.id, expiresAt })
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

/** Nothing can be done there any more. Some time later all that it has is removed. */
async function end(tx: Tx, companyId: Uuid, now: Date): Promise<void> {
  await stopWork(tx, companyId, now)
  await store.end(tx, companyId, now)
  await revokeAllKeys(tx, companyId, now)
}

/** Ends all sandboxes of a company at once. */
export async function endSandboxesOf(tx: Tx, madeBy: Uuid, now: Date): Promise<void> {
  for (const companyId of await store.listOf(tx, madeBy)) {
    await store.expire(tx, companyId, now)
    await end(tx, companyId, now)
  }
}

const PAGE = 100

/**
 * Ends sandboxes whose time is over, and removes those that have ended a while ago. If one cannot
 * be removed, the others are, and then it is thrown.
 */
export async function removeSandboxes(app: App, signal?: AbortSignal, page = PAGE): Promise<void> {
  const now = app.systemClock.now()
  const before = new Date(now.getTime() - GRACE_S * 1000)
  const errors: unknown[] = []
  const goOver = async (
    list: typeof store.listEnded,
    by: Date,
    act: (id: Uuid) => Promise<void>,
  ) => {
    const tried: Uuid[] = []
    for (;;) {
      const found = await list(app.db, by, tried, page)
      for (const companyId of found) {
        if (signal?.aborted) return
        await act(companyId).catch((error) => errors.push(error))
      }
      if (found.length < page) return
      tried.push(...found)
    }
  }
  await goOver(store.listExpired, now, (id) => app.db.transaction((tx) => end(tx, id, now)))
  await goOver(store.listEnded, before, (id) => removeData(app, id))
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
