import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from './core/app.ts'
import { createCompany, createKey } from './core/companies/commands.ts'
import { keyIdOf } from './core/companies/keys.ts'
import { findActiveKey } from './core/companies/store.ts'
import { LATEST } from './versions/history.ts'

/** The company that local mode is ready to try at once, as `DATA_DIR/sandbox.json` holds it. */
export type Sandbox = { companyId: string; apiKey: string; url: string }

const SANDBOX = {
  name: 'Padaria do Vintém',
  taxId: '11222333000181',
  email: 'sandbox@example.com',
  city: 'Sao Paulo',
  mode: 'sandbox',
  apiVersion: LATEST.name,
} as const

const pathOf = ({ config }: App): string => join(config.dataDir, 'sandbox.json')

/** The sandbox of the last start when its key still works, otherwise a new company. */
export async function openSandbox(app: App): Promise<Sandbox> {
  const path = pathOf(app)
  const sandbox = (await kept(app)) ?? (await make(app))
  const current = { ...sandbox, url: app.publicUrl }
  writeFileSync(`${path}.new`, `${JSON.stringify(current, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${path}.new`, path)
  return current
}

async function kept(app: App): Promise<Sandbox | null> {
  const sandbox = readSandbox(app)
  const keyId = sandbox ? keyIdOf(sandbox.apiKey) : null
  if (!sandbox || !keyId) return null
  const found = await findActiveKey(app.db, keyId)
  return found?.key.hash.equals(app.vault.hashKey(sandbox.apiKey)) ? sandbox : null
}

/** The sandbox of local mode, if it was opened. */
export function readSandbox(app: App): Sandbox | null {
  if (!app.config.local) return null
  try {
    return JSON.parse(readFileSync(pathOf(app), 'utf8'))
  } catch {
    return null
  }
}

function make(app: App): Promise<Sandbox> {
  return app.db.transaction(async (tx) => {
    const now = app.clock.now()
    const company = await createCompany(tx, SANDBOX, now)
    const key = await createKey(tx, app.vault, company, { name: 'sandbox' }, now)
    return { companyId: company.id, apiKey: key.text, url: app.publicUrl }
  })
}
