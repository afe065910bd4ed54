import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { OperatorFault } from '../lib/operator-fault.ts'
import { databaseFault } from './database-fault.ts'

export type Migration = { version: number; name: string; sql: string; checksum: string }

/** A database that this version cannot work with; the sentence says what to do. */
export class MigrationFault extends OperatorFault {
  override name = 'MigrationFault'
}

const FOLDER = join(import.meta.dirname, '..', '..', 'migrations')
const LOCK = 0x76696e74 // "vint": only one process migrates at a time

export function readMigrations(folder = FOLDER): Migration[] {
  const names = readdirSync(folder)
    .filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name))
    .sort()
  return names.map((name, i) => {
    const sql = readFileSync(join(folder, name), 'utf8')
    const version = Number(name.slice(0, 4))
    if (version !== i + 1) throw new MigrationFault(`Migration ${name} is out of order.`)
    return { version, name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
  })
}

type Applied = { version: number; name: string; checksum: string }

/**
 * Forward only. Refuses a database that is newer than the code, or whose history is another one.
 */
export function pendingOf(known: Migration[], applied: Applied[]): Migration[] {
  for (const { version, name, checksum } of applied) {
    const ours = known[version - 1]
    if (!ours) {
      throw new MigrationFault(
        `The database is newer than this version of Vintém (it has migration ${name}). Upgrade Vintém, or restore a backup made before that upgrade.`,
      )
    }
    if (ours.checksum !== checksum) {
      throw new MigrationFault(
        `Migration ${name} was applied with other contents than this version has.`,
      )
    }
  }
  return known.slice(applied.length)
}

async function readApplied(client: pg.Client): Promise<Applied[]> {
  await client.query(
    `create table if not exists schema_migrations (
       version integer primary key, name text not null, checksum text not null,
       applied_at timestamptz not null default now())`,
  )
  const found = await client.query<Applied>(
    'select version, name, checksum from schema_migrations order by version',
  )
  return found.rows
}

async function apply(
  client: pg.Client,
  { version, name, checksum, sql }: Migration,
): Promise<void> {
  await client.query('begin')
  try {
    await client.query(sql)
    await client.query(
      'insert into schema_migrations (version, name, checksum) values ($1, $2, $3)',
      [version, name, checksum],
    )
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw new MigrationFault(`Migration ${name} failed: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

/** Brings the database to this version of the code and tells which migrations that took. */
export async function migrate(url: string, migrations = readMigrations()): Promise<string[]> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'vintem migrate',
    connectionTimeoutMillis: 10_000,
  })
  await client.connect().catch((error) => {
    throw databaseFault(url, error)
  })
  try {
    await requireVersion(client)
    await client.query('select pg_advisory_lock($1)', [LOCK])
    const pending = pendingOf(migrations, await readApplied(client))
    for (const migration of pending) await apply(client, migration)
    return pending.map(({ name }) => name)
  } finally {
    await client.end()
  }
}

async function requireVersion(client: pg.Client): Promise<void> {
  const found = await client.query<{ number: number }>(
    `select current_setting('server_version_num')::int as number`,
  )
  const major = Math.floor(found.rows[0]!.number / 10_000)
  if (major < 15)
    throw new MigrationFault(`PostgreSQL 15 or newer is needed; this server is version ${major}.`)
}
