import pg from 'pg'
import { OperatorFault } from '../../lib/operator-fault.ts'
import { type Cluster, readPassword } from './cluster.ts'

// The driver has had these two for years; its types lack them.
export type Session = pg.Client & { ref(): void; unref(): void }

// The same two numbers in every version of Vintém.
const ownerLock = 1_986_622_068
const sharedLock = 1_986_622_069

/** A session in the database `postgres`, where no application takes locks or has tables. */
export async function connect(cluster: Cluster, port: number): Promise<Session | undefined> {
  const session = new pg.Client({
    host: '127.0.0.1',
    port,
    user: 'vintem',
    password: readPassword(cluster),
    database: 'postgres',
    ssl: false,
    application_name: 'vintem owner',
    connectionTimeoutMillis: 5_000,
  }) as Session
  // Without a listener, the end of PostgreSQL would end this process.
  session.on('error', () => {})
  const opened = session.connect().then(() => session)
  return orGone(opened).catch((fault: Error) => {
    throw new OperatorFault(
      `PostgreSQL of ${cluster.directory} refuses the connection: ${fault.message}`,
    )
  })
}

/** The work's result, or undefined when PostgreSQL was not there or went away meanwhile. */
export async function orGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (fault) {
    // Class 57 is PostgreSQL starting or stopping; any other error of its own is an answer.
    if (fault instanceof pg.DatabaseError && !fault.code?.startsWith('57')) throw fault
    return undefined
  }
}

/**
 * The process that started this PostgreSQL, unless that was not Vintém, and whether anybody has
 * the owner's lock.
 */
export async function readOwner(
  session: Session,
): Promise<{ owner: number | null; isLocked: boolean }> {
  const { rows } = await session.query(
    `SELECT current_setting('vintem.owner', true)::int AS owner,
            EXISTS (SELECT FROM pg_locks
                     WHERE locktype = 'advisory' AND objid = $1::int AND granted) AS "isLocked"`,
    [ownerLock],
  )
  return rows[0]
}

export function takeOwnerLock(session: Session): Promise<boolean> {
  return isTaken(session, 'SELECT pg_try_advisory_lock($1) AS taken', ownerLock)
}

/** Joins the database, which any number of processes can; false when the owner is stopping it. */
export function takeSharedLock(session: Session): Promise<boolean> {
  return isTaken(session, 'SELECT pg_try_advisory_lock_shared($1) AS taken', sharedLock)
}

async function isTaken(session: Session, sql: string, lock: number): Promise<boolean> {
  const { rows } = await session.query(sql, [lock])
  return rows[0].taken
}

/** Waits until the last process that joined has left, or for `timeout_ms`, and lets no other one join. */
export async function waitUntilUnshared(session: Session, timeout_ms: number): Promise<void> {
  await session.query(`SET lock_timeout = ${timeout_ms}`)
  await session.query('SELECT pg_advisory_lock($1)', [sharedLock]).catch((fault) => {
    if (fault.code !== '55P03') throw fault
  })
}

export async function createDatabase(session: Session): Promise<void> {
  const { rowCount } = await session.query(`SELECT FROM pg_database WHERE datname = 'vintem'`)
  if (rowCount === 0) await session.query('CREATE DATABASE vintem')
}
