import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { Company } from '../core/companies/rules.ts'
import { listCompanies } from '../core/companies/store.ts'
import {
  findBackups,
  findFormerSecrets,
  findSecretKeyId,
  findUnsavedSecret,
  notSaved,
  requirePlaces,
  secretFault,
} from '../core/installation.ts'
import { listUnfinished } from '../core/payers/store.ts'
import { listMoving } from '../core/places/store.ts'
import { listSetbacks } from '../core/setbacks.ts'
import { askForCitus } from '../db/citus.ts'
import { mostConnections } from '../db/connection-counts.ts'
import type { Database } from '../db/database.ts'
import {
  type Applied,
  findUnchecked,
  LAST_KNOWN,
  LIST_APPLIED,
  pendingOf,
  readMigrations,
} from '../db/migrate.ts'
import { systemClock } from '../lib/clock.ts'
import { createMailer } from '../lib/mailer.ts'
import { createVault } from '../lib/vault.ts'
import { inspectBankClocks } from './bank-clock.ts'
import { type Answer, columns } from './command.ts'
import { textOfError } from './faults.ts'
import type { Check, Finding, State } from './finding.ts'
import {
  inspectArchive,
  inspectCertificates,
  inspectCollation,
  inspectConnections,
  inspectIndexes,
  inspectServers,
  inspectSlots,
  inspectStandbys,
  inspectTransactions,
  inspectVacuum,
} from './postgres-checks.ts'
import { type Connection, openConnection } from './session.ts'

const MIN_VERSION = 15
const CLOCK_TOLERANCE_MS = 2_000

export async function check(name: string, inspect: () => Promise<Finding>): Promise<Check> {
  const [state, detail] = await inspect().catch((error): Finding => ['failed', textOfError(error)])
  return { name, state, detail }
}

/** Prints checks and a summary of them. */
export function report(checks: Check[], heading = ''): Answer {
  const failed = checks.some(({ state }) => state === 'failed')
  const rows = checks.map(({ name, state, detail }) => [state, name, detail])
  const text = `${heading}${columns(rows)}\n${summarize(checks)}\n`
  return { json: { ok: !failed, checks }, text, failed }
}

function summarize(checks: Check[]): string {
  const count = (state: State) => checks.filter((check) => check.state === state).length
  const [failed, warnings] = [count('failed'), count('warning')]
  if (failed > 0) return `${failed} failed, ${warnings} to look at.`
  return warnings > 0 ? `Vintém can work; ${warnings} to look at.` : 'All is well.'
}

export async function checkDatabase(config: Config): Promise<Check[]> {
  let connection: Connection
  try {
    connection = await openConnection(config)
  } catch (error) {
    const provider = await check('provider', () => inspectProvider(null))
    return [{ name: 'database', state: 'failed', detail: textOfError(error) }, provider]
  }
  const { databases, close } = connection
  try {
    const checks: Check[] = []
    for (const [i, db] of databases.entries()) {
      const inPlace = databases.length === 1 ? '' : ` of place ${i + 1}`
      const found = await checkPlace(db, config)
      checks.push(...found.map((one) => ({ ...one, name: `${one.name}${inPlace}` })))
    }
    return databases.length === 1
      ? checks
      : [...checks, await check('places', () => inspectPlaces(databases))]
  } finally {
    await close()
  }
}

const checkPlace = async (db: Database, config: Config): Promise<Check[]> => [
  await check('database', () => inspectVersion(db, config)),
  ...(await checkNode(db)),
  await check('writing', () => inspectWriting(db)),
  await check('durability', () => inspectDurability(db)),
  await check('settings', () => inspectSettings(db, config)),
  await check('migrations', () => inspectMigrations(db)),
  await check('secret key', () => inspectSecret(db, config)),
  ...(await checkPostgres(db, config)),
  await check('clock', () => inspectClock(db)),
  await check('provider', () => inspectProvider(db)),
  await check('bank clocks', () => inspectClocks(db, config)),
  await check('work', () => inspectWork(db)),
  await check('backup', () => inspectBackup(db, config)),
  ...(await checkErasures(db)),
]

/** An erasure takes a minute, and some more if there are many charges. */
const LONG_ERASURE_MS = 15 * 60_000

/** Erasures of payers that were interrupted. Mostly there are none, which needs no line. */
async function checkErasures(db: Database): Promise<Check[]> {
  const before = new Date(systemClock.now().getTime() - LONG_ERASURE_MS)
  // If the database does not answer, other checks say so.
  const left = await listUnfinished(db, before).catch(() => [])
  if (left.length === 0) return []
  const ids = [...new Set(left.map(({ companyId }) => companyId))].join(', ')
  const detail = `Data of payers are not all erased, of ${ids}. Run vintem payer erase again with their tax ids.`
  return [{ name: 'erasures', state: 'warning', detail }]
}

/** What may go wrong in PostgreSQL in the long run. */
const POSTGRES: [name: string, inspect: (db: Database, config: Config) => Promise<Finding>][] = [
  ['standbys', inspectStandbys],
  ['slots', (db) => inspectSlots(db)],
  ['archive', inspectArchive],
  ['collation', inspectCollation],
  ['transactions', (db) => inspectTransactions(db)],
  ['vacuum', (db) => inspectVacuum(db)],
  ['connections', inspectConnections],
]

/** What is looked for in our own tables, once they are there. */
const OWN: [name: string, inspect: (db: Database, config: Config) => Promise<Finding>][] = [
  ['indexes', inspectIndexes],
  ['servers', inspectServers],
  ['certificates', inspectCertificates],
]

async function checkPostgres(db: Database, config: Config): Promise<Check[]> {
  // If the database does not answer, the first check says so.
  const hasTables = await hasTable(db, 'bank_connections').catch(() => false)
  const found: Check[] = []
  for (const [name, inspect] of [...POSTGRES, ...(hasTables ? OWN : [])]) {
    found.push(await check(name, () => inspect(db, config)))
  }
  return found
}

/** Null: Citus does not hold the tables. */
async function readNode(db: Database) {
  const citus = await askForCitus((text) => db.query({ text }))
  return citus?.holder ? { holder: citus.holder, schema: citus.schema } : null
}

/** With Citus: whether the address names the node that has the tables. */
async function checkNode(db: Database): Promise<Check[]> {
  // If the database does not answer, other checks say so.
  const citus = await readNode(db).catch(() => null)
  if (citus === null) return []
  const { holder, schema } = citus
  const detail = `Citus keeps the schema ${schema} on ${holder.host}:${holder.port}`
  if (holder.isHere) return [{ name: 'citus', state: 'ok', detail: `${detail}.` }]
  const remedy = 'Name that node in the address on all servers, and start them again together'
  return [
    {
      name: 'citus',
      state: 'warning',
      detail: `${detail}, but the address names another node, so statements take longer and companies cannot be moved. ${remedy}.`,
    },
  ]
}

/** Whether the places belong together, and no move is left unfinished. */
async function inspectPlaces(databases: Database[]): Promise<Finding> {
  const isNew = await Promise.all(
    databases.map(async (db) => !(await hasTable(db, 'company_moves'))),
  )
  if (isNew.includes(true)) return ['warning', 'Run vintem migrate, or start the server.']
  await requirePlaces(databases)
  const moves = (await Promise.all(databases.map(listMoving))).flat()
  const ids = [...new Set(moves.map(({ companyId }) => companyId))]
  if (ids.length === 0) return ['ok', `${databases.length} places, and no company is being moved.`]
  return [
    'warning',
    `Being moved: ${ids.join(', ')}. If no command does it now, run vintem place move again.`,
  ]
}

async function inspectVersion(db: Database, config: Config): Promise<Finding> {
  const { databaseUrl, databaseSetting, dataDir } = config
  const [row] = await db.query<{ number: number; version: string }>({
    text: `select current_setting('server_version_num')::int as number,
                  current_setting('server_version') as version`,
  })
  const where = databaseUrl ? `at ${databaseSetting}` : `embedded in ${dataDir}`
  const detail = `PostgreSQL ${row!.version} answers, ${where}.`
  if (row!.number >= MIN_VERSION * 10_000) return ['ok', detail]
  return ['failed', `${detail} Vintém needs version ${MIN_VERSION} or newer: upgrade PostgreSQL.`]
}

// Migrations also create tables. The statements are one transaction, and nothing is left.
const WRITE_TABLE = `create table vintem_doctor (n integer); insert into vintem_doctor values (1);
                     drop table vintem_doctor`
const WRITE_ROW = 'update installation set place = place'

async function inspectWriting(db: Database): Promise<Finding> {
  // A node of Citus creates no tables: its migrations go to the coordinator.
  const hasNode = (await readNode(db)) !== null
  try {
    await db.query({ text: hasNode ? WRITE_ROW : WRITE_TABLE })
    return ['ok', hasNode ? 'A row was written.' : 'A table was created, written and dropped.']
  } catch (error) {
    return ['failed', `${textOfError(error)} Let the database user create and write tables.`]
  }
}

async function inspectDurability(db: Database): Promise<Finding> {
  const off = await db.query<{ name: string }>({
    text: `select name from pg_settings where setting = 'off'
           and name in ('fsync', 'synchronous_commit', 'full_page_writes') order by name`,
  })
  if (off.length === 0) return ['ok', 'What is committed survives a power cut.']
  const names = off.map(({ name }) => name).join(' and ')
  return ['warning', `A power cut can lose payments: switch ${names} on in PostgreSQL.`]
}

async function hasTable(db: Database, name: string): Promise<boolean> {
  const [row] = await db.query<{ found: boolean }>({
    text: 'select to_regclass($1) is not null as found',
    values: [name],
  })
  return row!.found
}

async function inspectMigrations(db: Database): Promise<Finding> {
  const applied = (await hasTable(db, 'schema_migrations'))
    ? await db.query<Applied>({ text: LIST_APPLIED })
    : []
  const pending = pendingOf(readMigrations(), applied)
  const newer = applied.filter(({ version }) => version > LAST_KNOWN)
  if (newer.length > 0) {
    return [
      'warning',
      `The database has ${newer.length} that this version does not know: replace this clone by the newer one.`,
    ]
  }
  if (pending.length > 0) {
    return ['warning', `${pending.length} to apply: run vintem migrate, or start the server.`]
  }
  const unchecked = await findUnchecked((text) => db.query({ text }))
  return unchecked.length > 0
    ? ['warning', unchecked.join(' ')]
    : ['ok', 'The database is up to date.']
}

async function inspectSecret(db: Database, { secretKey, secretKeyNext }: Config): Promise<Finding> {
  const vault = createVault(secretKey, secretKeyNext)
  const known = (await hasTable(db, 'installation')) ? await findSecretKeyId(db) : null
  if (!known) return ['ok', 'The database is new and will be set up with the present key.']
  if (!(await hasTable(db, 'secret_keys'))) {
    if (known === vault.keyId) return ['ok', 'It is the one this database was set up with.']
    return ['failed', 'SECRET_KEY is not the one this database was set up with: put it back.']
  }
  const fault = await secretFault(db, vault)
  if (fault) return ['failed', fault]
  const formers = await findFormerSecrets(db)
  const left = formers.find(({ gone_at }) => gone_at === null)
  if (left) return ['warning', `${left.id} is being replaced: run vintem secret rotate again.`]
  if (formers.some(({ id }) => id === vault.keyId)) {
    return ['warning', `${vault.keyId} in SECRET_KEY was replaced, and can go. ${THEN}`]
  }
  if (secretKeyNext === null) return ['ok', `It is ${known}, the present one of this database.`]
  if (vault.each.length === 1) return ['warning', 'SECRET_KEY_NEXT is SECRET_KEY: leave it out.']
  return formers.some(({ id }) => id === vault.each[1]!.keyId)
    ? ['warning', 'SECRET_KEY_NEXT is a former secret, and can go.']
    : ['warning', 'SECRET_KEY_NEXT is set: vintem secret rotate makes it the present secret.']
}

const THEN = 'Set SECRET_KEY to what is in SECRET_KEY_NEXT, and leave that out.'

async function inspectClock(db: Database): Promise<Finding> {
  const before_ms = systemClock.now().getTime()
  const [row] = await db.query<{ now: Date }>({ text: 'select clock_timestamp() as now' })
  const middle_ms = (before_ms + systemClock.now().getTime()) / 2
  const apart_ms = Math.round(Math.abs(row!.now.getTime() - middle_ms))
  const detail = `This machine and the database are ${apart_ms} ms apart.`
  if (apart_ms < CLOCK_TOLERANCE_MS) return ['ok', detail]
  return ['failed', `${detail} Set both by NTP: charges would expire at the wrong moment.`]
}

const HOUR_MS = 3_600_000
/** Somebody who backs up once a day has an hour or two for it. */
const OLD_BACKUP_H = 26

/** Whether there is a backup from which at most a day would be lost. */
async function inspectBackup(db: Database, { local }: Config): Promise<Finding> {
  const isNew = !(await hasColumn(db, 'installation', 'backed_up_at'))
  const { backedUpAt } = isNew ? { backedUpAt: null } : await findBackups(db)
  const how = 'Run vintem backup once a day, and try it with vintem restore --verify.'
  const unsaved = isNew ? null : await findUnsavedSecret(db)
  if (unsaved) return ['warning', notSaved(unsaved)]
  if (!backedUpAt) return [local ? 'ok' : 'warning', `There is no backup. ${how}`]
  const age_h = Math.floor((systemClock.now().getTime() - backedUpAt.getTime()) / HOUR_MS)
  const detail = `The last backup is of ${backedUpAt.toISOString()}.`
  if (age_h < OLD_BACKUP_H) return ['ok', detail]
  return ['warning', `${detail} There is none since, for ${age_h} hours. ${how}`]
}

async function hasColumn(db: Database, table: string, column: string): Promise<boolean> {
  const rows = await db.query({
    text: `select from pg_attribute where attrelid = to_regclass($1) and attname = $2`,
    values: [table, column],
  })
  return rows.length > 0
}

async function inspectProvider(db: Database | null): Promise<Finding> {
  const unconnected = db && (await hasTable(db, 'company_moves')) ? await listUnconnected(db) : []
  if (unconnected.length === 0) return ['ok', 'The simulated bank is ready.']
  const named = unconnected.slice(0, MAX_NAMED).map(({ id, name }) => `${name} (${id})`)
  if (unconnected.length > MAX_NAMED) named.push(`${unconnected.length - MAX_NAMED} more`)
  return [
    'warning',
    `The simulated bank is ready, but no bank is connected to ${named.join(', ')}: these live companies can only create dev-mode charges. Run vintem bank connect.`,
  ]
}

async function inspectClocks(db: Database, { secretKey, secretKeyNext }: Config): Promise<Finding> {
  const vault = createVault(secretKey, secretKeyNext)
  const known = (await hasTable(db, 'bank_connections')) ? await findSecretKeyId(db) : null
  const isReadable = vault.each.some(({ keyId }) => keyId === known)
  return isReadable ? inspectBankClocks(db, vault) : ['ok', 'No bank can be asked yet.']
}

const MAX_NAMED = 5

/** Companies whose work fails. Other companies are not affected. */
async function inspectWork(db: Database): Promise<Finding> {
  const setbacks = (await hasTable(db, 'setbacks')) ? await listSetbacks(db, systemClock.now()) : []
  if (setbacks.length === 0) return ['ok', 'No company is set aside.']
  const named = setbacks.slice(0, MAX_NAMED).map(({ task, companyId, failures, error, since }) => {
    const times = failures === 1 ? 'once' : `${failures} times`
    return `“${task}” of ${companyId} (${error}, ${times} since ${since.toISOString()})`
  })
  if (setbacks.length > MAX_NAMED) named.push(`${setbacks.length - MAX_NAMED} more`)
  const detail = `Work of companies fails and is tried again later: ${named.join(', ')}.`
  return ['warning', `${detail} The log has more; run vintem ledger audit.`]
}

/** Live companies without a bank. That of a company that moves comes last, and goes first. */
async function listUnconnected(db: Database): Promise<Company[]> {
  const [companies, moving] = await Promise.all([listCompanies(db), listMoving(db)])
  const elsewhere = moving.filter(({ state }) => state !== 'leaving').map((one) => one.companyId)
  return companies.filter(
    ({ id, mode, bankId }) => mode === 'live' && bankId === null && !elsewhere.includes(id),
  )
}

export async function inspectMail(config: Config): Promise<Finding> {
  const { smtpUrl, mailFrom: from, dataDir, local } = config
  const folder = join(dataDir, 'mail')
  const mailer = createMailer({ smtpUrl, from, folder, connections: 1, clock: systemClock })
  const target = smtpUrl ? `The mail server at ${new URL(smtpUrl).host}` : folder
  try {
    await mailer.check()
  } catch (error) {
    const remedy = smtpUrl ? 'Check SMTP_URL' : `Run as the owner of ${dataDir}, or set SMTP_URL`
    return ['failed', `${target} accepts no mails (${(error as Error).message}). ${remedy}.`]
  } finally {
    mailer.close()
  }
  if (smtpUrl) return ['ok', `${target} accepts the login.`]
  if (local) return ['ok', `Mails are kept as files in ${folder}.`]
  return ['warning', `Mails go to ${folder}, and one-time codes to nobody: set SMTP_URL.`]
}

type Setting = { name: string; setting: string }

/** Settings that must have these values, and what happens otherwise. */
const NEEDED: Record<string, [value: string, harm: string]> = {
  jit: [
    'off',
    'statements are compiled at each run, which takes seconds (a pooler may drop our jit=off)',
  ],
  autovacuum: ['on', 'tables and indexes grow without end'],
  track_counts: ['on', 'autovacuum does not find the tables that need it'],
  enable_indexscan: ['on', 'due work is found by reading whole tables'],
  enable_bitmapscan: ['on', 'lists are found by reading whole tables'],
  enable_memoize: ['on', 'joins are slow'],
}

/** Finds settings of PostgreSQL that make Vintém slow, or stop it under load. */
async function inspectSettings(db: Database, config: Config): Promise<Finding> {
  const rows = await db.query<Setting>({
    text: `select name, setting from pg_settings where name = any ($1::text[])`,
    values: [[...Object.keys(NEEDED), 'max_connections', 'superuser_reserved_connections']],
  })
  const values = new Map(rows.map(({ name, setting }) => [name, setting]))
  const wrong = findWrongSettings(values, config.databasePoolSize, config.processes)
  if (wrong.length === 0) return ['ok', 'All settings of PostgreSQL are right.']
  return ['warning', `Set in PostgreSQL: ${wrong.join('; ')}.`]
}

/** The wrong settings, each with the right value and the reason. */
export function findWrongSettings(
  values: ReadonlyMap<string, string>,
  poolSize: number,
  processes: number,
): string[] {
  const wrong = Object.entries(NEEDED)
    .filter(([name, [value]]) => values.has(name) && values.get(name) !== value)
    .map(([name, [value, harm]]) => `${name} = ${value}, or ${harm}`)
  const reserved = Number(values.get('superuser_reserved_connections') ?? 0)
  const free = Number(values.get('max_connections')) - reserved
  const needed = mostConnections(poolSize, processes)
  if (free < needed) {
    const who = processes === 1 ? 'one process uses' : `${processes} processes use`
    wrong.push(`max_connections = ${needed + reserved} or more, or ${who} them all up`)
  }
  return wrong
}
