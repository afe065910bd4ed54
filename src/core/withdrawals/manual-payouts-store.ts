import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Cents } from '../../lib/money.ts'

/** A manual withdrawal that is not sent yet, with what an operator needs to send it. */
export type WaitingPayout = {
  companyId: Uuid
  companyName: string
  id: Uuid
  value: Cents
  destination: string
  confirmedAt: Date
  /** If set, a bank may have got the order. Its statement shows whether it sent the money. */
  orderedAt: Date | null
  /** Whether the company's books differ, so that no money should leave it. */
  differs: boolean
}

/** For the operator: of all companies or of one, the longest waiting first. */
export const listWaiting = (tx: Tx, companyId: Uuid | null): Promise<WaitingPayout[]> =>
  tx.query<WaitingPayout>({
    text: `select w.company_id as "companyId", c.name as "companyName", w.id, w.value,
             w.destination, w.confirmed_at as "confirmedAt", w.ordered_at as "orderedAt",
             exists (select from audits a where a.company_id = w.company_id
               and a.difference is not null) as differs
           from withdrawals w join companies c on c.id = w.company_id
           where w.status = 'PROCESSING' and w.manual and ($1::uuid is null or w.company_id = $1)
           order by w.confirmed_at, w.id`,
    values: [companyId],
  })

/** How many withdrawals wait for an operator. */
export async function countWaiting(tx: Tx): Promise<number> {
  const [row] = await tx.query<{ count: number }>({
    text: `select count(*) as count from withdrawals where status = 'PROCESSING' and manual`,
  })
  return row!.count
}

/** For the operator, who has only the id of a withdrawal. */
export async function findCompanyOf(tx: Tx, id: Uuid): Promise<Uuid | null> {
  const [row] = await tx.query<{ company_id: Uuid }>({
    text: 'select company_id from withdrawals where id = $1',
    values: [id],
  })
  return row?.company_id ?? null
}

/**
 * The withdrawal of any company that was sent with an id of the scheme. Takes a lock, so that no
 * other transaction can use the same id until this one ends.
 */
export async function findSentAs(tx: Tx, endToEndId: string): Promise<Uuid | null> {
  await tx.query({
    text: `select pg_advisory_xact_lock(hashtextextended('withdrawal ' || $1, 0))`,
    values: [endToEndId],
  })
  const [row] = await tx.query<{ id: Uuid }>({
    text: 'select id from withdrawals where end_to_end_id = $1',
    values: [endToEndId],
  })
  return row?.id ?? null
}
