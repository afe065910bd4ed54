import { integers, texts, timestamps, uuids } from '../../db/arrays.ts'
import type { Row, Tx } from '../../db/database.ts'
import { NUMBERED, type Range, valuesOf } from '../../ledger/sums.ts'
import { fromPublic, type Uuid } from '../../lib/ids.ts'
import { ZONE } from '../../pix/local-time.ts'
import type { Conversion, Period } from './rules.ts'

/** Up to where a company is counted: see the migration. */
export type Counted = { entries: number; latest: Date | null; madeFrom: Date; madeUntil: Date }

type CountedRow = Row & {
  entries: number
  latest: Date | null
  made_from: Date
  made_until: Date
}

/** With 'for update' it is locked, so that nobody else counts. Who books money needs no lock of it. */
export async function findCounted(
  tx: Tx,
  companyId: Uuid,
  lock: '' | 'for update' = '',
): Promise<Counted | null> {
  const [row] = await tx.query<CountedRow>({
    name: `find_counted_figures${lock && '_locked'}`,
    text: `select entries, latest, made_from, made_until from counted_figures
           where company_id = $1 ${lock}`,
    values: [companyId],
  })
  if (!row) return null
  const { entries, latest, made_from: madeFrom, made_until: madeUntil } = row
  return { entries, latest, madeFrom, madeUntil }
}

/** Begins to count a company. `since` is when its first charge may have been made. */
export async function insertCounted(tx: Tx, companyId: Uuid, since: Date): Promise<void> {
  await tx.query({
    text: `insert into counted_figures (company_id, entries, made_from, made_until)
           values ($1, 0, $2, $2) on conflict do nothing`,
    values: [companyId, since],
  })
}

export async function saveCounted(
  tx: Tx,
  companyId: Uuid,
  { entries, latest, madeFrom, madeUntil }: Counted,
): Promise<void> {
  await tx.query({
    text: `update counted_figures set entries = $2, latest = $3, made_from = $4, made_until = $5
           where company_id = $1`,
    values: [companyId, entries, latest, madeFrom, madeUntil],
  })
}

/** Adds charges that were paid to the hours in which they were made. */
export async function addPaid(tx: Tx, companyId: Uuid, range: Range): Promise<void> {
  await tx.query({
    name: 'add_paid_charges',
    text: `with paid as materialized (
             select n.company_id, (
               select date_trunc('hour', c.created_at, 'UTC') from charges c
               where c.company_id = n.company_id and c.id = n.charge_id and c.kind <> 'STATIC'
             ) as hour
             from (${NUMBERED}) n where n.kind = 'CHARGE_PAID'
           )
           insert into charge_counts as t (company_id, hour, paid)
           select company_id, hour, count(*) from paid where hour is not null group by 1, 2
           on conflict (company_id, hour) do update set paid = t.paid + excluded.paid`,
    values: valuesOf(companyId, range),
  })
}

/** Writes which payments were booked in a later month than the bank has received them in. */
export async function addLate(tx: Tx, companyId: Uuid, range: Range): Promise<void> {
  const monthOf = (at: string) => `date_trunc('month', ${at} at time zone '${ZONE}')::date`
  await tx.query({
    name: 'add_late_receipts',
    text: `with arrived as materialized (
             select n.company_id, n.entry, n.at, n.ref, case n.kind
               when 'CHARGE_PAID' then (select c.payment_date from charges c
                 where c.company_id = n.company_id and c.id = n.charge_id)
               else (select min(p.received_at) from payments p
                 where p.company_id = n.company_id and p.end_to_end_id = n.ref) end as received_at
             from (${NUMBERED}) n
             where n.debit = 'bank' and n.kind in ('CHARGE_PAID', 'PAYMENT_UNMATCHED')
           )
           insert into late_receipts (company_id, month, entry, end_to_end_id, received_at)
           select company_id, ${monthOf('received_at')}, entry, ref, received_at from arrived
           where ${monthOf('received_at')} < ${monthOf('at')}
           on conflict do nothing`,
    values: valuesOf(companyId, range),
  })
}

/** More than anybody sells: no item of a link makes a sum too large for a column. */
export const MAX_SUM = 9_007_199_254_740_991
const MAX_ITEM = 999_999_999_999

type Sold = Row & { hour: Date; product: string; name: string; quantity: number; sum: number }

/** What was sold, by the hour: items of links, and products of subscriptions. */
export function findSold(tx: Tx, companyId: Uuid, range: Range): Promise<Sold[]> {
  return tx.query<Sold>({
    name: 'find_sold_products',
    text: `select date_trunc('hour', n.at, 'UTC') as hour, i.product,
             (array_agg(i.name order by n.entry desc))[1] as name,
             least(sum(i.quantity), ${MAX_SUM})::int8 as quantity,
             least(sum(i.sum), ${MAX_SUM})::int8 as sum
           from (${NUMBERED}) n cross join lateral (
             select i -> 'product' ->> 'id' as product, i -> 'product' ->> 'name' as name,
               least((i ->> 'quantity')::numeric, ${MAX_ITEM}) as quantity,
               least((i ->> 'quantity')::numeric * (i -> 'product' ->> 'price')::numeric,
                 ${MAX_ITEM}) as sum
             from charges c cross join lateral jsonb_array_elements(c.link -> 'items') i
             where c.company_id = n.company_id and c.id = n.charge_id and c.kind = 'LINK'
             union all
             select r.product_id::text, r.product_name, 1, c.amount
             from charges c
             join recurrences r on r.company_id = c.company_id and r.id = c.recurrence_id
             where c.company_id = n.company_id and c.id = n.charge_id and c.kind = 'RECURRING'
           ) i
           where n.kind = 'CHARGE_PAID'
           group by 1, 2`,
    values: valuesOf(companyId, range),
  })
}

/** Links name their products by public ids, and subscriptions by their own. */
export const productOf = ({ product }: Sold): Uuid => fromPublic('prod', product) ?? product

/** Adds what was sold to its hours and days. */
export async function addProducts(tx: Tx, companyId: Uuid, range: Range): Promise<void> {
  const sold = await findSold(tx, companyId, range)
  if (sold.length === 0) return
  await tx.query({
    text: `with sold as (
             select s.span, s.starts_at, product_id,
               (array_agg(name order by hour desc))[1] as name,
               sum(quantity) as quantity, sum(sum) as sum
             from unnest($2::timestamptz[], $3::uuid[], $4::text[], $5::int8[], $6::int8[])
               u (hour, product_id, name, quantity, sum)
             cross join lateral (values
               ('hour', hour), ('day', date_trunc('day', hour, '${ZONE}'))) s (span, starts_at)
             group by 1, 2, 3
           )
           insert into product_sums as t
             (company_id, span, starts_at, product_id, name, quantity, sum)
           select $1, span, starts_at, product_id, name, least(quantity, ${MAX_SUM}),
             least(sum, ${MAX_SUM}) from sold
           on conflict (company_id, span, starts_at, product_id) do update set name = excluded.name,
             quantity = least(t.quantity + excluded.quantity, ${MAX_SUM}),
             sum = least(t.sum + excluded.sum, ${MAX_SUM})`,
    values: [
      companyId,
      timestamps(sold.map(({ hour }) => hour)),
      uuids(sold.map(productOf)),
      texts(sold.map(({ name }) => name)),
      integers(sold.map(({ quantity }) => quantity)),
      integers(sold.map(({ sum }) => sum)),
    ],
  })
}

/** Sales of static codes are made by being paid, and trials of a live company are no sales. */
const MADE = `company_id = $1 and created_at >= $2 and created_at < $3 and kind <> 'STATIC'
  and (not dev_mode or $4)`

/** Counts charges by the hour in which they were made. It can be repeated. */
export async function countMade(
  tx: Tx,
  companyId: Uuid,
  { from, to }: Period,
  withTrials: boolean,
): Promise<void> {
  await tx.query({
    text: `with counted as materialized (
             select company_id, date_trunc('hour', created_at, 'UTC'), count(*)
             from charges where ${MADE}
             group by 1, 2
           )
           insert into charge_counts as t (company_id, hour, made)
           select * from counted
           on conflict (company_id, hour) do update set made = excluded.made`,
    values: [companyId, from, to, withTrials],
  })
}

/** Charges that were made in a period of hours that are counted. */
export async function sumMade(tx: Tx, companyId: Uuid, { from, to }: Period): Promise<Conversion> {
  const [row] = await tx.query<Conversion>({
    name: 'sum_made',
    text: `select coalesce(sum(made), 0)::int8 as made, coalesce(sum(paid), 0)::int8 as paid
           from charge_counts where company_id = $1 and hour >= $2 and hour < $3`,
    values: [companyId, from, to],
  })
  return row!
}

/** Charges that were made in a period, from the charges themselves. */
export async function readMade(
  tx: Tx,
  companyId: Uuid,
  { from, to }: Period,
  withTrials: boolean,
): Promise<Conversion> {
  const [row] = await tx.query<Conversion>({
    name: 'read_made',
    text: `select count(*) as made, count(payment_date) as paid from charges where ${MADE}`,
    values: [companyId, from, to, withTrials],
  })
  return row!
}
