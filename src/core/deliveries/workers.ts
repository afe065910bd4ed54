import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { Connection, Database } from '../../db/database.ts'

/** The class of the advisory locks of workers. */
const LOCK_CLASS = 0x76696e75

/** This worker, which others can see is alive. */
export type RegisteredWorker = { id: number; close(): Promise<void> }

/** How long to wait before the lock is tried again after a failure. */
const LOCK_RETRY_MS = 500

/**
 * Gives this worker an id and holds a lock on it while the worker lives. However the worker ends,
 * the database releases the lock with the connection.
 */
export async function registerWorker(db: Database): Promise<RegisteredWorker> {
  const id = randomInt(1, 2 ** 31 - 1)
  const end = new AbortController()
  const held = keepLock(db, id, await takeLock(db, id), end.signal)
  return {
    id,
    async close() {
      try {
        // The lock is released last: a registered worker without a lock is taken for dead.
        await db.query({ text: 'delete from webhook_leases where worker = $1', values: [id] })
        await db.query({ text: 'delete from workers where id = $1', values: [id] })
      } finally {
        end.abort()
        await held
      }
    },
  }
}

/** A connection that holds the lock. If the connection is lost, so is the lock. */
async function takeLock(db: Database, id: number): Promise<Connection> {
  const connection = await db.connect()
  const { client, release } = connection
  try {
    await client.query('select pg_advisory_lock($1, $2)', [LOCK_CLASS, id])
    await client.query('insert into workers (id) values ($1) on conflict do nothing', [id])
    return connection
  } catch (error) {
    release(true)
    throw error
  }
}

/**
 * Takes the lock again if its connection is lost. The worker continues in the meantime: at worst,
 * others send again what it is sending.
 */
async function keepLock(
  db: Database,
  id: number,
  first: Connection,
  signal: AbortSignal,
): Promise<void> {
  for (let held: Connection | null = first; held; held = await retryLock(db, id, signal)) {
    await once(held.client, 'end', { signal }).catch(() => {})
    held.release(true)
  }
}

async function retryLock(db: Database, id: number, signal: AbortSignal) {
  while (!signal.aborted) {
    const held = await takeLock(db, id).catch(() => null)
    if (held) return held
    await pause(LOCK_RETRY_MS, undefined, { signal }).catch(() => {})
  }
  return null
}

/** Releases the leases of dead workers. Returns how many other workers were dead or are alive. */
export async function reapDeadWorkers(
  db: Database,
  own: number,
): Promise<{ dead: number; alive: number }> {
  const others = await db.query<{ id: number }>({
    text: 'select id from workers where id <> $1',
    values: [own],
  })
  let dead = 0
  for (const { id } of others) dead += Number(await reapIfDead(db, id))
  return { dead, alive: others.length - dead }
}

function reapIfDead(db: Database, id: number): Promise<boolean> {
  return db.transaction(async (tx) => {
    const [lock] = await tx.query<{ free: boolean }>({
      text: 'select pg_try_advisory_xact_lock($1, $2::int) as free',
      values: [LOCK_CLASS, id],
    })
    if (!lock!.free) return false
    await tx.query({ text: 'delete from webhook_leases where worker = $1', values: [id] })
    await tx.query({ text: 'delete from workers where id = $1', values: [id] })
    return true
  })
}

/** How many workers are alive, by the locks that they hold. */
export async function countLiveWorkers(db: Database): Promise<number> {
  const rows = await db.query<{ alive: number }>({
    text: `select count(*)::int as alive from workers w
           where exists (select from pg_locks l
             where l.locktype = 'advisory' and l.classid::bigint = $1 and l.objid::bigint = w.id
               and l.database = (select oid from pg_database where datname = current_database()))`,
    values: [LOCK_CLASS],
  })
  return rows[0]!.alive
}
