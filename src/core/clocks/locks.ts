import type { Database } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'

/** Tells these advisory locks from those of others. */
const LOCK_CLASS = 0x76696e76

/** The clocks that this process alone moves on. */
export type ClockLocks = {
  /** False while another process has it. */
  take(companyId: Uuid): Promise<boolean>
  leave(companyId: Uuid): Promise<void>
  /** Aborts when the locks are lost with their connection. */
  lost: AbortSignal
  close(): Promise<void>
}

/**
 * One connection holds the locks of all clocks that are played here: however this process ends, the
 * database drops them, and another process goes on at once.
 */
export async function openClockLocks(db: Database): Promise<ClockLocks> {
  const { client, release } = await db.connect()
  const lost = new AbortController()
  const lose = () => lost.abort()
  client.on('error', lose).on('end', lose)
  const ask = async (act: string, companyId: Uuid): Promise<boolean> => {
    const values = [LOCK_CLASS, companyId]
    const text = `select ${act}($1::int, hashtext($2)) as done`
    const { rows } = await client.query<{ done: boolean }>(text, values)
    return rows[0]!.done
  }
  return {
    take: (companyId) => ask('pg_try_advisory_lock', companyId),
    async leave(companyId) {
      if (!lost.signal.aborted) await ask('pg_advisory_unlock', companyId)
    },
    lost: lost.signal,
    async close() {
      await client.query('select pg_advisory_unlock_all()').catch(lose)
      client.off('error', lose).off('end', lose)
      release(lost.signal.aborted)
    },
  }
}
