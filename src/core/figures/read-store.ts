import { texts, timestamps, uuids } from '../../db/arrays.ts'
import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { overdueIds } from '../billings/store.ts'
import { MAX_SUM } from './count-store.ts'
import type { Part, Period, ProductSum, SubscriptionFigures } from './rules.ts'

/** SQL: sums of products in some whole hours and days. */
const SUMS_IN = `unnest($2::text[], $3::timestamptz[], $4::timestamptz[]) p (span, from_at, to_at)
  join product_sums s on s.company_id = $1 and s.span = p.span
    and s.starts_at >= p.from_at and s.starts_at < p.to_at`

const valuesOf = (companyId: Uuid, parts: Part[]) => [
  companyId,
  texts(parts.map(({ span }) => span)),
  timestamps(parts.map(({ from }) => from)),
  timestamps(parts.map(({ to }) => to)),
]

/** The products that brought in most in some whole hours and days, the most first. */
export async function sumProducts(
  tx: Tx,
  companyId: Uuid,
  parts: Part[],
  limit: number,
): Promise<Omit<ProductSum, 'before'>[]> {
  return tx.query<Row & Omit<ProductSum, 'before'>>({
    name: 'sum_products',
    text: `select s.product_id as "productId", coalesce(p.name, s.name) as name, s.quantity, s.sum
           from (select product_id, (array_agg(name order by starts_at desc))[1] as name,
                   least(sum(quantity), ${MAX_SUM})::int8 as quantity,
                   least(sum(sum), ${MAX_SUM})::int8 as sum
                 from ${SUMS_IN} group by 1 order by sum(sum) desc, 1 limit $5) s
           left join products p on p.company_id = $1 and p.id = s.product_id
           order by s.sum desc, s.product_id`,
    values: [...valuesOf(companyId, parts), limit],
  })
}

/** What these products brought in in some whole hours and days. */
export async function sumOfProducts(
  tx: Tx,
  companyId: Uuid,
  parts: Part[],
  ids: Uuid[],
): Promise<{ productId: Uuid; sum: number }[]> {
  return tx.query<Row & { productId: Uuid; sum: number }>({
    name: 'sum_of_products',
    text: `select product_id as "productId", least(sum(sum), ${MAX_SUM})::int8 as sum
           from ${SUMS_IN} where product_id = any($5::uuid[]) group by 1`,
    values: [...valuesOf(companyId, parts), uuids(ids)],
  })
}

/** How often a price is paid in a year. */
const IN_A_YEAR = `case frequency when 'WEEKLY' then 52 when 'MONTHLY' then 12
  when 'SEMIANNUAL' then 2 else 1 end`

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
      from (select coalesce(round(sum(value * ${IN_A_YEAR}) / 12), 0)::int8 as mrr,
              count(*) as active
            from recurrences where company_id = $1 and auth_status = 'APPROVED'
              and not is_template) a`,
    values: [companyId, from, to, today],
  })
  return row!
}
