import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { Connection, Database } from '../../db/database.ts'

/** Tells our advisory locks from those of others. */
const LOCK_CLASS = 0x76696e75

/** A worker that others can tell to be alive. */
export type Enlisted = { id: number; close(): Promise<void> }

/** How long after a failure the lock is tried for again. */
const HOLD_AGAIN_MS = 500

/**
 * Gives this worker a number and holds a lock on it for as long as the worker lives: the database
 * drops the lock with the connection, however the worker ends.
 */
export async function enlist(db: Database): Promise<Enlisted> {
  const id = randomInt(1, 2 ** 31 - 1)
  const end = new AbortController()
  const held = keepHolding(db, id, await hold(db, id), end.signal)
  return {
    id,
    async close() {
      try {
        // In this order, or a colleague would take us for dead.
        await db.query({ text: 'delete from delivery_lines where worker = $1', values: [id] })
        await db.query({ text: 'delete from workers where id = $1', values: [id] })
      } finally {
        end.abort()
        await held
      }
    },
  }
}

/** A connection that holds the lock, and loses it when it is lost itself. */
async function hold(db: Database, id: number): Promise<Connection> {
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
 * Takes the lock again when its connection is lost. The worker goes on meanwhile: at worst others
 * deliver once more what it has in its hands.
 */
async function keepHolding(
  db: Database,
  id: number,
  first: Connection,
  signal: AbortSignal,
): Promise<void> {
  for (let held: Connection | null = first; held; held = await holdAgain(db, id, signal)) {
    await once(held.client, 'end', { signal }).catch(() => {})
    held.release(true)
  }
}

async function holdAgain(db: Database, id: number, signal: AbortSignal) {
  while (!signal.aborted) {
    const held = await hold(db, id).catch(() => null)
    if (held) return held
    await pause(HOLD_AGAIN_MS, undefined, { signal }).catch(() => {})
  }
  return null
}

/**
 * Frees the lines of dead workers, and tells how many of the others were dead and how many live.
 */
export async function buryDead(
  db: Database,
  own: number,
): Promise<{ dead: number; living: number }> {
  const others = await db.query<{ id: number }>({
    text: 'select id from workers where id <> $1',
    values: [own],
  })
  let dead = 0
  for (const { id } of others) dead += Number(await bury(db, id))
  return { dead, living: others.length - dead }
}

function bury(db: Database, id: number): Promise<boolean> {
  return db.transaction(async (tx) => {
    const [lock] = await tx.query<{ free: boolean }>({
      text: 'select pg_try_advisory_xact_lock($1, $2::int) as free',
      values: [LOCK_CLASS, id],
    })
    if (!lock!.free) return false
    await tx.query({ text: 'delete from delivery_lines where worker = $1', values: [id] })
    await tx.query({ text: 'delete from workers where id = $1', values: [id] })
    return true
  })
}

/** How many workers live, by the locks that they hold. */
export async function countLiving(db: Database): Promise<number> {
  const rows = await db.query<{ living: number }>({
    text: `select count(*)::int as living from workers w
           where exists (select from pg_locks l
             where l.locktype = 'advisory' and l.classid::bigint = $1 and l.objid::bigint = w.id
               and l.database = (select oid from pg_database where datname = current_database()))`,
    values: [LOCK_CLASS],
  })
  return rows[0]!.living
}
