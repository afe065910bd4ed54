import { integers, texts, tids, timestamps, uuids } from '../../db/arrays.ts'
import { type Row, type Tx, violatedConstraint } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { type Cause, storedCause } from '../../lib/tracing.ts'
import type { InTime } from '../companies/clock.ts'
import type { DueSource } from '../due.ts'
import { type AnyEventType, type EventMode, modeOf } from '../events.ts'
import { TASK } from '../tasks.ts'
import type { WebhookKey } from '../webhooks/rules.ts'
import type { Attempt, NextState } from './rules.ts'

type KeyRow = { company_id: Uuid; webhook_id: Uuid }

const toKey = (row: KeyRow): WebhookKey => ({
  companyId: row.company_id,
  webhookId: row.webhook_id,
})

const webhookColumns = (webhooks: WebhookKey[]): Buffer[] => [
  uuids(webhooks.map(({ companyId }) => companyId)),
  uuids(webhooks.map(({ webhookId }) => webhookId)),
]

/** How long a worker keeps a webhook without renewing its lease. */
const LEASE = `interval '30 seconds'`

/** Joins the clock `t` of each row's company row by row, because few companies have one. */
const clockOf = (rows: string) => `left join lateral (
  select ahead_ms from test_clocks where company_id = ${rows}.company_id offset 0) t on true`

/** The present time of the company whose clock is `t`, if it has one. `$1` is the real time. */
const NOW = `($1::timestamptz + coalesce(t.ahead_ms, 0) * interval '1 millisecond')`
/** The latest present time of any company. What is due after it needs no look at a clock. */
const LATEST_NOW = `($1::timestamptz + coalesce((select max(ahead_ms) from test_clocks), 0)
  * interval '1 millisecond')`

/**
 * Webhooks with due deliveries. Jumps in the index from one webhook to the next, so that a backlog
 * of 100,000 deliveries costs as much as one.
 */
export async function findDueWebhooks(tx: Tx, now: Date): Promise<WebhookKey[]> {
  const rows = await tx.query<KeyRow>({
    name: 'find_due_webhooks',
    text: `with recursive found as (
             (select company_id, webhook_id, next_attempt_at from deliveries
              order by company_id, webhook_id, next_attempt_at limit 1)
             union all
             select n.company_id, n.webhook_id, n.next_attempt_at from found f cross join lateral (
               select company_id, webhook_id, next_attempt_at from deliveries d
               where (d.company_id, d.webhook_id) > (f.company_id, f.webhook_id)
               order by company_id, webhook_id, next_attempt_at limit 1) n
           )
           -- Row by row: a plan made while there are few webhooks would compare all with all.
           select f.company_id, f.webhook_id from found f ${clockOf('f')}
           cross join lateral (
             select from webhooks w
             where w.company_id = f.company_id and w.id = f.webhook_id and w.status = 'ACTIVE'
               and (w.paused_until is null or w.paused_until <= ${NOW}) offset 0) w
           where f.next_attempt_at <= ${NOW} and f.next_attempt_at <= ${LATEST_NOW}`,
    values: [now],
  })
  return rows.map(toKey)
}

/**
 * Leases webhooks that no live worker has, at most `max`, and returns those that this worker has
 * now. Only the worker with the lease sends to a webhook.
 */
export async function takeLeases(
  tx: Tx,
  worker: number,
  webhooks: WebhookKey[],
  max: number,
): Promise<WebhookKey[]> {
  if (webhooks.length === 0) return []
  const rows = await tx.query<KeyRow>({
    name: 'take_leases',
    text: `with free as materialized (
             select company_id, webhook_id, $3::int8 as worker, now() + ${LEASE} as until, now()
             from unnest($1::uuid[], $2::uuid[]) w (company_id, webhook_id)
             where not exists (
               select from webhook_leases o
               where o.company_id = w.company_id and o.webhook_id = w.webhook_id
                 and o.worker <> $3 and o.until > now() offset 0)
             limit $4
           )
           insert into webhook_leases as l (company_id, webhook_id, worker, until, taken_at)
           select * from free
           on conflict (company_id, webhook_id) do update
             set worker = excluded.worker, until = excluded.until, taken_at = excluded.taken_at
             where l.worker = excluded.worker or l.until <= excluded.taken_at
           returning company_id, webhook_id`,
    values: [...webhookColumns(webhooks), worker, max],
  })
  return rows.map(toKey)
}

export async function renewLeases(tx: Tx, worker: number): Promise<void> {
  await tx.query({
    name: 'renew_leases',
    text: `update webhook_leases set until = now() + ${LEASE} where worker = $1`,
    values: [worker],
  })
}

export async function releaseLeases(tx: Tx, worker: number, webhooks: WebhookKey[]): Promise<void> {
  if (webhooks.length === 0) return
  await tx.query({
    name: 'release_leases',
    text: `delete from webhook_leases l
           using unnest($1::uuid[], $2::uuid[]) w (company_id, webhook_id)
           where l.company_id = w.company_id and l.webhook_id = w.webhook_id and l.worker = $3`,
    values: [...webhookColumns(webhooks), worker],
  })
}

/** The position of a delivery among those of its webhook, by due time. */
export type Cursor = { dueAt: Date; eventId: Uuid }

/** Before every delivery. */
const FIRST: Cursor = { dueAt: new Date(0), eventId: '00000000-0000-0000-0000-000000000000' }

/**
 * How many deliveries of a leased webhook to read. They are those after a cursor, or, without one,
 * all but the events in `held`, which were read before.
 */
export type ReadRequest = WebhookKey & { limit: number; after: Cursor | null; held: Uuid[] }

/** The webhook of deliveries, as it was when they were read. */
export type Receiver = WebhookKey & {
  url: string
  secretSealed: Buffer
  previousSecretSealed: Buffer | null
  /** Whether it failed last time. */
  failing: boolean
  /** How far the clock of its company is ahead. */
  clockAhead_ms: number
}

/** A due delivery with everything that is needed to send it. */
export type DueDelivery = {
  receiver: Receiver
  eventId: Uuid
  /** Where its row is in the table. */
  ctid: string
  tries: number
  type: AnyEventType
  mode: EventMode
  payload: string
  /** The request that has caused the event. Null if that was not traced. */
  cause: Cause | null
}

/** Due deliveries of one webhook, the longest due first, and the position of the last. */
export type ReadResult = { deliveries: DueDelivery[]; last: Cursor }

type ReadRow = Row &
  KeyRow & {
    url: string
    secret_sealed: Buffer
    previous_secret_sealed: Buffer | null
    failing: boolean
    ahead_ms: number
    last_at: Date
    events: string
    ctids: string
    tries: string
    types: string
    modes: string
    payloads: string
    traces: string
  }

/** Separates the values in a column. No JSON, id or number contains it. */
const SEPARATOR = '\x1e'

/**
 * Reads due deliveries of webhooks that this worker still leases, the longest due first. There is
 * one row for each webhook, and its columns have the values of all its deliveries, because reading
 * a row costs the driver more than reading a delivery costs the database.
 */
export async function readDue(
  tx: Tx,
  worker: number,
  requests: ReadRequest[],
  now: Date,
): Promise<ReadResult[]> {
  const rows = await tx.query<ReadRow>({
    name: 'read_due_deliveries',
    text: `select r.company_id, r.webhook_id, w.url, w.secret_sealed,
             w.failures > 0 as failing,
             case when w.previous_secret_until > ${NOW} then w.previous_secret_sealed end
               as previous_secret_sealed, coalesce(t.ahead_ms, 0) as ahead_ms, d.*
           from (select u.*, u.held::uuid[] as held_ids from unnest($2::uuid[], $3::uuid[],
               $4::int8[], $5::text[], $7::timestamptz[], $8::uuid[])
               u (company_id, webhook_id, max_rows, held, after_at, after_event) offset 0) r
           join webhook_leases l on l.company_id = r.company_id
             and l.webhook_id = r.webhook_id and l.worker = $6
           join webhooks w on w.company_id = r.company_id and w.id = r.webhook_id
           ${clockOf('r')}
           cross join lateral (
             select max(next_attempt_at) as last_at, string_agg(event_id::text, $9) as events,
               string_agg(row_ctid, $9) as ctids, string_agg(tries::text, $9) as tries,
               string_agg(type, $9) as types, string_agg(mode, $9) as modes,
               string_agg(payload, $9) as payloads,
               string_agg(coalesce(encode(trace, 'hex'), ''), $9) as traces
             from (
               select due.*, e.type, e.mode, e.payload, e.trace from (
                 select company_id, event_id, next_attempt_at, tries, ctid::text as row_ctid
                 from deliveries
                 where company_id = r.company_id and webhook_id = r.webhook_id
                   and (next_attempt_at, event_id) > (r.after_at, r.after_event)
                   and next_attempt_at <= ${NOW} and event_id <> all (r.held_ids)
                 order by next_attempt_at, event_id limit r.max_rows) due
               -- Row by row: a plan that does not know the limit would read all events.
               cross join lateral (
                 select type, ${modeOf('events')} as mode, payload, trace from events
                 where company_id = due.company_id and id = due.event_id offset 0) e
               order by next_attempt_at, event_id) one) d
           where w.status = 'ACTIVE' and (w.paused_until is null or w.paused_until <= ${NOW})
             and d.events is not null`,
    values: [
      now,
      ...webhookColumns(requests),
      integers(requests.map(({ limit }) => limit)),
      texts(requests.map(({ held }) => `{${held.join()}}`)),
      worker,
      timestamps(requests.map(({ after }) => (after ?? FIRST).dueAt)),
      uuids(requests.map(({ after }) => (after ?? FIRST).eventId)),
      SEPARATOR,
    ],
  })
  return rows.map(toResult)
}

function toResult(row: ReadRow): ReadResult {
  const receiver: Receiver = {
    ...toKey(row),
    url: row.url,
    secretSealed: row.secret_sealed,
    previousSecretSealed: row.previous_secret_sealed,
    failing: row.failing,
    clockAhead_ms: row.ahead_ms,
  }
  const [ctids, tries] = [row.ctids.split(SEPARATOR), row.tries.split(SEPARATOR)]
  const [types, modes] = [row.types.split(SEPARATOR), row.modes.split(SEPARATOR)]
  const [payloads, traces] = [row.payloads.split(SEPARATOR), row.traces.split(SEPARATOR)]
  const deliveries = row.events.split(SEPARATOR).map((eventId, i) => ({
    receiver,
    eventId,
    ctid: ctids[i]!,
    tries: Number(tries[i]),
    type: types[i] as AnyEventType,
    mode: modes[i] as EventMode,
    payload: payloads[i]!,
    cause: storedCause(traces[i]!),
  }))
  return { deliveries, last: { dueAt: row.last_at, eventId: deliveries.at(-1)!.eventId } }
}

/** The result of sending a delivery once. */
export type AttemptResult = {
  delivery: DueDelivery
  at: Date
  attempt: Attempt
  next: NextState
}

/**
 * Stores results of deliveries to webhooks that this worker still leases. What has ended moves to
 * the log, and the rest waits for its next try. If a row was changed in the meantime, its ctid is
 * another and it is not changed here, so it is sent once more, under the same id.
 */
export async function record(tx: Tx, worker: number, results: AttemptResult[]): Promise<void> {
  const values = [
    tids(results.map(({ delivery }) => delivery.ctid)),
    ...webhookColumns(results.map(({ delivery }) => delivery.receiver)),
    uuids(results.map(({ delivery }) => delivery.eventId)),
    texts(results.map(({ next }) => next.outcome)),
    texts(results.map(({ attempt }) => JSON.stringify([attempt]))),
    timestamps(results.map(({ next }) => (next.outcome === 'RETRY' ? next.at : null))),
    worker,
    timestamps(results.map(({ at }) => at)),
  ]
  try {
    await tx.query({ name: 'record_deliveries', text: RECORD(''), values })
  } catch (error) {
    if (violatedConstraint(error) !== 'delivery_log_pkey') throw error
    await tx.query({ name: 'record_deliveries_again', text: RECORD(REPLACE), values })
  }
}

/**
 * A pending delivery is not in the log, so this is almost never needed. In every statement it would
 * cost a fifth of the whole.
 */
const REPLACE = `on conflict (company_id, webhook_id, event_id) do update set
  status = excluded.status, attempts = excluded.attempts, finished_at = excluded.finished_at`

const RECORD = (onConflict: string) => `
  with result as materialized (
    select r.* from unnest($1::tid[], $2::uuid[], $3::uuid[], $4::uuid[],
      $5::text[], $6::text[], $7::timestamptz[], $9::timestamptz[])
      r (row_ctid, company_id, webhook_id, event_id, outcome, attempt, next_attempt_at, at)
    join webhook_leases l on l.company_id = r.company_id
      and l.webhook_id = r.webhook_id and l.worker = $8
  ), ended as (
    delete from deliveries d using result r
    where d.ctid = r.row_ctid and d.company_id = r.company_id
      and d.webhook_id = r.webhook_id and d.event_id = r.event_id
      and r.outcome <> 'RETRY'
    returning r.company_id, r.webhook_id, r.event_id, r.outcome,
      d.attempts || r.attempt::jsonb as attempts, d.created_at, r.at
  ), retried as (
    update deliveries d set tries = d.tries + 1, attempts = d.attempts || r.attempt::jsonb,
      next_attempt_at = r.next_attempt_at
    from result r
    where d.ctid = r.row_ctid and d.company_id = r.company_id
      and d.webhook_id = r.webhook_id and d.event_id = r.event_id
      and r.outcome = 'RETRY'
  )
  insert into delivery_log
    (company_id, webhook_id, event_id, status, attempts, created_at, finished_at)
  select * from ended
  ${onConflict}`

/** The first delivery of each active webhook `w`, found webhook by webhook. */
const FIRST_OF_WEBHOOKS = `webhooks w cross join lateral (
    select next_attempt_at from deliveries
    where company_id = w.company_id and webhook_id = w.id
    order by next_attempt_at limit 1) d
  where w.status = 'ACTIVE'`

/**
 * Deliveries that wait. Workers lease webhooks, not deliveries, so nothing is claimed here. A
 * delivery that is being sent is due until its result is stored.
 */
export const DUE_DELIVERIES: DueSource = {
  name: TASK.deliver,
  // A delivery to a paused webhook is due when the pause ends.
  next: `select min(greatest(d.next_attempt_at, w.paused_until)) from ${FIRST_OF_WEBHOOKS}
    and w.company_id = $1`,
  // A delivery to a failing receiver waits because of the receiver, not because of us.
  oldest: `select min(d.next_attempt_at) from ${FIRST_OF_WEBHOOKS} and w.failures = 0
    and d.next_attempt_at <= $1::timestamptz`,
  // Most of those that wait, wait for their receivers.
  count: `select greatest(reltuples, 0)::int8 from pg_class where oid = 'deliveries'::regclass`,
  isEstimate: true,
  isDue: null,
}

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
