import type pg from 'pg'
import { type Tx, txOn } from '../../db/database.ts'
import {
  type Applied,
  holdOffMigrations,
  LIST_APPLIED,
  pendingOf,
  readMigrations,
} from '../../db/migrate.ts'
import { openTableClient } from '../../db/table-client.ts'
import { OperatorFault } from '../../lib/operator-fault.ts'
import { VERSION } from '../../lib/version.ts'
import { findFormerSecrets, findSecretKeyId } from '../installation.ts'
import { type Beginning, FORMAT } from './format.ts'
import { readTables } from './tables.ts'

const NAME = 'vintem backup'
/** A move leaves its traces for a minute, so none goes unseen between snapshots that are nearer. */
const NEAR_MS = 20_000

/** One moment of all places, for as long as it is open. Nobody waits for it. */
export type Snapshot = {
  beginning: Beginning
  clients: pg.Client[]
  close(): Promise<void>
}

export async function openSnapshot(urls: string[], setting: string): Promise<Snapshot> {
  const clients: pg.Client[] = []
  const close = async () => {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
  }
  try {
    // A place that does not answer is the end of it: its companies would be missing.
    for (const url of urls) clients.push(await openTableClient(url, NAME, setting))
    return { beginning: await begin(clients), clients, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function begin(clients: pg.Client[]): Promise<Beginning> {
  const migrations = await Promise.all(clients.map(requireMigrated))
  const began_ms = performance.now()
  const moments = await Promise.all(clients.map(freeze))
  if (clients.length > 1 && performance.now() - began_ms > NEAR_MS) {
    throw new OperatorFault('The places were not seen at the same moment. Run the command again.')
  }
  await requireSettled(clients)
  const secretKeyId = await requireOneSecret(txOn(clients[0]!))
  const tables = await Promise.all(clients.map(readTables))
  return {
    format: FORMAT,
    version: VERSION,
    at: moments[0]!,
    secretKeyId,
    migrations: migrations[0]!,
    places: tables.map((own) => ({ tables: own })),
  }
}

async function requireMigrated(client: pg.Client): Promise<Applied[]> {
  if (!(await holdOffMigrations(client))) {
    throw new OperatorFault('The database is being migrated. Run the command again after it.')
  }
  const { rows: found } = await client.query<{ isUsed: boolean }>(
    `select to_regclass('schema_migrations') is not null as "isUsed"`,
  )
  if (!found[0]!.isUsed) throw new OperatorFault('The database is empty: there is nothing to save.')
  const { rows } = await client.query<Applied>(LIST_APPLIED)
  const isRight = rows.length <= readMigrations().length
  if (isRight && pendingOf(readMigrations(), rows).length === 0) return rows
  throw new OperatorFault(
    'The database is of another version of Vintém than this command. Use the command of the servers that run, or "vintem migrate" first.',
  )
}

/** From here on the connection sees one moment, and this is it. */
async function freeze(client: pg.Client): Promise<string> {
  await client.query('begin isolation level repeatable read, read only')
  const { rows } = await client.query<{ at: string }>(
    `select to_char(clock_timestamp(), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at from installation`,
  )
  if (!rows[0]) throw new OperatorFault('No server has used this database yet: nothing is saved.')
  return rows[0].at
}

/** Until a secret is replaced, both would be needed. Returns the id of the one that is present. */
async function requireOneSecret(tx: Tx): Promise<string> {
  const formers = await findFormerSecrets(tx)
  const present = await findSecretKeyId(tx)
  if (present !== null && formers.every(({ gone_at }) => gone_at !== null)) return present
  throw new OperatorFault(
    'The secret is being replaced. Run the command again when "vintem secret rotate" has ended.',
  )
}

/** A company that moves, or was moved between two snapshots, could be in two or in none. */
async function requireSettled(clients: pg.Client[]): Promise<void> {
  const seen = new Set<string>()
  for (const client of clients) {
    const { rows } = await client.query<{ id: string }>(
      'select company_id as id from company_moves',
    )
    if (rows[0]) throw moving(rows[0].id)
    if (clients.length === 1) return
    const companies = await client.query<{ id: string }>('select id from companies')
    for (const { id } of companies.rows) {
      if (seen.has(id)) throw moving(id)
      seen.add(id)
    }
  }
}

const moving = (companyId: string) =>
  new OperatorFault(
    `The company ${companyId} is being moved, and a backup would have it twice or not at all. Run the command again when the move is over; "vintem place move" finishes one that was interrupted.`,
  )
