import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { recordActivity } from './core/activity/record.ts'
import { type Author, SERVICE } from './core/activity/rules.ts'
import { stopClock } from './core/clocks/commands.ts'
import { waitUntilApplied } from './core/companies/announce.ts'
import { withCompanyClock } from './core/companies/clock.ts'
import { createCompany, createKey, revokeAllKeys } from './core/companies/commands.ts'
import { keyIdOf } from './core/companies/keys.ts'
import type { Company } from './core/companies/rules.ts'
import { findActiveKeys, findCompany } from './core/companies/store.ts'
import type { FullApp } from './core/full-app.ts'
import { moveMembers } from './core/people/member-store.ts'
import { addSandboxPerson } from './core/people/sandbox.ts'
import { endAtBank } from './core/recurrences/agreements.ts'
import { cancelRecurrence } from './core/recurrences/commands.ts'
import { asOf } from './core/recurrences/rules.ts'
import { listOpen } from './core/recurrences/store.ts'
import { deactivateAll } from './core/webhooks/store.ts'
import { isUuid } from './lib/ids.ts'
import { LATEST } from './versions/history.ts'

/** The company that local mode creates for trials, as `DATA_DIR/sandbox.json` names it. */
export type Sandbox = { companyId: string; apiKey: string; url: string }

const SANDBOX = {
  name: 'Padaria do Vintém',
  taxId: '11222333000181',
  email: 'sandbox@example.com',
  city: 'Sao Paulo',
  mode: 'sandbox',
  apiVersion: LATEST.name,
} as const

const pathOf = ({ config }: FullApp): string => join(config.dataDir, 'sandbox.json')

/** The sandbox of the last start, if its key still works. Otherwise a new company. */
export const openSandbox = (app: FullApp): Promise<Sandbox> =>
  withLock(app, async () => {
    const sandbox = (await findWorking(app)) ?? (await create(app))
    const now = app.systemClock.now()
    await app.db.control.transaction((tx) => addSandboxPerson(tx, sandbox.companyId, now))
    return write(app, sandbox)
  })

/**
 * Replaces the company of the sandbox with a new one. The records of the former one stay, but it
 * has no keys, sends no webhooks, and starts nothing new. Its people belong to the new one.
 */
export const resetSandbox = (app: FullApp, author: Author = SERVICE): Promise<Sandbox> =>
  withLock(app, async () => {
    const former = readSandbox(app)
    const isNamed = former !== null && isUuid(former.companyId)
    const company = isNamed ? await findCompany(app.db, former.companyId) : null
    if (company?.mode === 'sandbox') await retire(app, company, author)
    const created = await create(app)
    await app.db.control.transaction(async (tx) => {
      if (company?.mode === 'sandbox') await moveMembers(tx, company.id, created.companyId)
      await addSandboxPerson(tx, created.companyId, app.systemClock.now())
    })
    write(app, created)
    await waitUntilApplied(app.db)
    return created
  })

/** The number of the advisory lock. No other lock uses it. */
const LOCK = 0x76696e73

/**
 * Lets one process at a time choose the sandbox. The lock is held until the file is written, which
 * is after the commit of the company. It ends with its connection.
 */
async function withLock<R>({ db }: FullApp, act: () => Promise<R>): Promise<R> {
  const { client, release } = await db.connect()
  try {
    await client.query(`set lock_timeout = '20s'`)
    await client.query('select pg_advisory_lock($1)', [LOCK])
    return await act()
  } finally {
    release(true)
  }
}

/**
 * Ends the activity of a company. If a step fails, all steps can be repeated. Open charges and
 * one-time codes expire by themselves. Subscriptions are canceled, because they would not end.
 */
async function retire(app: FullApp, company: Company, author: Author): Promise<void> {
  const now = app.systemClock.now()
  await app.db.transaction(async (tx) => {
    await revokeAllKeys(tx, company.id, now)
    await deactivateAll(tx, company.id, now)
    await stopClock(tx, company.id)
    const record = { type: 'company', id: company.id } as const
    await recordActivity(tx, company.id, author, { action: 'sandbox.reset', record })
  })
  const own = withCompanyClock(app, (await findCompany(app.db, company.id))!)
  for (const recurrence of await listOpen(app.db, company.id)) {
    if (asOf(recurrence, own.clock.now()).status !== 'OPEN') continue
    await endAtBank(own, company, recurrence)
    await app.db.transaction((tx) => cancelRecurrence(tx, own, company.id, recurrence.id))
  }
}

function write(app: FullApp, sandbox: Sandbox): Sandbox {
  const path = pathOf(app)
  const current = { ...sandbox, url: app.publicUrl }
  writeFileSync(`${path}.new`, `${JSON.stringify(current, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${path}.new`, path)
  return current
}

async function findWorking(app: FullApp): Promise<Sandbox | null> {
  const sandbox = readSandbox(app)
  const keyId = sandbox ? keyIdOf(sandbox.apiKey) : null
  if (!sandbox || !keyId) return null
  const [found] = await findActiveKeys(app.db, [keyId])
  const hashes = app.vault.forms((by) => by.hashKey(sandbox.apiKey))
  return hashes.some((hash) => found?.key.hash.equals(hash)) ? sandbox : null
}

/** The sandbox of local mode, if it was opened. */
export function readSandbox(app: FullApp): Sandbox | null {
  if (!app.config.local) return null
  try {
    return JSON.parse(readFileSync(pathOf(app), 'utf8'))
  } catch {
    return null
  }
}

function create(app: FullApp): Promise<Sandbox> {
  return app.db.transaction(async (tx) => {
    const now = app.clock.now()
    const company = await createCompany(tx, SANDBOX, now)
    const record = { type: 'company', id: company.id } as const
    await recordActivity(tx, company.id, SERVICE, { action: 'company.create', record })
    const key = await createKey(tx, app.vault, company, { name: 'sandbox' }, now)
    return { companyId: company.id, apiKey: key.text, url: app.publicUrl }
  })
}
