import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { end, freePort, startServer } from '../../bench/setup.ts'
import { createApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { createCompany, createKey } from '../../src/core/companies/commands.ts'
import type { FullApp } from '../../src/core/full-app.ts'
import { attachEmbedded } from '../../src/db/embedded/embedded.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/lib/log.ts'
import { LATEST } from '../../src/versions/history.ts'
import type { Scene, Shop, World } from './attack.ts'

export type OpenScene = Scene & {
  /** The longest time that the service's event loop was kept since this was last asked. */
  longestBlock_ms(): Promise<number>
  close(): Promise<void>
}

/** A sandbox company with a key of all scopes. */
export async function makeShop(app: FullApp, { email = 'dona@example.com' } = {}): Promise<Shop> {
  const fields = { name: 'Padaria São João', taxId: '11222333000181', email }
  const now = app.clock.now()
  return app.db.transaction(async (tx) => {
    const company = await createCompany(
      tx,
      { ...fields, mode: 'sandbox', apiVersion: LATEST.name },
      now,
    )
    const { text } = await createKey(tx, app.vault, company, { name: 'attack' }, now)
    return { id: company.id, key: text }
  })
}

/**
 * The service with its worker in a process of its own, with all limits as they are by default. It
 * runs in local mode, the only one that delivers to loopback addresses, with a database of its own
 * and a proxy that it believes, so that attackers have many addresses.
 */
export async function openScene(world: World, scale: number): Promise<OpenScene> {
  const DATA_DIR = mkdtempSync(join(tmpdir(), 'vintem-attack-'))
  const port = await freePort()
  const { DATABASE_URL: _, DATABASE_URL_FILE: __, ...inherited } = process.env
  const own = { DATA_DIR, PORT: String(port), SMTP_URL: world.smtpUrl }
  const environment = { ...own, TRUSTED_PROXIES: '127.0.0.1' }
  const watch = join(import.meta.dirname, 'loop-watch.ts')
  const env = { ...inherited, ...environment }
  const server = await startServer('src/main.ts', port, env, ['--import', watch])
  const embedded = await attachEmbedded({ dataDir: DATA_DIR })
  const config = readConfig(own)
  const url = `http://127.0.0.1:${port}`
  const parts = { config, databaseUrl: embedded.url, clock: systemClock, publicUrl: url }
  const app = createApp({ ...parts, log: createLog('error') })
  return {
    url,
    app,
    world,
    scale,
    company: (fields) => makeShop(app, fields),
    longestBlock_ms: () => longestBlock_ms(server),
    async close() {
      app.mailer.close()
      await app.sender.close()
      await app.providers.bacen.close()
      await app.db.end()
      await embedded.stop()
      await end(server)
      rmSync(DATA_DIR, { recursive: true, force: true })
    },
  }
}

async function longestBlock_ms(server: ChildProcess): Promise<number> {
  const reported = once(server, 'message')
  server.send('longest block')
  const [{ longest_ms }] = await reported
  return longest_ms
}
