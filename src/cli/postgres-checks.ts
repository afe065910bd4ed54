import type { Config } from '../config.ts'
import { countDiffering, findOldestAudit } from '../core/audits/store.ts'
import { listCertificates } from '../core/banks/store.ts'
import { splitHosts } from '../db/address.ts'
import { mostConnections } from '../db/connection-counts.ts'
import type { Database, Row } from '../db/database.ts'
import { expectedIndexes } from '../db/expected-indexes.ts'
import { LAST_KNOWN, lastMigration } from '../db/migrate.ts'
import { isLoopback } from '../lib/addresses.ts'
import { systemClock } from '../lib/clock.ts'
import { differencesOf } from '../server-name.ts'
import type { Finding } from './finding.ts'

const DAY_MS = 86_400_000
const GIB = 1024 ** 3
const MAX_NAMED = 5
/** What holds the write-ahead log of so many bytes will fill the disk some day. */
const HELD_BYTES = 2 * GIB
/** A transaction that is open for longer keeps dead rows of all tables. */
const LONG_TRANSACTION_S = 300
/** Autovacuum begins at 200 million, and PostgreSQL stops at 2 billion. */
const OLD_TRANSACTIONS = 500_000_000
const DEAD_ROWS = 1_000_000
const BUSY_CONNECTIONS = 0.8
const CERTIFICATE_DAYS = 30
/** A worker audits each company at least every ten minutes. */
const LONG_UNAUDITED_MS = 3_600_000

const listed = (names: string[]): string =>
  names.length <= MAX_NAMED
    ? names.join(', ')
    : `${names.slice(0, MAX_NAMED).join(', ')} and ${names.length - MAX_NAMED} more`

/** If standbys are named in the address, a commit must wait for one. */
export async function inspectStandbys(db: Database, { databaseUrl }: Config): Promise<Finding> {
  const hosts = databaseUrl ? splitHosts(databaseUrl).length : 1
  const [row] = await db.query<Row & { mode: string; names: string; sync: number }>({
    text: `select current_setting('synchronous_commit') as mode,
             current_setting('synchronous_standby_names') as names,
             (select count(*) from pg_stat_replication where sync_state in ('sync', 'quorum'))::int8
               as sync`,
  })
  return judgeStandbys(hosts, row!)
}

export function judgeStandbys(
  hosts: number,
  { mode, names, sync }: { mode: string; names: string; sync: number },
): Finding {
  if (hosts === 1 && names === '') return ['ok', 'There is no standby.']
  if (names === '') {
    return [
      'failed',
      `${hosts} servers are named, and no commit waits for a standby: a failover loses payments. Set synchronous_standby_names, or synchronous_mode in Patroni.`,
    ]
  }
  if (!['on', 'remote_apply'].includes(mode)) {
    return [
      'failed',
      `synchronous_commit is ${mode}, so a failover can lose payments: set it to on.`,
    ]
  }
  if (sync > 0) return ['ok', 'Commits wait for a standby.']
  return ['warning', 'No standby follows now, so commits wait or a failover has to: start one.']
}

type Slot = Row & { name: string; active: boolean; held: number; status: string | null }

/** Slots that nobody reads keep the write-ahead log until the disk is full. */
export async function inspectSlots(db: Database, held = HELD_BYTES): Promise<Finding> {
  const slots = await db.query<Slot>({
    text: `select slot_name as name, active, wal_status as status,
             coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0)::int8 as held
           from pg_replication_slots order by slot_name`,
  })
  const lost = slots.filter(({ status }) => status === 'lost').map(({ name }) => name)
  const holding = slots.filter((slot) => slot.held >= held)
  const found: string[] = []
  if (holding.length > 0) {
    const names = holding.map(({ name, held }) => `${name} (${Math.round(held / GIB)} GiB)`)
    found.push(
      `Replication slots keep the write-ahead log: ${listed(names)}. Start what reads them, or pg_drop_replication_slot.`,
    )
  }
  if (lost.length > 0) {
    found.push(`What reads the slots ${listed(lost)} has missed something: build it again.`)
  }
  return found.length === 0 ? ['ok', 'No slot keeps much.'] : ['warning', found.join(' ')]
}

export async function inspectArchive(db: Database): Promise<Finding> {
  const [row] = await db.query<Archive>({
    text: `select current_setting('archive_mode') as mode, last_archived_time as "archivedAt",
             last_failed_time as "failedAt" from pg_stat_archiver`,
  })
  return judgeArchive(row!)
}

type Archive = Row & { mode: string; archivedAt: Date | null; failedAt: Date | null }

export function judgeArchive({ mode, archivedAt, failedAt }: Archive): Finding {
  if (mode === 'off') return ['ok', 'The write-ahead log is not archived.']
  if (failedAt && (!archivedAt || failedAt > archivedAt)) {
    const last = archivedAt ? ` The last one was on ${archivedAt.toISOString()}.` : ''
    return [
      'failed',
      `The write-ahead log is not archived any more.${last} See the log of PostgreSQL and archive_command; the disk fills up meanwhile.`,
    ]
  }
  return ['ok', 'The write-ahead log is archived.']
}

/** Indexes that cannot be used, and those that a migration has made and nobody has. */
export async function inspectIndexes(db: Database): Promise<Finding> {
  const rows = await db.query<Row & { name: string; valid: boolean }>({
    text: `select c.relname as name, i.indisvalid and i.indisready as valid
           from pg_index i join pg_class c on c.oid = i.indexrelid
           where c.relnamespace = current_schema()::regnamespace`,
  })
  const invalid = rows.filter(({ valid }) => !valid).map(({ name }) => name)
  if (invalid.length > 0) {
    return [
      'warning',
      `Indexes cannot be used: ${listed(invalid)}. reindex index concurrently each of them.`,
    ]
  }
  // Those of migrations that are still to be applied are not missing yet.
  const isUpToDate = (await lastMigration(db)) === LAST_KNOWN
  const known = new Set(rows.map(({ name }) => name))
  const missing = (isUpToDate ? expectedIndexes() : []).filter((name) => !known.has(name))
  return missing.length === 0
    ? ['ok', `All ${rows.length} indexes can be used.`]
    : [
        'failed',
        `Indexes are missing: ${listed(missing)}. Make them as the migration does that has their name.`,
      ]
}

/** Another library for texts sorts in another order than the indexes on them are in. */
export async function inspectCollation(db: Database): Promise<Finding> {
  const [row] = await db.query<Row & { encoding: string; made: string; present: string }>({
    text: `select pg_encoding_to_char(encoding) as encoding, datcollversion as made,
             pg_database_collation_actual_version(oid) as present
           from pg_database where datname = current_database()`,
  })
  return judgeCollation(row!)
}

type Collation = { encoding: string; made: string | null; present: string | null }

export function judgeCollation({ encoding, made, present }: Collation): Finding {
  if (encoding !== 'UTF8') {
    return [
      'failed',
      `The encoding is ${encoding}: names of people need UTF8. Make a new database.`,
    ]
  }
  if (made === null || present === null || made === present) return ['ok', 'Texts are in order.']
  return [
    'warning',
    `Texts are sorted by another version (${present}) than the indexes were made with (${made}), so they may miss rows: reindex database, then alter database … refresh collation version.`,
  ]
}

/** Old transactions keep dead rows, and locks. */
export async function inspectTransactions(
  db: Database,
  longest_s = LONG_TRANSACTION_S,
): Promise<Finding> {
  const rows = await db.query<Row & { pid: number; name: string; age: number; state: string }>({
    text: `select pid, coalesce(nullif(application_name, ''), usename::text) as name,
             extract(epoch from now() - xact_start)::int8 as age, state
           from pg_stat_activity
           where backend_type = 'client backend' and pid <> pg_backend_pid()
             and xact_start <= now() - $1 * interval '1 second'
           union all
           select 0, gid, extract(epoch from now() - prepared)::int8, 'prepared'
           from pg_prepared_xacts where prepared <= now() - $1 * interval '1 second'
           order by age desc`,
    values: [longest_s],
  })
  if (rows.length === 0) return ['ok', 'No transaction is open for long.']
  const names = rows.map(({ pid, name, age, state }) =>
    pid === 0
      ? `${name} (prepared, ${age} s; rollback prepared)`
      : `${name} (${state}, ${age} s; pg_terminate_backend(${pid}))`,
  )
  return ['warning', `Transactions are open for long and keep dead rows: ${listed(names)}.`]
}

type Vacuum = Row & { age: number; dead: string[] }

/** Whether autovacuum keeps up. */
export async function inspectVacuum(db: Database, mostDead = DEAD_ROWS): Promise<Finding> {
  const [row] = await db.query<Vacuum>({
    text: `select (select age(datfrozenxid) from pg_database where datname = current_database())::int8
             as age,
             array(select relname::text from pg_stat_user_tables
                   where schemaname = current_schema() and n_dead_tup > $1
                     and n_dead_tup > n_live_tup / 2 order by n_dead_tup desc) as dead`,
    values: [mostDead],
  })
  return judgeVacuum(row!)
}

export function judgeVacuum({ age, dead }: Pick<Vacuum, 'age' | 'dead'>): Finding {
  if (age > OLD_TRANSACTIONS) {
    return [
      'failed',
      `Autovacuum has not frozen rows for ${age} transactions, and PostgreSQL stops at two thousand million: run vacuum (freeze), and see what holds it up.`,
    ]
  }
  if (dead.length === 0) return ['ok', 'Autovacuum keeps up.']
  return [
    'warning',
    `Autovacuum does not keep up with ${listed(dead)}: raise autovacuum_max_workers and autovacuum_vacuum_cost_limit.`,
  ]
}

/** How many connections are left for others. */
export async function inspectConnections(db: Database, config: Config): Promise<Finding> {
  const [row] = await db.query<Row & { used: number; most: number }>({
    text: `select (select count(*) from pg_stat_activity where backend_type = 'client backend') as used,
             current_setting('max_connections')::int8
               - current_setting('superuser_reserved_connections')::int8 as most`,
  })
  return judgeConnections(row!, mostConnections(config.databasePoolSize, config.processes))
}

export function judgeConnections(
  { used, most }: { used: number; most: number },
  ofOne: number,
): Finding {
  const detail = `${used} of ${most} connections are used, and a server takes up to ${ofOne}`
  if (used < most * BUSY_CONNECTIONS) return ['ok', `${detail}.`]
  return [
    'warning',
    `${detail}: raise max_connections, or lower DATABASE_POOL_SIZE on all servers.`,
  ]
}

/** Servers of other versions, or with other settings, that work on the same database. */
export async function inspectServers(db: Database, config: Config): Promise<Finding> {
  const rows = await db.query<Row & { name: string }>({
    text: `select distinct application_name as name from pg_stat_activity
           where datname = current_database() and application_name ^@ 'vintem '`,
  })
  const servers = rows.flatMap(({ name }) => {
    const differences = differencesOf(name, config)
    return differences ? [differences] : []
  })
  if (servers.length === 0) return ['ok', 'No server runs on this database.']
  const others = [...new Set(servers.filter((one) => one.length > 0).map((one) => one.join(', ')))]
  return others.length === 0
    ? ['ok', 'All servers have this version and these settings.']
    : [
        'warning',
        `Servers with ${listed(others)} work on this database: give all the same, and replace those of another version soon.`,
      ]
}

/** Certificates with which banks know companies. */
export async function inspectCertificates(db: Database): Promise<Finding> {
  const before = new Date(systemClock.now().getTime() + CERTIFICATE_DAYS * DAY_MS)
  const ending = (await listCertificates(db)).filter((one) => one.certificateEndsAt < before)
  if (ending.length === 0) return ['ok', 'No certificate of a bank ends soon.']
  const names = ending.map(
    ({ companyId, profile, certificateEndsAt: at }) =>
      `${companyId} at ${profile} on ${at.toISOString().slice(0, 10)}`,
  )
  return [
    'warning',
    `Certificates end: ${listed(names)}. Get new ones from the banks, and run vintem bank connect.`,
  ]
}

/** Whether passwords and payers' names cross a network as plain text. */
export async function inspectEncryption(db: Database): Promise<Finding> {
  const [row] = await db.query<Row & { address: string | null; isEncrypted: boolean }>({
    text: `select host(inet_server_addr()) as address, coalesce(ssl, false) as "isEncrypted"
           from pg_stat_ssl where pid = pg_backend_pid()`,
  })
  return judgeEncryption(row!)
}

/** `address`: null for a socket of this machine. */
export function judgeEncryption({
  address,
  isEncrypted,
}: {
  address: string | null
  isEncrypted: boolean
}): Finding {
  if (isEncrypted) return ['ok', 'The connection to the database is encrypted.']
  if (address === null || isLoopback(address)) return ['ok', 'The database is on this machine.']
  return [
    'warning',
    `The connection to the database at ${address} is not encrypted: switch ssl on in PostgreSQL, and add sslmode=verify-full to its address.`,
  ]
}

/** Books that differ, and books that no worker has looked at for long. */
export async function inspectBooks(db: Database, now = systemClock.now()): Promise<Finding> {
  const differing = await countDiffering(db)
  if (differing > 0) {
    const whose = differing === 1 ? 'a company differ' : `${differing} companies differ`
    return ['failed', `The books of ${whose}, and its money waits. Run vintem ledger audit.`]
  }
  const oldest = await findOldestAudit(db)
  if (oldest === null || now.getTime() - oldest.getTime() < LONG_UNAUDITED_MS) {
    return ['ok', 'No audit has found a difference.']
  }
  return [
    'warning',
    `The books of a company were last audited on ${oldest.toISOString()}. Start a server that is a worker too, or see in its log why audits fail.`,
  ]
}
