import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { CopyIn, copyOut } from '../../db/copy.ts'
import { LIST_APPLIED, type Migration, migrate, readMigrations } from '../../db/migrate.ts'
import { openTableClient } from '../../db/table-client.ts'
import { makeFolder } from '../../lib/folders.ts'
import { OperatorFault } from '../../lib/operator-fault.ts'
import type { TarFile } from '../../lib/tar.ts'
import {
  BEGINNING,
  type Beginning,
  CONFIGURATION,
  type Contents,
  createDigest,
  ENDING,
  type Ending,
  FORMAT,
  readMailName,
  readRowsName,
  type SavedTable,
} from './format.ts'
import { rowsOf, targetOf } from './tables.ts'

const NAME = 'vintem restore'

export type Target = {
  /** New databases, one for each place, in their order. */
  urls: string[]
  setting: string
  /** Of the secrets that are known. */
  secretKeyIds: string[]
  /** When the former servers stopped, if somebody has said it. */
  stoppedAt: Date | null
  mailFolder: string
  /** Whether each row is read again and compared. */
  isCompared: boolean
  report(line: string): void
}

/** What was restored, and from what. */
export type Loaded = { beginning: Beginning; ending: Ending }

/**
 * Writes the files of a backup into new databases. Each place is one transaction, which is
 * committed only when the last file is read and everything is there: of a backup that is damaged
 * nothing is left. From the commit on the databases are marked as being restored.
 */
export async function loadBackup(files: AsyncIterator<TarFile>, target: Target): Promise<Loaded> {
  const beginning = await readBeginning(files)
  requireRestorable(beginning, target)
  for (const url of target.urls) await prepareEmpty(url, beginning, target)
  const clients: pg.Client[] = []
  try {
    for (const url of target.urls) {
      clients.push(await openTableClient(url, NAME, target.setting))
    }
    const ending = await loadAll(clients, beginning, files, target)
    for (const client of clients) await client.query('commit')
    return { beginning, ending }
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
  }
}

async function readBeginning(files: AsyncIterator<TarFile>): Promise<Beginning> {
  const { value } = await files.next()
  if (value?.name !== BEGINNING) throw incomplete()
  return JSON.parse(value.bytes.toString())
}

const incomplete = () => new OperatorFault('The backup is not whole. It cannot be restored.')

function requireRestorable(beginning: Beginning, target: Target): void {
  const { urls, secretKeyIds, stoppedAt, setting } = target
  const { format, version, migrations, places } = beginning
  const known = readMigrations()
  if (format > FORMAT || migrations.length > known.length) {
    throw new OperatorFault(
      `The backup is of Vintém ${version} with migration ${migrations.at(-1)?.name}, which is newer than this one. Restore it with that version.`,
    )
  }
  const other = migrations.find(({ checksum }, i) => known[i]!.checksum !== checksum)
  if (other) {
    throw new OperatorFault(
      `The backup is of another history of Vintém: its migration ${other.name} has other contents.`,
    )
  }
  if (!secretKeyIds.includes(beginning.secretKeyId)) {
    throw new OperatorFault(
      `The backup was made with the secret key ${beginning.secretKeyId}, and SECRET_KEY is ${secretKeyIds.join(' or ')}: what is sealed could not be opened, and no API key would work. Set the secret key that was saved with the backup.`,
    )
  }
  requireStoppedAfter(stoppedAt, new Date(beginning.at))
  if (places.length === urls.length) return
  throw new OperatorFault(
    `The backup has ${places.length} place${places.length === 1 ? '' : 's'}, and ${setting} names ${urls.length}. Name a new database for each of them, in their order.`,
  )
}

/** A moment before that of the data would leave due what the former servers have done since. */
export function requireStoppedAfter(stoppedAt: Date | null, to: Date): void {
  if (stoppedAt === null || stoppedAt >= to) return
  throw new OperatorFault(
    `--stopped-at is ${stoppedAt.toISOString()}, and the data are of ${to.toISOString()}: the former servers stopped later than that.`,
  )
}

/** Makes the tables as they were, in a database that has none or none with rows. */
async function prepareEmpty(
  url: string,
  { migrations }: Beginning,
  { setting }: Target,
): Promise<void> {
  const client = await openTableClient(url, NAME, setting)
  try {
    const { rows } = await client.query<{ hasTables: boolean; isOurs: boolean }>(
      `select exists (select from pg_class where relnamespace = current_schema()::regnamespace
           and relkind in ('r', 'p') and relname <> 'schema_migrations') as "hasTables",
         to_regclass('installation') is not null and to_regclass('schema_migrations') is not null
           as "isOurs"`,
    )
    const { hasTables, isOurs } = rows[0]!
    if (hasTables && !(isOurs && (await isUnused(client, migrations)))) {
      throw new OperatorFault(
        'The database is not empty. A backup is restored into a new one: make it with createdb, or drop what an interrupted restore has left.',
      )
    }
  } finally {
    await client.end()
  }
  const then: Migration[] = readMigrations().slice(0, migrations.length)
  await migrate(url, then, { setting })
}

/** Whether it has tables that a restore makes first, all or some of them, and nothing in them. */
async function isUnused(client: pg.Client, migrations: Beginning['migrations']): Promise<boolean> {
  const { rows: applied } = await client.query<{ checksum: string }>(LIST_APPLIED)
  const isSame = applied.every(({ checksum }, i) => checksum === migrations[i]?.checksum)
  const { rows } = await client.query<{ isUnused: boolean }>(
    `select not exists (select from installation) and not exists (select from companies)
       as "isUnused"`,
  )
  return isSame && rows[0]!.isUnused
}

async function loadAll(
  clients: pg.Client[],
  beginning: Beginning,
  files: AsyncIterator<TarFile>,
  target: Target,
): Promise<Ending> {
  for (const [i, client] of clients.entries()) await openTables(client, beginning.places[i]!.tables)
  const { ending, loaded } = await writeFiles(clients, beginning, files, target)
  requireWhole(ending, loaded)
  for (const [i, client] of clients.entries()) {
    const { tables } = beginning.places[i]!
    const { sequences, tables: contents } = ending.places[i]!
    for (const [name, last] of Object.entries(sequences)) {
      await client.query('select setval($1::regclass, $2)', [pg.escapeIdentifier(name), last])
    }
    if (target.isCompared) {
      target.report(`comparing all rows${clients.length > 1 ? ` of place ${i + 1}` : ''}`)
      await compare(client, tables, contents)
    }
    await closeTables(client, tables)
  }
  return ending
}

/** Triggers would count again what is counted, and refuse what is never changed. */
async function openTables(client: pg.Client, tables: SavedTable[]): Promise<void> {
  await client.query('begin')
  for (const { name } of tables) {
    await client.query(`alter table ${pg.escapeIdentifier(name)} disable trigger user`)
  }
  // Migrations may have written something into a new database.
  for (const { name } of tables.toReversed()) {
    await client.query(`delete from ${pg.escapeIdentifier(name)}`)
  }
}

/** No server starts until the restore has ended, because the mark is committed with the rows. */
async function closeTables(client: pg.Client, tables: SavedTable[]): Promise<void> {
  for (const { name } of tables) {
    await client.query(`alter table ${pg.escapeIdentifier(name)} enable trigger user`)
  }
  const { rowCount } = await client.query('update installation set restoring_since = now()')
  if (rowCount !== 1) throw incomplete()
}

/** How many rows of each table of a place were written. */
type Rows = Map<string, number>
type WrittenFiles = { places: Rows[]; mails: number }

/** Writes the rows of one table after the other. */
function createTableWriter(clients: pg.Client[], { places }: Beginning) {
  const written = clients.map((): Rows => new Map())
  let current: { place: number; table: string; copy: CopyIn } | null = null
  const end = async () => {
    if (current === null) return
    const { place, table, copy } = current
    current = null
    written[place - 1]!.set(table, await copy.end())
  }
  return {
    written,
    end,
    /** Whether another table begins with these rows. */
    async write({ place, table }: { place: number; table: string }, lines: Buffer) {
      const isNew = current?.place !== place || current.table !== table
      if (isNew) {
        await end()
        const known = places[place - 1]?.tables.find(({ name }) => name === table)
        if (!known || written[place - 1]!.has(table)) throw incomplete()
        current = { place, table, copy: new CopyIn(clients[place - 1]!, targetOf(known)) }
      }
      await current!.copy.write(lines)
      return isNew
    },
  }
}

async function writeFiles(
  clients: pg.Client[],
  beginning: Beginning,
  files: AsyncIterator<TarFile>,
  { mailFolder, report }: Target,
): Promise<{ ending: Ending; loaded: WrittenFiles }> {
  const tables = createTableWriter(clients, beginning)
  let mails = 0
  for (let next = await files.next(); !next.done; next = await files.next()) {
    const { name, bytes } = next.value
    const rows = readRowsName(name)
    const mail = readMailName(name)
    if (rows) {
      const isNew = await tables.write(rows, bytes)
      const place = clients.length > 1 ? ` of place ${rows.place}` : ''
      if (isNew) report(`restoring ${rows.table}${place}`)
    } else if (mail) {
      mails += await keepMail(mailFolder, mail, bytes)
    } else if (name === ENDING) {
      await tables.end()
      const ending = await lastOf(files, bytes)
      return { ending, loaded: { places: tables.written, mails } }
    } else if (name !== CONFIGURATION) throw incomplete()
  }
  throw incomplete()
}

/** The end of the file is read too: it says that nothing follows and nothing was changed. */
async function lastOf(files: AsyncIterator<TarFile>, bytes: Buffer): Promise<Ending> {
  if (!(await files.next()).done) throw incomplete()
  return JSON.parse(bytes.toString())
}

/** One that is there already stays as it is. */
async function keepMail(folder: string, name: string, bytes: Buffer): Promise<number> {
  makeFolder(folder)
  await writeFile(join(folder, name), bytes, { mode: 0o600, flag: 'wx' }).catch((error) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  })
  return 1
}

function requireWhole(ending: Ending, loaded: WrittenFiles): void {
  const isWhole = loaded.places.every((own, i) =>
    Object.entries(ending.places[i]?.tables ?? {}).every(
      ([name, { rows }]) => (own.get(name) ?? 0) === rows,
    ),
  )
  if (!isWhole || ending.mails !== loaded.mails) throw incomplete()
}

/** Reads what was written, and compares each row with what was saved. */
async function compare(
  client: pg.Client,
  tables: SavedTable[],
  saved: Record<string, Contents>,
): Promise<void> {
  for (const table of tables) {
    const digest = createDigest()
    for await (const lines of copyOut(client, rowsOf(table))) digest.add(lines)
    const { rows, digest: found } = digest.contents()
    const { rows: expected, digest: then } = saved[table.name]!
    if (rows !== expected || found !== then) {
      throw new OperatorFault(`The table ${table.name} is not as it was saved. Nothing was kept.`)
    }
  }
}
