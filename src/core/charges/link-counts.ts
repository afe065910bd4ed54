import { booleans, integers, uuids } from '../../db/arrays.ts'
import type { Tx } from '../../db/database.ts'
import { type Change, receivedOf } from './rules.ts'

/**
 * Counts what has become of sales by links. A sale that expires or is canceled frees its place in
 * the stock of its link, and one that is paid after that takes it again. Links are locked in a
 * fixed order, so that two transactions cannot deadlock.
 */
const COUNT = `with counted as materialized (
    select c.company_id, c.link_id, count(*) filter (where u.is_paid) as paid,
      coalesce(sum(u.received) filter (where u.is_paid), 0) as received,
      count(*) filter (where u.is_paid and c.status <> 'OPEN')
        - count(*) filter (where not u.is_paid and c.status = 'OPEN') as used
    from unnest($1::uuid[], $2::uuid[], $3::bool[], $4::int8[])
      u (company_id, id, is_paid, received)
    join charges c on c.company_id = u.company_id and c.id = u.id
    group by c.company_id, c.link_id
  ), locked as materialized (
    select l.company_id, l.id from counted n
    join links l on l.company_id = n.company_id and l.id = n.link_id
    order by l.company_id, l.id for no key update of l
  )
  update links l
  set used = l.used + n.used, paid = l.paid + n.paid, received = l.received + n.received
  from counted n join locked k on k.company_id = n.company_id and k.id = n.link_id
  where l.company_id = k.company_id and l.id = k.id`

/** Of a change that ends a sale: whether it was paid. Null: the change is of no concern. */
function endOf({ charge, event }: Change): boolean | null {
  if (charge.linkId === null) return null
  if (event === 'charge.paid') return true
  return event === 'charge.expired' || event === 'charge.canceled' ? false : null
}

/** Counts with their links what changes of charges do to them, before the changes are written. */
export async function countSales(tx: Tx, changes: Change[]): Promise<void> {
  const ended = changes.filter((change) => endOf(change) !== null)
  if (ended.length === 0) return
  const charges = ended.map(({ charge }) => charge)
  await tx.query({
    name: 'count_sales_of_links',
    text: COUNT,
    values: [
      uuids(charges.map(({ companyId }) => companyId)),
      uuids(charges.map(({ id }) => id)),
      booleans(ended.map((change) => endOf(change)!)),
      integers(ended.map((change) => (endOf(change) ? receivedOf(change.charge) : 0))),
    ],
  })
}
