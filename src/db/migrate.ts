import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { OperatorFault } from '../lib/operator-fault.ts'
import { ownFile } from '../lib/own-files.ts'
import { splitHosts } from './address.ts'
import { codeOf } from './away.ts'
import { adaptFunctions, allowTriggers, atNode, type Citus, readCitus } from './citus.ts'
import type { Row, Tx } from './database.ts'
import { databaseFault } from './database-fault.ts'
import { createClient } from './servers.ts'

/** The first line of a migration that must not run in a transaction. */
const MARK = '-- no transaction'
const BUILD = /^create (?:unique )?index concurrently (?:if not exists )?(\w+)/i

/** Whether a migration runs statement by statement, outside a transaction. */
const isOutside = (sql: string): boolean => sql.split('\n', 1)[0]!.trim() === MARK

/** A statement ends with a semicolon at the end of a line. Comments are dropped. */
export function statementsOf(sql: string): string[] {
  return sql
    .replace(/^\s*--.*$/gm, '')
    .split(/;[ \t]*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}

/**
 * Runs each statement by itself. After an end in the middle it is run again from its beginning, so
 * every statement must be one that can be repeated. An index that is already built is left as it
 * is; one that was left half-built is dropped first, because `if not exists` would keep it.
 */
async function runOutside(
  client: pg.Client,
  sql: string,
  report: (line: string) => void = () => {},
): Promise<void> {
  // A server may end long statements for everybody, and an index of a large table takes long.
  await client.query('set statement_timeout = 0')
  for (const statement of statementsOf(sql)) {
    const name = BUILD.exec(statement)?.[1]
    const state = name === undefined ? 'missing' : await stateOf(client, name)
    if (state === 'built') continue
    if (state === 'half-built') await client.query(`drop index concurrently ${name}`)
    if (name !== undefined) report(`building the index ${name}, which may take long`)
    await client.query(statement)
  }
}

async function stateOf(
  client: pg.Client,
  index: string,
): Promise<'missing' | 'half-built' | 'built'> {
  const { rows } = await client.query<{ valid: boolean }>(
    'select indisvalid as valid from pg_index where indexrelid = to_regclass($1)',
    [index],
  )
  return rows[0] ? (rows[0].valid ? 'built' : 'half-built') : 'missing'
}

export type Migration = {
  version: number
  name: string
  sql: string
  checksum: string
  /** Makes what this migration and all before it make, in a database without tables. */
  baseline?: string
}

/** A database that this version cannot work with; the sentence says what to do. */
export class MigrationFault extends OperatorFault {
  override name = 'MigrationFault'
}

const FOLDER = ownFile('migrations')
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
  /** Says what an operator has to look at. */
  warn?: ((line: string) => void) | undefined
}

const BASELINE = 'baseline.sql'
/** Those that the baseline stands for: only a database that has some of them gets the others. */
const OLD = 'before-baseline'

const filesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name))
    .sort()
    .map((name) => join(folder, name))

/** The files that make a new database, in their order. */
export const migrationFiles = (): string[] => [join(FOLDER, BASELINE), ...filesIn(FOLDER)]

function listFiles(folder: string): { old: string[]; all: string[] } {
  const before = join(folder, OLD)
  const old = existsSync(before) ? filesIn(before) : []
  return { old, all: [...old, ...filesIn(folder)] }
}

/** The number of the last migration when this process began: files may be replaced meanwhile. */
export const LAST_KNOWN = listFiles(FOLDER).all.length

export function readMigrations(folder = FOLDER): Migration[] {
  const { old, all } = listFiles(folder)
  return all.map((path, i) => {
    const [name, sql] = [basename(path), readFileSync(path, 'utf8')]
    const version = Number(name.slice(0, 4))
    if (version !== i + 1) throw new MigrationFault(`Migration ${name} is out of order.`)
    const checksum = createHash('sha256').update(sql).digest('hex')
    const migration = { version, name, sql, checksum }
    if (version !== old.length) return migration
    return { ...migration, baseline: readFileSync(join(folder, BASELINE), 'utf8') }
  })
}

export type Applied = { version: number; name: string; checksum: string; needs: number }

/** A database of an older version does not have the last column yet. */
export const LIST_APPLIED = `select version, name, checksum,
    coalesce((to_jsonb(m) ->> 'needs')::int4, 0) as needs
  from schema_migrations m order by version`

/** The last migration of a database. */
export async function lastMigration(tx: {
  query(query: { name: string; text: string }): Promise<Record<string, unknown>[]>
}): Promise<number> {
  const text = 'select max(version)::int4 as version from schema_migrations'
  const [row] = await tx.query({ name: 'last_migration', text })
  return Number(row!.version)
}

/** The last migration that a version must know to work on what this one leaves. 0: any version. */
const needsOf = ({ sql }: Migration): number =>
  Math.max(
    0,
    ...sql.matchAll(/^[ \t]*-- contract since (\d{4}): /gm).map(([, since]) => Number(since)),
  )

/**
 * Forward only. Refuses a database that has lost what the code uses, or whose history is another
 * one. A newer one that has only gained something is taken as it is.
 */
export function pendingOf(known: Migration[], applied: Applied[]): Migration[] {
  for (const { version, name, checksum, needs } of applied) {
    const ours = known[version - 1]
    if (!ours && needs <= known.length) continue
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
 * Says that a newer version has taken something from the database that this process may use. If it
 * has only added to it, this process works as before.
 */
export async function findNewer(tx: Tx): Promise<string | null> {
  const [last] = await tx.query<Row & { name: string }>({
    name: 'find_newer_migration',
    text: `select name from schema_migrations where version > $1 and needs > $1
           order by version desc limit 1`,
    values: [LAST_KNOWN],
  })
  return last ? `${isNewer(last.name)} Start the newer version here too.` : null
}

async function readApplied(client: pg.Client): Promise<Applied[]> {
  await client.query(
    `create table if not exists schema_migrations (
       version integer primary key, name text not null, checksum text not null,
       applied_at timestamptz not null default now(), needs integer not null default 0)`,
  )
  return listApplied(client)
}

async function listApplied(client: pg.Client): Promise<Applied[]> {
  const found = await client.query<Applied>(LIST_APPLIED)
  return found.rows
}

/** What is run at once, and the migrations that are applied by it. */
type Step = { name: string; sql: string; applies: Migration[] }

function stepsOf(pending: Migration[], isEmpty: boolean): Step[] {
  const last = isEmpty ? pending.findIndex(({ baseline }) => baseline !== undefined) : -1
  const steps = pending.slice(last + 1).map((one) => ({ ...one, applies: [one] }))
  const sql = pending[last]?.baseline
  if (sql === undefined) return steps
  return [{ name: BASELINE, sql, applies: pending.slice(0, last + 1) }, ...steps]
}

/** How often a migration is begun that others stand in the way of. */
const MAX_TRIES = 20
const DEADLOCK = '40P01'

/**
 * Servers go on meanwhile. If one of them and the migration wait for each other, PostgreSQL ends
 * one of the two; all that the migration had done is undone then, or can be repeated.
 */
async function apply(client: pg.Client, step: Step, by: Migrating): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await applyOnce(client, step, by)
    } catch (error) {
      if (codeOf((error as Error).cause) !== DEADLOCK || tries === MAX_TRIES) throw error
      by.report?.(`${step.name} and a request waited for each other: it is applied again`)
      await pause(POLL_MS)
    }
  }
}

async function applyOnce(client: pg.Client, step: Step, { report }: Migrating): Promise<void> {
  try {
    if (isOutside(step.sql)) {
      await runOutside(client, step.sql, report)
      await record(client, step)
    } else {
      await client.query('begin')
      await client.query(step.sql)
      await record(client, step)
      await client.query('commit')
    }
  } catch (error) {
    // Without a transaction this does nothing but warn.
    await client.query('rollback').catch(() => {})
    throw new MigrationFault(`Migration ${step.name} failed: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

/** One statement, because what runs outside a transaction may end after any. */
async function record(client: pg.Client, { applies }: Step): Promise<void> {
  const needs = applies.map(needsOf)
  // Old tables get the column by a migration. None before it needs anything.
  const [column, values] = needs.some((since) => since > 0) ? [', needs', ', $4::int4[]'] : ['', '']
  await client.query(
    `insert into schema_migrations (version, name, checksum${column})
     select * from unnest($1::int4[], $2::text[], $3::text[]${values})`,
    [
      applies.map(({ version }) => version),
      applies.map(({ name }) => name),
      applies.map(({ checksum }) => checksum),
      ...(column ? [needs] : []),
    ],
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

/**
 * Keeps others from migrating for as long as the connection lasts: whoever reads whole tables holds
 * locks, and a change of a table would wait for them, and everybody else for the change. False:
 * somebody migrates now.
 */
export async function holdOffMigrations(client: pg.ClientBase): Promise<boolean> {
  const found = await client.query<{ taken: boolean }>(
    'select pg_try_advisory_lock_shared($1) as taken',
    [LOCK],
  )
  return found.rows[0]!.taken
}

/** Whether nothing is to be done, so that a server starts while a backup holds off migrations. */
async function isMigrated(client: pg.Client, migrations: Migration[]): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(
    `select to_regclass('schema_migrations') is not null as found`,
  )
  return rows[0]!.found && pendingOf(migrations, await listApplied(client)).length === 0
}

/** Brings the database to this version of the code, and returns the names of the applied files. */
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
    if (!citus && (await isMigrated(client, migrations))) return []
    await takeLock(client, by)
    if (citus?.holder) await allowTriggers(client)
    const pending = pendingOf(migrations, await readApplied(client))
    const isEmpty = pending.length === migrations.length
    const steps = stepsOf(pending, isEmpty)
    await applyAll(client, steps, isEmpty, by)
    if (citus?.holder && pending.length > 0) await adaptFunctions(client)
    return steps.map(({ name }) => name)
  })
}

/** An empty database takes a moment, and so it is said once. */
async function applyAll(
  client: pg.Client,
  steps: Step[],
  isEmpty: boolean,
  by: Migrating,
): Promise<void> {
  if (steps.length === 0) return
  if (isEmpty) by.report?.('creating the tables')
  for (const [i, step] of steps.entries()) {
    const name = step.name.replace(/\.sql$/, '')
    if (!isEmpty) by.report?.(`applying migration ${i + 1} of ${steps.length}: ${name}`)
    await apply(client, step, isEmpty ? {} : by)
  }
  by.report?.('the database is migrated')
  if (isEmpty || !by.warn) return
  await client.query('set statement_timeout = 0')
  const unchecked = await findUnchecked(async (text) => (await client.query(text)).rows)
  for (const line of unchecked) by.warn(line)
}

type Ask = (text: string) => Promise<Row[]>

/**
 * Says of each table with rows that 0067_check_company_keys has found without their company what to
 * do. Its constraint holds only for what was written since.
 */
export async function findUnchecked(ask: Ask): Promise<string[]> {
  const found = await ask(
    `select conrelid::regclass::text as "table", conname as name from pg_constraint
     where confrelid = to_regclass('companies') and contype = 'f' and not convalidated
     order by 1`,
  )
  return Promise.all(found.map(({ table, name }) => describeUnchecked(ask, table, name)))
}

async function describeUnchecked(ask: Ask, table: unknown, name: unknown): Promise<string> {
  const [row] = await ask(
    `select count(*)::int4 as count, min(t.company_id::text) as company from ${table} t
     where not exists (select from companies c where c.id = t.company_id)`,
  )
  const { count, company } = row as { count: number; company: string }
  const repair = `run: alter table ${table} validate constraint ${name}`
  if (count === 0) return `Rows of ${table} were not checked for their company. Now ${repair}`
  const rows = count === 1 ? '1 row' : `${count} rows`
  return `${table} has ${rows} of companies that are not in this database, such as ${company}. If it is being moved to here, finish that with "vintem place move ${company} <place>". If it lives in another place, look at these rows and remove them. Then ${repair}`
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
