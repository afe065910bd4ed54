import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'

type MovedClock = { companyId: Uuid; ahead_ms: number }

/**
 * The clocks of companies that are ahead of real time. A clock that is being moved right now is
 * left out, because what falls due is done while it moves.
 */
export async function listMovedClocks(tx: Tx): Promise<MovedClock[]> {
  const rows = await tx.query<Row & { company_id: Uuid; ahead_ms: number }>({
    text: 'select company_id, ahead_ms from test_clocks where target is null',
  })
  return rows.map(({ company_id: companyId, ahead_ms }) => ({ companyId, ahead_ms }))
}
