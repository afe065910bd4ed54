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

/** Whether nobody has asked a bank further back for a day. */
export async function mayLookBack(tx: Tx, companyId: Uuid, now: Date): Promise<boolean> {
  const rows = await tx.query({
    text: `select from reconciliations where company_id = $1
           and (looked_back_at is null or looked_back_at <= $2::timestamptz - interval '1 day')`,
    values: [companyId, now],
  })
  return rows.length === 1
}

export async function markLookedBack(tx: Tx, companyId: Uuid, now: Date): Promise<void> {
  await tx.query({
    text: 'update reconciliations set looked_back_at = $2 where company_id = $1',
    values: [companyId, now],
  })
}

/** Up to when all that the bank has listed is settled. */
export async function findAskedUntil(tx: Tx, companyId: Uuid): Promise<Date | null> {
  const [row] = await tx.query<{ asked_until: Date }>({
    text: 'select asked_until from reconciliations where company_id = $1',
    values: [companyId],
  })
  return row?.asked_until ?? null
}

/** Up to when the bank has been asked that has answered least of all real ones. */
export async function oldestAsked(tx: Tx): Promise<Date | null> {
  const [row] = await tx.query<{ asked: Date | null }>({
    text: `select min(greatest(r.asked_until, b.connected_at)) as asked
           from bank_connections b join reconciliations r on r.company_id = b.company_id`,
  })
  return row!.asked
}

/** Asks the bank soon: it may have changed. */
export async function reconcileSoon(tx: Tx, companyId: Uuid, now: Date): Promise<void> {
  await tx.query({
    text: `update reconciliations set next_attempt_at = least(next_attempt_at, $2)
           where company_id = $1`,
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
