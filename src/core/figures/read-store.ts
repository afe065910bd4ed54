import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { overdueIds } from '../billings/store.ts'
import type { Period, ProductSum, SubscriptionFigures } from './rules.ts'

/** The products that brought in most from one day to another. */
export async function sumProducts(
  tx: Tx,
  companyId: Uuid,
  [first, last]: [string, string],
  limit: number,
): Promise<ProductSum[]> {
  return tx.query<Row & ProductSum>({
    name: 'sum_products',
    text: `select s.product_id as "productId", coalesce(p.name, s.name) as name, s.quantity, s.sum
           from (select product_id, (array_agg(name order by day desc))[1] as name,
                   sum(quantity)::int8 as quantity, sum(sum)::int8 as sum
                 from product_sums where company_id = $1 and day >= $2 and day <= $3
                 group by 1 order by sum(sum) desc, 1 limit $4) s
           left join products p on p.company_id = $1 and p.id = s.product_id
           order by s.sum desc, s.product_id`,
    values: [companyId, first, last, limit],
  })
}

/** How many months a price is for. */
const MONTHLY = `case frequency when 'WEEKLY' then value * 52.0 / 12 when 'MONTHLY' then value
  when 'SEMIANNUAL' then value / 6.0 else value / 12.0 end`

export async function findSubscriptionFigures(
  tx: Tx,
  companyId: Uuid,
  { from, to }: Period,
  today: string,
): Promise<SubscriptionFigures> {
  const [row] = await tx.query<Row & SubscriptionFigures>({
    name: 'find_subscription_figures',
    text: `select a.mrr, a.active,
      (select count(*) from recurrences where company_id = $1 and first_on is not null
         and not is_template and created_at >= $2 and created_at < $3) as started,
      (select count(*) from recurrences where company_id = $1 and auth_status = 'CANCELED'
         and first_on is not null and not is_template
         and decided_at >= $2 and decided_at < $3) as canceled,
      (select count(*) from (${overdueIds('$4')}) late) as overdue
      from (select coalesce(round(sum(${MONTHLY})), 0)::int8 as mrr, count(*) as active
            from recurrences where company_id = $1 and auth_status = 'APPROVED'
              and not is_template) a`,
    values: [companyId, from, to, today],
  })
  return row!
}
