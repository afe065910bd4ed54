import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'

/** Begins to ask the bank about a new company. */
export async function startReconciling(tx: Tx, companyId: Uuid, now: Date): Promise<void> {
  await tx.query({
    text: `insert into reconciliations (company_id, asked_until, next_attempt_at)
           values ($1, $2, $2)`,
    values: [companyId, now],
  })
}

export type Due = { company_id: Uuid; asked_until: Date; busy: boolean }

/** Leases companies that are due, and tells whether they have charges that may be paid. */
export async function claimDue(tx: Tx, now: Date, leaseUntil: Date, most: number): Promise<Due[]> {
  return tx.query<Due>({
    text: `update reconciliations r set next_attempt_at = $2
           from (select company_id from reconciliations where next_attempt_at <= $1
                 order by next_attempt_at limit $3 for update skip locked) due
           where r.company_id = due.company_id
           returning r.company_id, r.asked_until, exists (select 1 from charges c
             where c.company_id = r.company_id and c.status = 'OPEN') as busy`,
    values: [now, leaseUntil, most],
  })
}

export async function finish(tx: Tx, companyId: Uuid, until: Date, next: Date): Promise<void> {
  await tx.query({
    text: `update reconciliations set asked_until = greatest(asked_until, $2),
             next_attempt_at = $3 where company_id = $1`,
    values: [companyId, until, next],
  })
}
