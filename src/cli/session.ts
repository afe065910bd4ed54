import { type Config, loadConfig } from '../config.ts'
import { type Database, isAway, openDatabase } from '../db/database.ts'
import { attachEmbedded } from '../db/embedded.ts'
import { migrate } from '../db/migrate.ts'
import { createVault, type Vault } from '../lib/vault.ts'
import { Refusal } from './command.ts'

export type Connection = { url: string; db: Database; close(): Promise<void> }

const INTERRUPTED = 130

/** Reaches the database. An interrupted command leaves no PostgreSQL of its own behind. */
export function openConnection(config: Config): Promise<Connection> {
  const opening = open(config)
  const leave = () => opening.then(({ close }) => close()).finally(() => process.exit(INTERRUPTED))
  process.once('SIGINT', leave).once('SIGTERM', leave)
  return opening
}

async function open(config: Config): Promise<Connection> {
  for (let attempt = 1; ; attempt += 1) {
    const embedded = config.databaseUrl ? null : await attachEmbedded({ dataDir: config.dataDir })
    const url = config.databaseUrl ?? embedded!.url
    const db = openDatabase(url, 2)
    const close = () => db.end().then(() => embedded?.stop())
    try {
      await db.query({ text: 'select 1' })
      return { url, db, close }
    } catch (error) {
      await close()
      // Whoever ran the embedded database that we joined may have been about to end.
      if (!embedded || embedded.owned || attempt === 3) throw refused(url, error)
    }
  }
}

/** Says which database does not let us in, but not with which password. */
function refused(url: string, error: unknown): Refusal {
  const { hostname, port } = new URL(url)
  const place = `The database at ${hostname || 'localhost'}:${port || 5432}`
  const { code, message } = error as { code?: string; message: string }
  return new Refusal(
    isAway(error) || !message
      ? `${place} cannot be reached (${message || code}). Check that it runs and that DATABASE_URL is right.`
      : `${place} does not let us in: ${message}. Check DATABASE_URL.`,
  )
}

export type Session = { db: Database; vault: Vault }

/** Acts on a migrated database that was set up with our secret, and closes what was opened. */
export async function withDatabase<R>(act: (session: Session) => Promise<R>): Promise<R> {
  const config = loadConfig()
  const vault = createVault(config.secretKey)
  const { url, db, close } = await openConnection(config)
  try {
    await migrate(url)
    // Loaded only here, because it brings the whole HTTP side along and help should not wait for it.
    const { requireSameSecret } = await import('../service.ts')
    await requireSameSecret(db, vault)
    return await act({ db, vault })
  } finally {
    await close()
  }
}
