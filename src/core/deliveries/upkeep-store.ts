import { tids } from '../../db/arrays.ts'
import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { InTime } from '../companies/clock.ts'
import type { Attempt } from './rules.ts'
import type { WebhookKey } from './store.ts'

type Table = 'deliveries' | 'delivery_log'

/** Hops through the index from one webhook to the next, however much each of them has. */
const hop = (table: Table): string => `with recursive hop as (
  (select company_id, webhook_id from ${table} order by company_id, webhook_id limit 1)
  union all
  select n.company_id, n.webhook_id from hop h cross join lateral (
    select company_id, webhook_id from ${table} d
    where (d.company_id, d.webhook_id) > (h.company_id, h.webhook_id)
    order by company_id, webhook_id limit 1) n
)`

type HopRow = Row & {
  company_id: Uuid
  webhook_id: Uuid
  status: string | null
  ahead_ms: number
}

/** A webhook that takes nothing, or one that was deleted. */
export type Stranded = WebhookKey & InTime & { isDeleted: boolean }

/** Webhooks of any company that have rows in the table although they are not active. */
export async function findStranded(tx: Tx, table: Table): Promise<Stranded[]> {
  const rows = await tx.query<HopRow>({
    text: `${hop(table)} select hop.*, w.status, coalesce(t.ahead_ms, 0) as ahead_ms from hop
           left join webhooks w on w.company_id = hop.company_id and w.id = hop.webhook_id
           left join test_clocks t on t.company_id = hop.company_id
           where w.status is distinct from 'ACTIVE'`,
  })
  return rows.map((row) => ({
    companyId: row.company_id,
    webhookId: row.webhook_id,
    isDeleted: row.status === null,
    clockAhead_ms: row.ahead_ms,
  }))
}

/**
 * Moves pending deliveries of an inactive webhook to the log, unless a worker has some of them in
 * its hands, and tells how many they were. From there they can be replayed.
 */
export async function shelve(
  tx: Tx,
  { companyId, webhookId }: WebhookKey,
  reason: Attempt,
  most: number,
): Promise<number> {
  const rows = await tx.query({
    text: `with pending as materialized (
             select d.ctid as place from deliveries d
             join webhooks w on w.company_id = d.company_id and w.id = d.webhook_id
             where d.company_id = $1 and d.webhook_id = $2 and w.status = 'INACTIVE'
               and not exists (select from delivery_lines l where l.company_id = $1
                 and l.webhook_id = $2 and l.until > now())
             order by d.event_id limit $5 for update of d skip locked
           ), shelved as (
             delete from deliveries where ctid = any (array(select place from pending))
             returning *
           )
           insert into delivery_log
             (company_id, webhook_id, event_id, status, attempts, created_at, finished_at)
           select company_id, webhook_id, event_id, 'FAILED', attempts || $3::jsonb, created_at,
             $4::timestamptz
           from shelved returning event_id`,
    values: [companyId, webhookId, JSON.stringify([reason]), reason.at, most],
  })
  return rows.length
}

/** Deletes what a webhook has in the table, at most so many rows, and tells how many they were. */
export async function drop(
  tx: Tx,
  table: Table,
  { companyId, webhookId }: WebhookKey,
  most: number,
): Promise<number> {
  const [row] = await tx.query<{ dropped: number }>({
    text: `with dropped as (
             delete from ${table} where ctid = any (array(
               select ctid from ${table} where company_id = $1 and webhook_id = $2 limit $3))
             returning event_id
           )
           select count(*) as dropped from dropped`,
    values: [companyId, webhookId, most],
  })
  return row!.dropped
}

/** Rows of one company that ended long ago, by where they lie. */
export type Old = { companyId: Uuid; places: string[] }

/** Rows that ended long ago, at most so many, and none of these companies. */
export async function findOld(tx: Tx, before: Date, most: number, but: Uuid[]): Promise<Old[]> {
  const rows = await tx.query<{ company_id: Uuid; places: string[] }>({
    text: `select company_id, array_agg(place) as places from (
             select company_id, ctid::text as place from delivery_log
             where finished_at <= $1 and company_id <> all ($2::uuid[]) limit $3) old
           group by company_id`,
    values: [before, but, most],
  })
  return rows.map(({ company_id: companyId, places }) => ({ companyId, places }))
}

/** Deletes rows that ended long ago and tells how many they were. */
export async function purge(
  tx: Tx,
  companyId: Uuid,
  places: string[],
  before: Date,
): Promise<number> {
  const rows = await tx.query({
    text: `delete from delivery_log
           where company_id = $1 and ctid = any ($2::tid[]) and finished_at <= $3
           returning event_id`,
    values: [companyId, tids(places), before],
  })
  return rows.length
}

/** Forgets secrets that no longer sign. */
export async function forgetPreviousSecrets(tx: Tx, now: Date): Promise<void> {
  await tx.query({
    text: `update webhooks set previous_secret_sealed = null, previous_secret_until = null
           where previous_secret_until <= $1::timestamptz + coalesce((
             select ahead_ms * interval '1 millisecond' from test_clocks t
             where t.company_id = webhooks.company_id), interval '0')`,
    values: [now],
  })
}
