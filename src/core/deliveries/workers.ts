import { randomInt } from 'node:crypto'
import type { PoolClient } from 'pg'
import type { Database } from '../../db/database.ts'

/** Tells our advisory locks from those of others. */
const LOCK_CLASS = 0x76696e75

/** A worker that others can tell to be alive. */
export type Enlisted = { id: number; close(): Promise<void> }

/**
 * Gives this worker a number and holds a lock on it for as long as the worker lives: the database
 * drops the lock with the connection, however the worker ends.
 */
export async function enlist(db: Database): Promise<Enlisted> {
  const id = randomInt(1, 2 ** 31 - 1)
  let client: PoolClient | null = null
  let closed = false
  async function hold(): Promise<void> {
    client = await db.pools.plain.connect()
    client.on('error', lose)
    await client.query('select pg_advisory_lock($1, $2)', [LOCK_CLASS, id])
    await client.query('insert into workers (id) values ($1) on conflict do nothing', [id])
  }
  function lose(error: Error): void {
    client?.release(error)
    client = null
    // Without the lock the worker goes on: at worst others deliver again what it has in its hands.
    if (!closed) hold().catch(lose)
  }
  await hold()
  return {
    id,
    async close() {
      closed = true
      await db.query({ text: 'delete from workers where id = $1', values: [id] })
      client?.off('error', lose)
      client?.release(true)
    },
  }
}

/** Frees what dead workers had in their hands, and tells how many of them there were. */
export async function buryDead(db: Database, own: number, now: Date): Promise<number> {
  const others = await db.query<{ id: number }>({
    text: 'select id from workers where id <> $1',
    values: [own],
  })
  let dead = 0
  for (const { id } of others) {
    dead += await db.transaction(async (tx) => {
      const [lock] = await tx.query<{ free: boolean }>({
        text: 'select pg_try_advisory_xact_lock($1, $2::int) as free',
        values: [LOCK_CLASS, id],
      })
      if (!lock!.free) return 0
      await tx.query({
        text: `update deliveries set worker = null, claim = null, next_attempt_at = $2
               where worker = $1`,
        values: [id, now],
      })
      await tx.query({ text: 'delete from workers where id = $1', values: [id] })
      return 1
    })
  }
  return dead
}
