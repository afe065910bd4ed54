import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'

/** What a customer has paid, without what went back to them. */
export type CustomerSum = {
  customerId: Uuid
  paid: number
  lastPaidAt: Date | null
  /** Whether older charges were not looked at. */
  isMore: boolean
}

/** So many of the newest charges of each customer are added up, however many there are. */
export const CHARGES_ADDED = 100

/** What each of the customers of a page has paid, by the index of their charges. Tests are none. */
export function sumByCustomer(
  tx: Tx,
  companyId: Uuid,
  customerIds: Uuid[],
): Promise<CustomerSum[]> {
  return tx.query<Row & CustomerSum>({
    name: 'sum_charges_by_customer',
    text: `select k.id as "customerId", f.paid, f.last_paid_at as "lastPaidAt", f.is_more as "isMore"
           from unnest($2::uuid[]) k (id)
           cross join lateral (
             select coalesce(sum(n.paid), 0)::int8 as paid, max(n.payment_date) as last_paid_at,
               count(*) = ${CHARGES_ADDED} as is_more
             from (select c.payment_date,
                     case when c.status = 'COMPLETED' and not c.dev_mode
                       then c.amount + c.adjustment - c.shortfall - c.refunded end as paid
                   from charges c where c.company_id = $1 and c.customer_id = k.id
                   order by c.id desc limit ${CHARGES_ADDED}) n) f`,
    values: [companyId, customerIds],
  })
}
