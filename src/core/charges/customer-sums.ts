import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'

/** What a customer has paid, without what went back to them: see docs/concepts/figures.md. */
export type CustomerSum = {
  customerId: Uuid
  /** How many charges they have paid, and the sum. */
  count: number
  paid: number
  lastPaidAt: Date | null
  /** Whether older charges were not looked at. */
  isMore: boolean
}

/** So many of the newest charges of each customer of a list are added up. */
export const CHARGES_ADDED = 100
/** And so many of one customer, which are as many as a list of fifty adds up. */
const CHARGES_OF_ONE = 50 * CHARGES_ADDED

/** What one customer has paid, by the same sum. */
export async function sumOfCustomer(tx: Tx, companyId: Uuid, id: Uuid): Promise<CustomerSum> {
  const [sum] = await sumByCustomer(tx, companyId, [id], CHARGES_OF_ONE)
  return sum!
}

/** What each of the customers of a page has paid, by the index of their charges. Tests are none. */
export function sumByCustomer(
  tx: Tx,
  companyId: Uuid,
  customerIds: Uuid[],
  most = CHARGES_ADDED,
): Promise<CustomerSum[]> {
  return tx.query<Row & CustomerSum>({
    name: 'sum_charges_by_customer',
    text: `select k.id as "customerId", f.count, f.paid, f.last_paid_at as "lastPaidAt",
             f.is_more as "isMore"
           from unnest($2::uuid[]) k (id)
           cross join lateral (
             select count(n.paid)::int8 as count, coalesce(sum(n.paid), 0)::int8 as paid,
               max(n.payment_date) filter (where n.paid is not null) as last_paid_at,
               count(*) = $3 as is_more
             from (select c.payment_date,
                     case when c.status = 'COMPLETED' and not c.dev_mode
                       then c.amount + c.adjustment - c.shortfall - c.refunded end as paid
                   from charges c where c.company_id = $1 and c.customer_id = k.id
                   order by c.id desc limit $3) n) f`,
    values: [companyId, customerIds, most],
  })
}
