import { type Config, loadConfig } from '../config.ts'
import { waitUntilApplied, waitUntilAppliedAt } from '../core/companies/announce.ts'
import type { FullApp } from '../core/full-app.ts'
import { requireSameSecret } from '../core/installation.ts'
import { type Database, openDatabase } from '../db/database.ts'
import { databaseFault } from '../db/database-fault.ts'
import { attachEmbedded } from '../db/embedded/embedded.ts'
import { migrate } from '../db/migrate.ts'
import { systemClock } from '../lib/clock.ts'
import { createLog } from '../lib/log.ts'
import { createVault, type Vault } from '../lib/vault.ts'
import { addressOfServer } from '../running.ts'
import { createApp } from '../service.ts'

export type Connection = {
  url: string
  db: Database
  /** Where the service is reached: in local mode as the running server says. */
  publicUrl: string
  close(): Promise<void>
}

const INTERRUPTED = 130
const NOT_CONFIRMED = 'A running server has not confirmed this yet; it will within ten seconds.\n'

/** Reaches the database. An interrupted command leaves no PostgreSQL of its own behind. */
export function openConnection(config: Config): Promise<Connection> {
  const opening = open(config)
  const leave = () => opening.then(({ close }) => close()).finally(() => process.exit(INTERRUPTED))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, leave)
  return opening
}

async function open(config: Config): Promise<Connection> {
  const { databaseUrl, dataDir } = config
  const embedded = databaseUrl ? null : await attachEmbedded({ dataDir })
  const url = databaseUrl ?? embedded!.url
  const db = openDatabase(url, 2)
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= db.end().then(() => embedded?.stop())
    return closing
  }
  try {
    // A connection of its own is not waited for, unlike one for a statement.
    const { release } = await db.connect()
    release()
    // If this command runs the database itself, no server does.
    const publicUrl = (embedded?.owned ? null : addressOfServer(config)) ?? config.publicUrl
    return { url, db, publicUrl, close }
  } catch (error) {
    await close()
    throw databaseFault(url, error)
  }
}

export type Session = {
  db: Database
  vault: Vault
  /** Waits until every running server knows of what was changed; says so when one does not. */
  waitForServers(): Promise<string>
}

/** Acts on a migrated database that was set up with our secret, and closes what was opened. */
export async function withDatabase<R>(act: (session: Session) => Promise<R>): Promise<R> {
  const config = loadConfig()
  const vault = createVault(config.secretKey)
  const { url, db, close } = await openConnection(config)
  try {
    await migrate(url)
    await requireSameSecret(db, vault)
    return await act({ db, vault, waitForServers: () => waitForServers(url) })
  } finally {
    await close()
  }
}

/** Acts with all that a server acts with, for commands that need more than the database. */
export async function withApp<R>(act: (app: FullApp) => Promise<R>): Promise<R> {
  const config = loadConfig()
  const { url, publicUrl, close } = await openConnection(config)
  const log = createLog('silent')
  const app = createApp({ config, databaseUrl: url, clock: systemClock, log, publicUrl })
  try {
    await migrate(url)
    await requireSameSecret(app.db, app.vault)
    return await act(app)
  } finally {
    await app.providers.bacen.close()
    await app.db.end()
    await close()
  }
}

async function waitForServers(url: string): Promise<string> {
  return (await waitUntilAppliedAt(url)) ? '' : NOT_CONFIRMED
}

/** The same as `waitForServers`, for a command that has an app. */
export const waitForServersOf = async ({ db }: FullApp): Promise<string> =>
  (await waitUntilApplied(db)) ? '' : NOT_CONFIRMED
