import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { type Cents, toCents } from '../../lib/money.ts'

/** Withdrawals of more than `above`, alone or on one day, need the approval of a second person. */
type ApprovalLimit = { above: Cents; setBy: Uuid; setAt: Date }

export async function findLimit(tx: Tx, companyId: Uuid): Promise<ApprovalLimit | null> {
  const [row] = await tx.query<{ above: number; setBy: Uuid; setAt: Date }>({
    text: `select above, set_by as "setBy", set_at as "setAt" from approval_limits
           where company_id = $1`,
    values: [companyId],
  })
  return row ? { ...row, above: toCents(row.above) } : null
}

/** Null: no withdrawal needs an approval. */
export async function setLimit(
  tx: Tx,
  companyId: Uuid,
  limit: ApprovalLimit | null,
): Promise<void> {
  if (!limit) {
    await tx.query({
      text: 'delete from approval_limits where company_id = $1',
      values: [companyId],
    })
    return
  }
  await tx.query({
    text: `insert into approval_limits (company_id, above, set_by, set_at) values ($1, $2, $3, $4)
           on conflict (company_id) do update
             set above = excluded.above, set_by = excluded.set_by, set_at = excluded.set_at`,
    values: [companyId, limit.above, limit.setBy, limit.setAt],
  })
}

/** What was paid out without an approval, of the withdrawals that were started since then. */
export async function sumWithoutApproval(tx: Tx, companyId: Uuid, since: Date): Promise<Cents> {
  const [row] = await tx.query<{ sum: number }>({
    text: `select coalesce(sum(value), 0)::int8 as sum from withdrawals
           where company_id = $1 and status = 'COMPLETED' and created_at >= $2
             and not needs_approval`,
    values: [companyId, since],
  })
  return toCents(row!.sum)
}

/** Called in the transaction that starts the withdrawal. */
export async function requireApproval(tx: Tx, companyId: Uuid, id: Uuid): Promise<void> {
  await tx.query({
    text: 'update withdrawals set needs_approval = true where company_id = $1 and id = $2',
    values: [companyId, id],
  })
}
