import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, loadConfig } from '../config.ts'
import { recordForInstallation } from '../core/activity/record.ts'
import { auditWholeBooks } from '../core/audits/commands.ts'
import { findStaleFeeds } from '../core/backups/feeds.ts'
import { closeDoors, type Held, holdDue, secureOrders } from '../core/backups/hold.ts'
import { loadBackup, requireStoppedAfter } from '../core/backups/load.ts'
import { openSample } from '../core/backups/sealed.ts'
import { openConnection as openBank } from '../core/banks/commands.ts'
import { LISTENER } from '../core/companies/announce.ts'
import { listCompanies } from '../core/companies/store.ts'
import {
  beginRestore,
  endRestore,
  learnSecrets,
  requirePlaces,
  requireSameSecret,
} from '../core/installation.ts'
import { listFollowers } from '../core/secrets/watch.ts'
import { type Database, type Tx, txOn } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'
import { openTableClient } from '../db/table-client.ts'
import { openSealed } from '../lib/age-file.ts'
import type { Uuid } from '../lib/ids.ts'
import { readTar } from '../lib/tar.ts'
import { createVault, type Vault } from '../lib/vault.ts'
import { knowsOurIds } from '../provider/bacen/payouts.ts'
import { readOpener } from './backup-keys.ts'
import { type Args, type Command, Refusal, UsageFault } from './command.ts'
import { isBug, textOfError } from './faults.ts'
import { type Connection, commandAuthor, openConnection } from './session.ts'
import { typedPath } from './typed-path.ts'

const NAME = 'vintem restore'

export const restore: Command = {
  name: 'restore',
  summary:
    'Restore a backup into the new, empty database that is configured, and say if it is whole.',
  example: 'vintem restore /backups/2026-11-19.vintem --identity age.key --verify',
  operands: ['file'],
  mayOmitOperands: true,
  options: {
    identity: { value: 'FILE', help: 'the secret key of age that the backup was made for' },
    'passphrase-file': { value: 'FILE', help: 'or the file with its passphrase' },
    verify: { help: 'compare all rows, audit all books, open what is sealed, and check the feeds' },
    'recovered-to': {
      value: 'MOMENT',
      help: 'without a file: the database is one that PostgreSQL has recovered to this moment',
    },
    'stopped-at': {
      value: 'MOMENT',
      help: 'when the former servers stopped: what was due until then is not done again (default now)',
    },
    resend: { help: 'send webhooks, mails and notices that were due, and generate charges, again' },
  },
  async run(args) {
    const wanted = readWanted(args)
    const began_ms = performance.now()
    try {
      const done = await restoreAll(wanted, loadConfig())
      const seconds = ((performance.now() - began_ms) / 1000).toFixed(1)
      return answerOf(wanted, done, seconds)
    } catch (error) {
      if (isBug(error) || error instanceof UsageFault) throw error
      const reason = textOfError(error)
      return {
        json: { ok: false, verdict: reason },
        text: `Verdict: NO. ${reason}\n`,
        failed: true,
      }
    }
  },
}

type Wanted = {
  /** The backup. Null: PostgreSQL has recovered the database by itself, to this moment. */
  file: string | null
  recoveredTo: Date | null
  stoppedAt: Date | null
  isVerified: boolean
  resends: boolean
  args: Args
}

/** Clocks of machines differ. */
const AHEAD_MS = 60_000

const MOMENT = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/

function momentOf({ options }: Args, name: string): Date | null {
  const text = options[name]
  if (text === undefined) return null
  const moment = new Date(text)
  if (moment.getTime() > Date.now() + AHEAD_MS) {
    throw new UsageFault(`--${name} must not be in the future, and ${text} is.`)
  }
  if (MOMENT.test(text) && !Number.isNaN(moment.getTime())) return moment
  throw new UsageFault(
    `--${name} must be a moment with its time zone, such as 2026-11-19T04:00:00Z.`,
  )
}

function readWanted(args: Args): Wanted {
  const { operands, switches } = args
  const recoveredTo = momentOf(args, 'recovered-to')
  if ((operands[0] === undefined) === (recoveredTo === null)) {
    throw new UsageFault('Give either the file of a backup, or --recovered-to.')
  }
  const file = operands[0] === undefined ? null : typedPath(operands[0])
  if (file !== null && !existsSync(file)) throw new UsageFault(`There is no file ${file}.`)
  return {
    file,
    recoveredTo,
    stoppedAt: momentOf(args, 'stopped-at'),
    isVerified: switches.has('verify'),
    resends: switches.has('resend'),
    args,
  }
}

/** What takes long is said beside the output. */
const report = (line: string) => process.stderr.write(`${line}\n`)

type Restored = { to: Date; held: Held; verified: Verified | null }

async function restoreAll(wanted: Wanted, config: Config): Promise<Restored> {
  const began = new Date()
  const vault = createVault(config.secretKey, config.secretKeyNext)
  if (wanted.recoveredTo) requireStoppedAfter(wanted.stoppedAt, wanted.recoveredTo)
  // It is read before a database is touched.
  const opener = wanted.file === null ? null : readOpener(wanted.args)
  const connection = await openConnection(config)
  const { urls, databases } = connection
  try {
    let to = wanted.recoveredTo
    if (opener) {
      const files = readTar(openSealed(wanted.file!, opener))
      try {
        const { beginning } = await loadBackup(files, {
          urls,
          setting: config.databaseSetting,
          secretKeyIds: vault.each.map(({ keyId }) => keyId),
          stoppedAt: wanted.stoppedAt,
          mailFolder: join(config.dataDir, 'mail'),
          isCompared: wanted.isVerified,
          report,
        })
        to = new Date(beginning.at)
      } finally {
        await files.return(undefined)
      }
    } else await beginRecovered(connection)
    for (const url of urls) await migrate(url, undefined, { report, warn: report })
    for (const db of databases) await requireSameSecret(db, vault)
    await learnSecrets(databases[0]!, vault)
    await requirePlaces(databases)
    const stoppedAt = wanted.stoppedAt ?? (began > to! ? began : to!)
    const held = await hold(urls, { to: to!, stoppedAt }, wanted, vault)
    const verified = wanted.isVerified ? await verify(urls, databases, vault) : null
    if (verified === null || verified.faults.length === 0) await end(databases, to!)
    return { to: to!, held, verified }
  } finally {
    await connection.close()
  }
}

/**
 * A database that PostgreSQL has recovered. From here on no server starts with it: it would do
 * again what was done, also if what comes next is refused.
 */
async function beginRecovered({ urls, databases }: Connection): Promise<void> {
  for (const db of databases) await requireUnused(db)
  for (const [i, db] of databases.entries()) {
    await migrate(urls[i]!, undefined, { report, warn: report })
    await beginRestore(db)
  }
}

/** Servers have a connection for requests, and all processes one that follows the secret. */
async function requireUnused(db: Database): Promise<void> {
  const [row] = await db.query<{ count: number }>({
    text: `select count(*) as count from pg_stat_activity
           where application_name = $1 and datname = current_database()`,
    values: [LISTENER],
  })
  if (row!.count === 0 && (await listFollowers(db)).length === 0) return
  throw new Refusal('Servers use this database. Stop them first, workers too.')
}

/** What was due is not done again. Each place is one transaction. */
async function hold(
  urls: string[],
  moments: { to: Date; stoppedAt: Date },
  { resends }: Wanted,
  vault: Vault,
): Promise<Held> {
  const held: Held = {}
  for (const url of urls) {
    report('holding what was due')
    const client = await openTableClient(url, NAME)
    try {
      const tx = txOn(client)
      await client.query('begin')
      await closeDoors(tx)
      const secured = await secureOrders(tx, moments.to, (id) => isAskable(tx, vault, id))
      const own = { ...secured, ...(resends ? {} : await holdDue(tx, moments)) }
      await client.query('commit')
      report('collecting statistics for the planner')
      await client.query('analyze')
      for (const [kind, count] of Object.entries(own)) held[kind] = (held[kind] ?? 0) + count
    } finally {
      await client.end()
    }
  }
  return held
}

/** A bank whose credentials do not open is asked by a person. */
async function isAskable(tx: Tx, vault: Vault, companyId: Uuid): Promise<boolean> {
  const bank = await openBank(tx, vault, companyId).catch(() => null)
  return bank !== null && knowsOurIds(bank.profile)
}

type Verified = {
  companies: number
  sealed: { kinds: number; opened: number }
  /** What makes the database useless. */
  faults: string[]
  /** Books that differ: their companies send no money, and all else works. */
  differences: string[]
}

async function verify(urls: string[], databases: Database[], vault: Vault): Promise<Verified> {
  const found: Verified = {
    companies: 0,
    sealed: { kinds: 0, opened: 0 },
    faults: [],
    differences: [],
  }
  for (const [i, url] of urls.entries()) {
    report('opening what is sealed')
    const client = await openTableClient(url, NAME)
    try {
      const { kinds, opened, faults } = await openSample(txOn(client), vault)
      found.sealed.kinds = Math.max(found.sealed.kinds, kinds)
      found.sealed.opened += opened
      found.faults.push(...faults, ...(await findStaleFeeds(txOn(client))))
    } finally {
      await client.end()
    }
    report('auditing the books')
    const db = databases[i]!
    for (const { id } of await listCompanies(db)) {
      found.companies += 1
      const faults = await auditWholeBooks(db, id)
      found.differences.push(...faults.map((fault) => `${id}: ${fault}`))
    }
  }
  return found
}

async function end(databases: Database[], to: Date): Promise<void> {
  for (const db of databases) await endRestore(db, to)
  const change = { action: 'backup.restore', details: { to: to.toISOString() } } as const
  await recordForInstallation(databases[0]!.control, commandAuthor(), change)
}

function answerOf({ resends }: Wanted, { to, held, verified }: Restored, seconds: string) {
  const at = to.toISOString()
  const counts = Object.entries(held).filter(([, count]) => count > 0)
  const notDone = resends ? 'Asked for again by --resend: all that was due.' : ''
  const lines = [
    ...counts.map(([kind, count]) => `Held: ${count} ${kind}`),
    ...(notDone ? [notDone] : []),
    ...(verified?.faults ?? []),
    ...(verified?.differences ?? []),
  ]
  const verdict = verdictOf(at, verified, seconds)
  const ok = verified === null || verified.faults.length + verified.differences.length === 0
  return {
    json: { ok, verdict, at, held, ...(verified && { verified }) },
    text: `${lines.map((line) => `${line}\n`).join('')}${verdict}\n`,
    failed: !ok,
  }
}

function verdictOf(at: string, verified: Verified | null, seconds: string): string {
  if (verified === null) return `Restored to ${at} in ${seconds} s, and not verified.`
  const { companies, sealed, faults, differences } = verified
  if (faults.length > 0)
    return `Verdict: NO. It is not whole (above), and no server starts with it.`
  if (differences.length > 0) {
    return `Verdict: NO. It is as it was at ${at}, but the books above differ. A server may start: those companies send no money.`
  }
  return `Verdict: YES. Everything is as it was at ${at}: the books of ${companies} companies agree, ${sealed.opened} sealed values of ${sealed.kinds} kinds open, all feeds go on. It took ${seconds} s.`
}
