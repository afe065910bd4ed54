import { tids } from '../../db/arrays.ts'
import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { InTime } from '../companies/clock.ts'
import type { WebhookKey } from '../webhooks/rules.ts'
import type { Attempt } from './rules.ts'

type Table = 'deliveries' | 'delivery_log'

/** Jumps in the index from one webhook to the next, so the number of rows of each costs nothing. */
const webhooksOf = (table: Table): string => `with recursive found as (
  (select company_id, webhook_id from ${table} order by company_id, webhook_id limit 1)
  union all
  select n.company_id, n.webhook_id from found f cross join lateral (
    select company_id, webhook_id from ${table} d
    where (d.company_id, d.webhook_id) > (f.company_id, f.webhook_id)
    order by company_id, webhook_id limit 1) n
)`

type FoundRow = Row & {
  company_id: Uuid
  webhook_id: Uuid
  status: string | null
  ahead_ms: number
}

/** A webhook that is inactive or deleted, but has rows. */
export type UndeliverableWebhook = WebhookKey & InTime & { isDeleted: boolean }

/** Webhooks of all companies that have rows in the table although they are not active. */
export async function findUndeliverable(tx: Tx, table: Table): Promise<UndeliverableWebhook[]> {
  const rows = await tx.query<FoundRow>({
    text: `${webhooksOf(table)} select f.*, w.status, coalesce(t.ahead_ms, 0) as ahead_ms from found f
           left join webhooks w on w.company_id = f.company_id and w.id = f.webhook_id
           left join test_clocks t on t.company_id = f.company_id
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
 * Moves pending deliveries of an inactive webhook to the log, from where they can be replayed, and
 * returns their number. If a worker has a lease on the webhook, moves none.
 */
export async function moveToLog(
  tx: Tx,
  { companyId, webhookId }: WebhookKey,
  reason: Attempt,
  max: number,
): Promise<number> {
  const rows = await tx.query({
    text: `with pending as materialized (
             select d.ctid from deliveries d
             join webhooks w on w.company_id = d.company_id and w.id = d.webhook_id
             where d.company_id = $1 and d.webhook_id = $2 and w.status = 'INACTIVE'
               and not exists (select from webhook_leases l where l.company_id = $1
                 and l.webhook_id = $2 and l.until > now())
             order by d.event_id limit $5 for update of d skip locked
           ), moved as (
             delete from deliveries where ctid = any (array(select ctid from pending))
             returning *
           )
           insert into delivery_log
             (company_id, webhook_id, event_id, status, attempts, created_at, finished_at)
           select company_id, webhook_id, event_id, 'FAILED', attempts || $3::jsonb, created_at,
             $4::timestamptz
           from moved returning event_id`,
    values: [companyId, webhookId, JSON.stringify([reason]), reason.at, max],
  })
  return rows.length
}

/** Deletes at most `max` rows of a webhook and returns their number. */
export async function deleteRows(
  tx: Tx,
  table: Table,
  { companyId, webhookId }: WebhookKey,
  max: number,
): Promise<number> {
  const [row] = await tx.query<{ deleted: number }>({
    text: `with deleted as (
             delete from ${table} where ctid = any (array(
               select ctid from ${table} where company_id = $1 and webhook_id = $2 limit $3))
             returning event_id
           )
           select count(*) as deleted from deleted`,
    values: [companyId, webhookId, max],
  })
  return row!.deleted
}

/** Old rows of one company. */
type Old = { companyId: Uuid; ctids: string[] }

/** Deliveries that ended before a date, at most `max`, and none of the companies in `except`. */
export async function findOld(tx: Tx, before: Date, max: number, except: Uuid[]): Promise<Old[]> {
  const rows = await tx.query<{ company_id: Uuid; ctids: string[] }>({
    text: `select company_id, array_agg(ctid) as ctids from (
             select company_id, ctid::text from delivery_log
             where finished_at <= $1 and company_id <> all ($2::uuid[]) limit $3) old
           group by company_id`,
    values: [before, except, max],
  })
  return rows.map(({ company_id: companyId, ctids }) => ({ companyId, ctids }))
}

/** Deletes old rows and returns their number. */
export async function purge(
  tx: Tx,
  companyId: Uuid,
  ctids: string[],
  before: Date,
): Promise<number> {
  const rows = await tx.query({
    text: `delete from delivery_log
           where company_id = $1 and ctid = any ($2::tid[]) and finished_at <= $3
           returning event_id`,
    values: [companyId, tids(ctids), before],
  })
  return rows.length
}
