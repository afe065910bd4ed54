import { createApp } from '../app.ts'
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

export type Connection = {
  url: string
  db: Database
  /** The URL of the service. In local mode it is that of the running server. */
  publicUrl: string
  close(): Promise<void>
}

const INTERRUPTED = 130
const NOT_CONFIRMED = 'A running server has not confirmed this yet; it will within ten seconds.\n'

/** Connects to the database. If the command is interrupted, stops the PostgreSQL it started. */
export function openConnection(config: Config): Promise<Connection> {
  const opening = open(config)
  const stop = () => opening.then(({ close }) => close()).finally(() => process.exit(INTERRUPTED))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, stop)
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
    // Connect once here, because this fails at once, and a statement would wait and retry.
    const { release } = await db.connect()
    release()
    // If this command has started the database, no server is running.
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
  /** Waits until every running server has applied a change. If one has not, returns a notice. */
  waitForServers(): Promise<string>
}

/** Runs a command with a migrated database that was set up with our secret, and then closes it. */
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

/** Runs a command with a whole app, for commands that need more than the database. */
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
