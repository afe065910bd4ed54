import pg from 'pg'
import { type Cluster, readPassword } from './embedded-cluster.ts'

// The driver has had these two for years; its types lack them.
export type Session = pg.Client & { ref(): void; unref(): void }

// Every version of Vintém has to use the same number.
const lockKey = 1_986_622_068

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
  // Without a listener, a PostgreSQL that goes away would take this process with it.
  session.on('error', () => {})
  const opened = session.connect().then(() => session)
  return orGone(opened).catch((fault: Error) => {
    throw new Error(`PostgreSQL of ${cluster.directory} does not let us in: ${fault.message}`)
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

/** The process that started this PostgreSQL, and whether it, or anybody, has the lock. */
export async function readOwner(session: Session): Promise<{ owner: number; isLocked: boolean }> {
  const { rows } = await session.query(
    `SELECT current_setting('vintem.owner')::int AS owner,
            EXISTS (SELECT FROM pg_locks
                     WHERE locktype = 'advisory' AND objid = $1::int AND granted) AS "isLocked"`,
    [lockKey],
  )
  return rows[0]
}

export async function takeLock(session: Session): Promise<boolean> {
  const { rows } = await session.query('SELECT pg_try_advisory_lock($1::int) AS taken', [lockKey])
  return rows[0].taken
}

export async function createDatabase(session: Session): Promise<void> {
  const { rowCount } = await session.query(`SELECT FROM pg_database WHERE datname = 'vintem'`)
  if (rowCount === 0) await session.query('CREATE DATABASE vintem')
}

/** How many sessions others have: those of owners, in the database `postgres`, do not count. */
export async function countGuests(session: Session): Promise<number> {
  const { rows } = await session.query(
    `SELECT count(*)::int AS guests FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND datname <> current_database()`,
  )
  return rows[0].guests
}
