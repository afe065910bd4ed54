import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'

export type Clock = { companyId: Uuid; ahead_ms: number }

/**
 * Every company whose time goes by ahead of the real one. Those whose clock is being moved are left
 * out: what is due for them is done as it moves.
 */
export async function listResting(tx: Tx): Promise<Clock[]> {
  const rows = await tx.query<Row & { company_id: Uuid; ahead_ms: number }>({
    text: 'select company_id, ahead_ms from test_clocks where target is null',
  })
  return rows.map(({ company_id: companyId, ahead_ms }) => ({ companyId, ahead_ms }))
}
