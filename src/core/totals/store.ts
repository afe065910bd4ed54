import { timestamps } from '../../db/arrays.ts'
import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Period } from './rules.ts'

/** Payments of charges that are booked. */
export type Received = { count: number; sum: number }

/** Charges that were made, and how many of them are paid. */
export type Made = { made: number; paid: number }

/** Which hours are counted: see the migration. */
export type Counted = { receivedFrom: Date; madeFrom: Date; madeUntil: Date }

type CountedRow = Row & { received_from: Date; made_from: Date; made_until: Date }

export async function findCounted(tx: Tx, companyId: Uuid): Promise<Counted | null> {
  const [row] = await tx.query<CountedRow>({
    name: 'find_counted_hours',
    text: `select received_from, made_from, made_until from counted_hours where company_id = $1`,
    values: [companyId],
  })
  return row
    ? { receivedFrom: row.received_from, madeFrom: row.made_from, madeUntil: row.made_until }
    : null
}

export async function saveCounted(tx: Tx, companyId: Uuid, counted: Counted): Promise<void> {
  await tx.query({
    text: `insert into counted_hours (company_id, received_from, made_from, made_until)
           values ($1, $2, $3, $4)
           on conflict (company_id) do update set received_from = excluded.received_from,
             made_from = excluded.made_from, made_until = excluded.made_until`,
    values: [companyId, counted.receivedFrom, counted.madeFrom, counted.madeUntil],
  })
}

/** Counts payments by their hour. Without an end, later ones are counted too. */
export async function countReceived(
  tx: Tx,
  companyId: Uuid,
  { from, to }: { from: Date; to: Date | null },
): Promise<void> {
  await tx.query({
    text: `with counted as materialized (
             select company_id, date_trunc('hour', payment_date, 'UTC'), count(*),
               sum(amount + adjustment - shortfall)
             from charges
             where company_id = $1 and payment_date >= $2
               and ($3::timestamptz is null or payment_date < $3) and booked
             group by 1, 2
           )
           insert into hourly_totals as t (company_id, hour, received_count, received)
           select * from counted
           on conflict (company_id, hour) do update
             set received_count = excluded.received_count, received = excluded.received`,
    values: [companyId, from, to],
  })
}

/** Sales of static codes are made by being paid, and trials of a live company are no sales. */
const MADE = `company_id = $1 and created_at >= $2 and created_at < $3 and kind <> 'STATIC'
  and (not dev_mode or $4)`

/** Counts charges by the hour in which they were made. */
export async function countMade(
  tx: Tx,
  companyId: Uuid,
  { from, to }: Period,
  withTrials: boolean,
): Promise<void> {
  await tx.query({
    text: `with counted as materialized (
             select company_id, date_trunc('hour', created_at, 'UTC'), count(*),
               count(payment_date)
             from charges where ${MADE}
             group by 1, 2
           )
           insert into hourly_totals as t (company_id, hour, made, made_paid)
           select * from counted
           on conflict (company_id, hour) do update
             set made = excluded.made, made_paid = excluded.made_paid`,
    values: [companyId, from, to, withTrials],
  })
}

/** What was received in each period, in their order, from hours that are counted. */
export async function sumReceived(tx: Tx, companyId: Uuid, periods: Period[]): Promise<Received[]> {
  return tx.query<Received>({
    name: 'sum_received',
    text: `select coalesce(sum(t.received_count), 0)::int8 as count,
             coalesce(sum(t.received), 0)::int8 as sum
           from unnest($2::timestamptz[], $3::timestamptz[]) with ordinality
             p (from_hour, to_hour, position)
           left join hourly_totals t on t.company_id = $1 and t.hour >= p.from_hour
             and t.hour < p.to_hour
           group by p.position order by p.position`,
    values: [
      companyId,
      timestamps(periods.map(({ from }) => from)),
      timestamps(periods.map(({ to }) => to)),
    ],
  })
}

/** What was received in a short period, from the charges themselves. */
export async function readReceived(
  tx: Tx,
  companyId: Uuid,
  { from, to }: Period,
): Promise<Received> {
  const [row] = await tx.query<Received>({
    name: 'read_received',
    text: `select count(*) as count, coalesce(sum(amount + adjustment - shortfall), 0)::int8 as sum
           from charges
           where company_id = $1 and payment_date >= $2 and payment_date < $3 and booked`,
    values: [companyId, from, to],
  })
  return row!
}

/** Charges that were made in a period of hours that are counted. */
export async function sumMade(tx: Tx, companyId: Uuid, { from, to }: Period): Promise<Made> {
  const [row] = await tx.query<Made>({
    name: 'sum_made',
    text: `select coalesce(sum(made), 0)::int8 as made, coalesce(sum(made_paid), 0)::int8 as paid
           from hourly_totals where company_id = $1 and hour >= $2 and hour < $3`,
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
): Promise<Made> {
  const [row] = await tx.query<Made>({
    name: 'read_made',
    text: `select count(*) as made, count(payment_date) as paid from charges where ${MADE}`,
    values: [companyId, from, to, withTrials],
  })
  return row!
}

/** No more are counted, so that the cost does not grow with their number. */
export const MAX_COUNTED = 100

/** What waits for a decision of the company's people. */
export type Waiting = {
  unmatched: number
  /** Disputes that nobody has answered, and the first of their deadlines. */
  disputes: number
  disputeDeadline: Date | null
  /** Webhooks that fail, or were deactivated because they failed. */
  webhooks: number
  /** Charges of subscriptions that could not be collected lately. */
  collections: number
  certificateEndsAt: Date | null
}

export async function findWaiting(tx: Tx, companyId: Uuid, since: Date): Promise<Waiting> {
  const [row] = await tx.query<Row & Waiting>({
    name: 'find_waiting',
    text: `select
      (select count(*) from (select from payments where company_id = $1 and status = 'UNMATCHED'
         and reason is not null limit ${MAX_COUNTED}) p) as unmatched,
      (select count(*) from disputes where company_id = $1 and status = 'OPEN') as disputes,
      (select min(deadline) from disputes where company_id = $1 and status = 'OPEN')
        as "disputeDeadline",
      (select count(*) from webhooks where company_id = $1
         and (deactivated is not null or (status = 'ACTIVE' and failing_since is not null)))
         as webhooks,
      (select count(*) from unnest(array[true, false]) d (dev_mode) cross join lateral (
         select created_at from charges where company_id = $1 and status = 'EXPIRED'
           and payment_status = 'EXPIRED' and kind = 'RECURRING' and dev_mode = d.dev_mode
         order by id desc limit ${MAX_COUNTED}) c where c.created_at >= $2) as collections,
      (select certificate_ends_at from bank_connections where company_id = $1)
        as "certificateEndsAt"`,
    values: [companyId, since],
  })
  return row!
}
