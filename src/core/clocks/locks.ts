import type { Database } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'

/** The class of the advisory locks of clocks. */
const LOCK_CLASS = 0x76696e76

/** The clocks that only this process advances. */
export type ClockLocks = {
  /** False if another process has the lock. */
  take(companyId: Uuid): Promise<boolean>
  release(companyId: Uuid): Promise<void>
  /** Aborts if the locks are lost with their connection. */
  lost: AbortSignal
  close(): Promise<void>
}

/**
 * One connection holds the locks of all clocks that advance here. However this process ends, the
 * database releases them, and another process continues at once.
 */
export async function openClockLocks(db: Database): Promise<ClockLocks> {
  const { client, release: returnConnection } = await db.connect()
  const lost = new AbortController()
  const onLost = () => lost.abort()
  client.on('error', onLost).on('end', onLost)
  const ask = async (act: string, companyId: Uuid): Promise<boolean> => {
    const values = [LOCK_CLASS, companyId]
    const text = `select ${act}($1::int, hashtext($2)) as done`
    const { rows } = await client.query<{ done: boolean }>(text, values)
    return rows[0]!.done
  }
  return {
    take: (companyId) => ask('pg_try_advisory_lock', companyId),
    async release(companyId) {
      if (!lost.signal.aborted) await ask('pg_advisory_unlock', companyId)
    },
    lost: lost.signal,
    async close() {
      await client.query('select pg_advisory_unlock_all()').catch(onLost)
      client.off('error', onLost).off('end', onLost)
      returnConnection(lost.signal.aborted)
    },
  }
}
