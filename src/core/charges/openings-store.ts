import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { ChargeId } from './store.ts'

/** What is known of how a payer came to the code of a charge. */
export type Opening = {
  openedAt: Date | null
  codeAt: Date | null
  /** An id that was made just before the event of the code. */
  beforeEvent: Uuid | null
}

/** Writes when the page of a charge was opened. Only the first time counts. */
export async function insertOpening(tx: Tx, { companyId, id }: ChargeId, at: Date): Promise<void> {
  await tx.query({
    text: `insert into charge_openings (company_id, charge_id, opened_at) values ($1, $2, $3)
           on conflict (company_id, charge_id) do update set opened_at = excluded.opened_at
             where charge_openings.opened_at is null`,
    values: [companyId, id, at],
  })
}

/** Writes when a link got its code, in the transaction that gives it the code. */
export async function insertCode(
  tx: Tx,
  { companyId, id }: ChargeId,
  at: Date,
  beforeEvent: Uuid,
): Promise<void> {
  await tx.query({
    text: `insert into charge_openings (company_id, charge_id, code_at, before_event)
           values ($1, $2, $3, $4)
           on conflict (company_id, charge_id) do update
             set code_at = excluded.code_at, before_event = excluded.before_event`,
    values: [companyId, id, at, beforeEvent],
  })
}

export async function findOpening(tx: Tx, { companyId, id }: ChargeId): Promise<Opening | null> {
  const [row] = await tx.query<{
    opened_at: Date | null
    code_at: Date | null
    before_event: Uuid | null
  }>({
    text: `select opened_at, code_at, before_event from charge_openings
           where company_id = $1 and charge_id = $2`,
    values: [companyId, id],
  })
  return row
    ? { openedAt: row.opened_at, codeAt: row.code_at, beforeEvent: row.before_event }
    : null
}
