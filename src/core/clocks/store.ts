import type { Row, Tx } from '../../db/database.ts'
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
