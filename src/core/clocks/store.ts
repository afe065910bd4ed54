import type { Database, Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { TestClock } from './rules.ts'

const UNMOVED: TestClock = { ahead_ms: 0, target: null }

export async function find(
  tx: Tx,
  companyId: Uuid,
  lock: 'for update' | '' = '',
): Promise<TestClock> {
  const rows = await tx.query<Row & TestClock>({
    text: `select ahead_ms, target from test_clocks where company_id = $1 ${lock}`,
    values: [companyId],
  })
  return rows[0] ?? UNMOVED
}

/** Locks the clock of a company, and creates it first if it has none. */
export async function lockOrCreate(tx: Tx, companyId: Uuid): Promise<TestClock> {
  await tx.query({
    text: `insert into test_clocks (company_id, ahead_ms) values ($1, 0)
           on conflict (company_id) do nothing`,
    values: [companyId],
  })
  return find(tx, companyId, 'for update')
}

/** Changes a clock. False if somebody else changed it since it was read. */
export async function update(
  tx: Tx,
  companyId: Uuid,
  before: TestClock,
  after: TestClock,
): Promise<boolean> {
  const rows = await tx.query({
    text: `update test_clocks set ahead_ms = greatest(ahead_ms, $4), target = $5
           where company_id = $1 and ahead_ms = $2 and target is not distinct from $3
           returning 1`,
    values: [companyId, before.ahead_ms, before.target, after.ahead_ms, after.target],
  })
  return rows.length === 1
}

/** Companies whose clock is advancing. */
export async function findAdvancing(tx: Tx): Promise<Uuid[]> {
  const rows = await tx.query<{ company_id: Uuid }>({
    text: 'select company_id from test_clocks where target is not null order by company_id',
  })
  return rows.map(({ company_id }) => company_id)
}

/** Stops a clock that is advancing. It keeps the time that it has. */
export async function stopMoving(tx: Tx, companyId: Uuid): Promise<void> {
  await tx.query({
    text: 'update test_clocks set target = null where company_id = $1',
    values: [companyId],
  })
}

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
