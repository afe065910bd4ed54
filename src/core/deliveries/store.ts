import { integers, texts, tids, timestamps, uuids } from '../../db/arrays.ts'
import { type Row, type Tx, violatedConstraint } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { type AnyEventType, type EventMode, modeOf } from '../events.ts'
import type { Attempt, Verdict } from './rules.ts'

export type WebhookKey = { companyId: Uuid; webhookId: Uuid }

type KeyRow = { company_id: Uuid; webhook_id: Uuid }

const toKey = (row: KeyRow): WebhookKey => ({
  companyId: row.company_id,
  webhookId: row.webhook_id,
})

const webhookColumns = (webhooks: WebhookKey[]): Buffer[] => [
  uuids(webhooks.map(({ companyId }) => companyId)),
  uuids(webhooks.map(({ webhookId }) => webhookId)),
]

/** How long a worker that does not renew its lines is believed to be alive. */
const LEASE = `interval '30 seconds'`

/** Joins the clock `t` of each row's company, which few have, one by one. */
const clockOf = (rows: string) => `left join lateral (
  select ahead_ms from test_clocks where company_id = ${rows}.company_id offset 0) t on true`

/** The now of a company whose clock, if it has one, is `t`; `$1` is the real now. */
const NOW = `($1::timestamptz + coalesce(t.ahead_ms, 0) * interval '1 millisecond')`
/** The now of whoever is farthest ahead: after it, nobody's clock need be looked at. */
const LATEST_NOW = `($1::timestamptz + coalesce((select max(ahead_ms) from test_clocks), 0)
  * interval '1 millisecond')`

/**
 * Webhooks that have something due. Hops through the index from one webhook to the next, so that a
 * backlog of a hundred thousand deliveries costs as much as a single one.
 */
export async function findDueWebhooks(tx: Tx, now: Date): Promise<WebhookKey[]> {
  const rows = await tx.query<KeyRow>({
    name: 'find_due_webhooks',
    text: `with recursive hop as (
             (select company_id, webhook_id, next_attempt_at from deliveries
              order by company_id, webhook_id, next_attempt_at limit 1)
             union all
             select n.company_id, n.webhook_id, n.next_attempt_at from hop h cross join lateral (
               select company_id, webhook_id, next_attempt_at from deliveries d
               where (d.company_id, d.webhook_id) > (h.company_id, h.webhook_id)
               order by company_id, webhook_id, next_attempt_at limit 1) n
           )
           -- One by one: a plan made while there are few webhooks would compare all with all.
           select h.company_id, h.webhook_id from hop h ${clockOf('h')}
           cross join lateral (
             select from webhooks w
             where w.company_id = h.company_id and w.id = h.webhook_id and w.status = 'ACTIVE'
               and (w.paused_until is null or w.paused_until <= ${NOW}) offset 0) w
           where h.next_attempt_at <= ${NOW} and h.next_attempt_at <= ${LATEST_NOW}`,
    values: [now],
  })
  return rows.map(toKey)
}

/**
 * Takes the lines of webhooks that no living worker has, at most so many, and gives those that are
 * ours now. Whoever has a line is the only one to deliver to its webhook.
 */
export async function takeLines(
  tx: Tx,
  worker: number,
  webhooks: WebhookKey[],
  most: number,
): Promise<WebhookKey[]> {
  if (webhooks.length === 0) return []
  const rows = await tx.query<KeyRow>({
    name: 'take_lines',
    text: `insert into delivery_lines as l (company_id, webhook_id, worker, until)
           select company_id, webhook_id, $3, now() + ${LEASE}
           from unnest($1::uuid[], $2::uuid[]) w (company_id, webhook_id)
           where not exists (
             select from delivery_lines t
             where t.company_id = w.company_id and t.webhook_id = w.webhook_id
               and t.worker <> $3 and t.until > now() offset 0)
           limit $4
           on conflict (company_id, webhook_id) do update
             set worker = excluded.worker, until = excluded.until
             where l.worker = excluded.worker or l.until <= now()
           returning company_id, webhook_id`,
    values: [...webhookColumns(webhooks), worker, most],
  })
  return rows.map(toKey)
}

export async function keepLines(tx: Tx, worker: number): Promise<void> {
  await tx.query({
    name: 'keep_lines',
    text: `update delivery_lines set until = now() + ${LEASE} where worker = $1`,
    values: [worker],
  })
}

export async function leaveLines(tx: Tx, worker: number, webhooks: WebhookKey[]): Promise<void> {
  if (webhooks.length === 0) return
  await tx.query({
    name: 'leave_lines',
    text: `delete from delivery_lines l using unnest($1::uuid[], $2::uuid[]) w (company_id, webhook_id)
           where l.company_id = w.company_id and l.webhook_id = w.webhook_id and l.worker = $3`,
    values: [...webhookColumns(webhooks), worker],
  })
}

/** Where a delivery stands among those of its webhook. */
export type Turn = { dueAt: Date; eventId: Uuid }

/** Before every turn. */
const FIRST: Turn = { dueAt: new Date(0), eventId: '00000000-0000-0000-0000-000000000000' }

/**
 * A line of ours that could take so many deliveries: those after the turn that was read last, or
 * all that are not in our hands.
 */
export type Wanted = WebhookKey & { room: number; after: Turn | null; inHand: Uuid[] }

/** Whom deliveries go to, as it was when they were read. */
export type Receiver = WebhookKey & {
  url: string
  secretSealed: Buffer
  previousSecretSealed: Buffer | null
  /** Whether it has failed last time. */
  failing: boolean
  /** How far its company's time is ahead. */
  clockAhead_ms: number
}

/** A delivery that is due, with all that sending it needs. */
export type DueDelivery = {
  receiver: Receiver
  eventId: Uuid
  /** Where its row lies. */
  place: string
  tries: number
  type: AnyEventType
  mode: EventMode
  payload: string
}

/** What was read of a line, the longest due first, and the turn of the last. */
export type Reading = { deliveries: DueDelivery[]; last: Turn }

type ReadingRow = Row &
  KeyRow & {
    url: string
    secret_sealed: Buffer
    previous_secret_sealed: Buffer | null
    failing: boolean
    ahead_ms: number
    last_at: Date
    events: string
    places: string
    tries: string
    types: string
    modes: string
    payloads: string
  }

/** Stands between the values of a column. No JSON, id or number has it in it. */
const BETWEEN = '\x1e'

/**
 * Due deliveries of webhooks whose lines are still ours, at most `room` of each, the longest due
 * first, without those that we already have in our hands. Of each line there is one row, whose
 * columns hold the values of all its deliveries: the driver takes longer over a row than the
 * database over a delivery.
 */
export async function readDue(
  tx: Tx,
  worker: number,
  wanted: Wanted[],
  now: Date,
): Promise<Reading[]> {
  const rows = await tx.query<ReadingRow>({
    name: 'read_due_deliveries',
    text: `select wanted.company_id, wanted.webhook_id, w.url, w.secret_sealed,
             w.failures > 0 as failing,
             case when w.previous_secret_until > ${NOW} then w.previous_secret_sealed end
               as previous_secret_sealed, coalesce(t.ahead_ms, 0) as ahead_ms, d.*
           from (select u.*, u.held::uuid[] as in_hand from unnest($2::uuid[], $3::uuid[],
               $4::int8[], $5::text[], $7::timestamptz[], $8::uuid[])
               u (company_id, webhook_id, room, held, after_at, after_event) offset 0) wanted
           join delivery_lines l on l.company_id = wanted.company_id
             and l.webhook_id = wanted.webhook_id and l.worker = $6
           join webhooks w on w.company_id = wanted.company_id and w.id = wanted.webhook_id
           ${clockOf('wanted')}
           cross join lateral (
             select max(next_attempt_at) as last_at, string_agg(event_id::text, $9) as events,
               string_agg(place, $9) as places, string_agg(tries::text, $9) as tries,
               string_agg(type, $9) as types, string_agg(mode, $9) as modes,
               string_agg(payload, $9) as payloads
             from (
               select due.*, e.type, e.mode, e.payload from (
                 select company_id, event_id, next_attempt_at, tries, ctid::text as place
                 from deliveries
                 where company_id = wanted.company_id and webhook_id = wanted.webhook_id
                   and (next_attempt_at, event_id) > (wanted.after_at, wanted.after_event)
                   and next_attempt_at <= ${NOW} and event_id <> all (wanted.in_hand)
                 order by next_attempt_at, event_id limit wanted.room) due
               -- One by one: a plan that knows no limit would read every event there is.
               cross join lateral (
                 select type, ${modeOf('events')} as mode, payload from events
                 where company_id = due.company_id and id = due.event_id offset 0) e
               order by next_attempt_at, event_id) one) d
           where w.status = 'ACTIVE' and (w.paused_until is null or w.paused_until <= ${NOW})
             and d.events is not null`,
    values: [
      now,
      ...webhookColumns(wanted),
      integers(wanted.map(({ room }) => room)),
      texts(wanted.map(({ inHand }) => `{${inHand.join()}}`)),
      worker,
      timestamps(wanted.map(({ after }) => (after ?? FIRST).dueAt)),
      uuids(wanted.map(({ after }) => (after ?? FIRST).eventId)),
      BETWEEN,
    ],
  })
  return rows.map(toReading)
}

function toReading(row: ReadingRow): Reading {
  const receiver: Receiver = {
    ...toKey(row),
    url: row.url,
    secretSealed: row.secret_sealed,
    previousSecretSealed: row.previous_secret_sealed,
    failing: row.failing,
    clockAhead_ms: row.ahead_ms,
  }
  const [places, tries] = [row.places.split(BETWEEN), row.tries.split(BETWEEN)]
  const [types, modes] = [row.types.split(BETWEEN), row.modes.split(BETWEEN)]
  const payloads = row.payloads.split(BETWEEN)
  const deliveries = row.events.split(BETWEEN).map((eventId, i) => ({
    receiver,
    eventId,
    place: places[i]!,
    tries: Number(tries[i]),
    type: types[i] as AnyEventType,
    mode: modes[i] as EventMode,
    payload: payloads[i]!,
  }))
  return { deliveries, last: { dueAt: row.last_at, eventId: deliveries.at(-1)!.eventId } }
}

/** What became of a delivery. */
export type Result = { delivery: DueDelivery; at: Date; attempt: Attempt; verdict: Verdict }

/**
 * Writes down what became of deliveries, where their lines are still ours: what has ended moves to
 * the log, the rest waits for its next try. A row that somebody has touched meanwhile lies
 * elsewhere and is left alone: it is then delivered once more, under the same id.
 */
export async function record(tx: Tx, worker: number, results: Result[]): Promise<void> {
  const values = [
    tids(results.map(({ delivery }) => delivery.place)),
    ...webhookColumns(results.map(({ delivery }) => delivery.receiver)),
    uuids(results.map(({ delivery }) => delivery.eventId)),
    texts(results.map(({ verdict }) => verdict.outcome)),
    texts(results.map(({ attempt }) => JSON.stringify([attempt]))),
    timestamps(results.map(({ verdict }) => (verdict.outcome === 'RETRY' ? verdict.at : null))),
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
 * What is pending is not in the log, so that nothing is ever replaced there. To be ready for it in
 * each statement would cost a fifth of the whole.
 */
const REPLACE = `on conflict (company_id, webhook_id, event_id) do update set
  status = excluded.status, attempts = excluded.attempts, finished_at = excluded.finished_at`

const RECORD = (onConflict: string) => `
  with result as materialized (
    select r.* from unnest($1::tid[], $2::uuid[], $3::uuid[], $4::uuid[],
      $5::text[], $6::text[], $7::timestamptz[], $9::timestamptz[])
      r (place, company_id, webhook_id, event_id, outcome, attempt, next_attempt_at, at)
    join delivery_lines l on l.company_id = r.company_id
      and l.webhook_id = r.webhook_id and l.worker = $8
  ), ended as (
    delete from deliveries d using result r
    where d.ctid = r.place and d.company_id = r.company_id
      and d.webhook_id = r.webhook_id and d.event_id = r.event_id
      and r.outcome <> 'RETRY'
    returning r.company_id, r.webhook_id, r.event_id, r.outcome,
      d.attempts || r.attempt::jsonb as attempts, d.created_at, r.at
  ), logged as (
    insert into delivery_log
      (company_id, webhook_id, event_id, status, attempts, created_at, finished_at)
    select * from ended
    ${onConflict}
  )
  update deliveries d set tries = d.tries + 1, attempts = d.attempts || r.attempt::jsonb,
    next_attempt_at = r.next_attempt_at
  from result r
  where d.ctid = r.place and d.company_id = r.company_id
    and d.webhook_id = r.webhook_id and d.event_id = r.event_id
    and r.outcome = 'RETRY'`
