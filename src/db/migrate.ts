import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { OperatorFault } from '../lib/operator-fault.ts'
import { splitHosts } from './address.ts'
import { adaptFunctions, allowTriggers, atNode, type Citus, readCitus } from './citus.ts'
import type { Row, Tx } from './database.ts'
import { databaseFault } from './database-fault.ts'
import { isOutside, runOutside } from './migrate-outside.ts'
import { createClient } from './servers.ts'

export type Migration = { version: number; name: string; sql: string; checksum: string }

/** A database that this version cannot work with; the sentence says what to do. */
export class MigrationFault extends OperatorFault {
  override name = 'MigrationFault'
}

const FOLDER = join(import.meta.dirname, '..', '..', 'migrations')
const LOCK = 0x76696e74 // "vint": only one process migrates at a time
const POLL_MS = 100

/** Whoever migrates. */
export type Migrating = {
  /** Ends the wait for another process, and no migration that has begun. */
  signal?: AbortSignal | undefined
  /** Which setting names the database. */
  setting?: string
  /** Says what is done, which may take long. */
  report?: ((line: string) => void) | undefined
}

const namesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name))
    .sort()

/** The number of the last migration when this process began: files may be replaced meanwhile. */
const LAST_KNOWN = namesIn(FOLDER).length

export function readMigrations(folder = FOLDER): Migration[] {
  return namesIn(folder).map((name, i) => {
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
        `${isNewer(name)} Upgrade Vintém, or restore a backup made before that upgrade.`,
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

const isNewer = (name: string): string =>
  `The database is newer than this version of Vintém (it has migration ${name}).`

/**
 * Says that the database was migrated by a newer version while this process runs. It can go on,
 * because a version still works after the migrations of the next one, and of no later one.
 */
export async function findNewer(tx: Tx): Promise<string | null> {
  const [last] = await tx.query<Row & { name: string }>({
    name: 'find_newer_migration',
    text: `select name from schema_migrations where version > $1 order by version desc limit 1`,
    values: [LAST_KNOWN],
  })
  return last ? `${isNewer(last.name)} Start the newer version here too.` : null
}

async function readApplied(client: pg.Client): Promise<Applied[]> {
  await client.query(
    `create table if not exists schema_migrations (
       version integer primary key, name text not null, checksum text not null,
       applied_at timestamptz not null default now())`,
  )
  return listApplied(client)
}

async function listApplied(client: pg.Client): Promise<Applied[]> {
  const found = await client.query<Applied>(
    'select version, name, checksum from schema_migrations order by version',
  )
  return found.rows
}

async function apply(
  client: pg.Client,
  migration: Migration,
  { report }: Migrating,
): Promise<void> {
  try {
    if (isOutside(migration.sql)) {
      await runOutside(client, migration.sql, report)
      await record(client, migration)
    } else {
      await client.query('begin')
      await client.query(migration.sql)
      await record(client, migration)
      await client.query('commit')
    }
  } catch (error) {
    // Without a transaction this does nothing but warn.
    await client.query('rollback').catch(() => {})
    throw new MigrationFault(`Migration ${migration.name} failed: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

async function record(client: pg.Client, { version, name, checksum }: Migration): Promise<void> {
  await client.query(
    'insert into schema_migrations (version, name, checksum) values ($1, $2, $3)',
    [version, name, checksum],
  )
}

/**
 * Waits until no other process migrates. It asks again and again, because a statement that waits
 * for the lock would hold a snapshot, and an index that is built concurrently waits for every
 * older snapshot: the two processes would wait for each other.
 */
async function takeLock(client: pg.Client, { signal, report }: Migrating): Promise<void> {
  for (let isFirst = true; ; isFirst = false) {
    const found = await client.query<{ taken: boolean }>(
      'select pg_try_advisory_lock($1) as taken',
      [LOCK],
    )
    if (found.rows[0]!.taken) return
    if (isFirst) report?.('waiting for another process that migrates the database')
    await pause(POLL_MS, undefined, { signal })
  }
}

/** Brings the database to this version of the code, and returns the applied migrations. */
export function migrate(
  url: string,
  migrations = readMigrations(),
  by: Migrating = {},
): Promise<string[]> {
  return connected(url, by.setting, async (client) => {
    await requireVersion(client)
    const citus = await readCitus(client)
    if (citus?.coordinator) return migrateAtCoordinator(client, url, citus, migrations, by)
    if (citus) await requireOwnSchema(client)
    await takeLock(client, by)
    if (citus?.holder) await allowTriggers(client)
    const pending = pendingOf(migrations, await readApplied(client))
    await applyAll(client, pending, pending.length === migrations.length, by)
    if (citus?.holder && pending.length > 0) await adaptFunctions(client)
    return pending.map(({ name }) => name)
  })
}

/** An empty database takes a moment, and so it is said once. */
async function applyAll(
  client: pg.Client,
  pending: Migration[],
  isEmpty: boolean,
  by: Migrating,
): Promise<void> {
  if (pending.length === 0) return
  const count = pending.length
  if (isEmpty) by.report?.(`creating the tables: ${count} migrations`)
  for (const [i, migration] of pending.entries()) {
    const name = migration.name.replace(/\.sql$/, '')
    if (!isEmpty) by.report?.(`applying migration ${i + 1} of ${count}: ${name}`)
    await apply(client, migration, isEmpty ? {} : by)
  }
  by.report?.('the database is migrated')
}

/** Refuses to make a second installation beside one whose address has a schema. */
async function requireOwnSchema(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ names: string }>(
    `select string_agg(schemaid::regnamespace::text, ', ' order by schemaid) as names
     from pg_dist_schema where current_schema() = 'public'
       and to_regclass('schema_migrations') is null`,
  )
  const names = rows[0]?.names
  if (!names) return
  throw new MigrationFault(
    `The tables of this database are in the schemas of Citus ${names}. Name one in the address: ?options=-c%20search_path=…`,
  )
}

/**
 * Other nodes of Citus cannot change tables. If nothing is to be changed, the coordinator is not
 * needed, so that a server can start without it.
 */
async function migrateAtCoordinator(
  client: pg.Client,
  url: string,
  { holder, coordinator }: Citus,
  migrations: Migration[],
  by: Migrating,
): Promise<string[]> {
  if (!holder) {
    throw new MigrationFault(
      'This node of Citus has no place in the schema of the address. Make it with "vintem place add", and name the node that has it.',
    )
  }
  if (pendingOf(migrations, await listApplied(client)).length === 0) return []
  return migrate(atNode(splitHosts(url)[0]!, coordinator!), migrations, by)
}

async function connected<R>(
  url: string,
  setting: string | undefined,
  act: (client: pg.Client) => Promise<R>,
): Promise<R> {
  const client = createClient(url, {
    application_name: 'vintem migrate',
    connectionTimeoutMillis: 10_000,
  })
  await client.connect().catch((error) => {
    throw databaseFault(url, error, setting)
  })
  return act(client).finally(() => client.end())
}

async function requireVersion(client: pg.Client): Promise<void> {
  const found = await client.query<{ number: number }>(
    `select current_setting('server_version_num')::int as number`,
  )
  const major = Math.floor(found.rows[0]!.number / 10_000)
  if (major < 15)
    throw new MigrationFault(`PostgreSQL 15 or newer is needed; this server is version ${major}.`)
}
