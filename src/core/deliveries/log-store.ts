import { randomUUID } from 'node:crypto'
import { timestamps, uuids } from '../../db/arrays.ts'
import type { Part } from '../../db/columns.ts'
import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { type AnyEventType, EVENTS_CHANNEL, nextPositionSql } from '../events.ts'
import type { Period } from '../feed/store.ts'
import type { WebhookKey } from '../webhooks/rules.ts'
import type { Attempt, Delivery, DeliveryState } from './rules.ts'

export type DeliveryKey = WebhookKey & { eventId: Uuid }

type DeliveryRow = Row & {
  company_id: Uuid
  webhook_id: Uuid
  event_id: Uuid
  type: AnyEventType
  status: DeliveryState
  attempts: Attempt[]
  next_attempt_at: Date | null
  created_at: Date
  finished_at: Date | null
}

const toDelivery = (row: DeliveryRow): Delivery => ({
  companyId: row.company_id,
  webhookId: row.webhook_id,
  eventId: row.event_id,
  type: row.type,
  status: row.status,
  attempts: row.attempts,
  nextAttemptAt: row.next_attempt_at,
  createdAt: row.created_at,
  finishedAt: row.finished_at,
})

/**
 * Pending and ended deliveries with the same columns. Each delivery is in one of the two tables.
 */
const PENDING = `select company_id, webhook_id, event_id, 'PENDING' as status, attempts,
  next_attempt_at, created_at, null::timestamptz as finished_at from deliveries`
const ENDED = `select company_id, webhook_id, event_id, status, attempts,
  null::timestamptz as next_attempt_at, created_at, finished_at from delivery_log`

export async function list(
  tx: Tx,
  { companyId, webhookId }: WebhookKey,
  filter: Part & { status: DeliveryState | null },
): Promise<Delivery[]> {
  const part = `where company_id = $1 and webhook_id = $2 and ($3::uuid is null or event_id < $3)`
  const rows = await tx.query<DeliveryRow>({
    text: `select d.*, e.type from (
             (${PENDING} ${part} and ($4::text is null or $4 = 'PENDING')
              order by event_id desc limit $5)
             union all
             (${ENDED} ${part} and ($4::text is null or status = $4)
              order by event_id desc limit $5)
           ) d join events e on e.company_id = d.company_id and e.id = d.event_id
           order by d.event_id desc limit $5`,
    values: [companyId, webhookId, filter.after, filter.status, filter.limit],
  })
  return rows.map(toDelivery)
}

export async function find(tx: Tx, key: DeliveryKey): Promise<Delivery | null> {
  const part = 'where company_id = $1 and webhook_id = $2 and event_id = $3'
  const rows = await tx.query<DeliveryRow>({
    text: `select d.*, e.type from (${PENDING} ${part} union all ${ENDED} ${part}) d
           join events e on e.company_id = d.company_id and e.id = d.event_id`,
    values: [key.companyId, key.webhookId, key.eventId],
  })
  return rows[0] ? toDelivery(rows[0]) : null
}

/** Inserts a delivery to a webhook, whatever event types it has. */
export async function insert(tx: Tx, key: DeliveryKey, now: Date): Promise<void> {
  await tx.query({
    text: `insert into deliveries (company_id, webhook_id, event_id, next_attempt_at, created_at)
           values ($1, $2, $3, $4, $4)`,
    values: [key.companyId, key.webhookId, key.eventId, now],
  })
}

/** The last 50 attempts, because a company may ask for a delivery again without limit. */
const HISTORY = `jsonb_path_query_array(attempts, '$[last - 49 to last]')`

/** A replay of more deliveries shows no more of them in the feed. */
const MAX_NOTED = 10_000

type Redelivered = { key: WebhookKey; eventId: Uuid; at: Date }

/** The events of these rows, if somebody follows the feed of the company `$1`. */
const notedOf = (rows: string): string => `array(
  select event_id from ${rows}
  where exists (select 1 from followed_feeds where company_id = $1 and until > now())
  order by event_id limit ${MAX_NOTED}) as noted`

/** Shows redelivered events to those who follow the feed, in the order of the events. */
async function note(tx: Tx, key: WebhookKey, eventIds: Uuid[], at: Date): Promise<void> {
  if (eventIds.length === 0) return
  const redelivered = eventIds.map((eventId) => ({ key, eventId, at }))
  await tx.beforeCommit(insertRedelivered, redelivered)
  tx.notify(EVENTS_CHANNEL, key.companyId)
}

/** Ids of one position, which are read in their order. */
const orderedId = (n: number): Uuid => {
  const digits = n.toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}${randomUUID().slice(13)}` as Uuid
}

async function insertRedelivered(tx: Tx, redelivered: Redelivered[]): Promise<void> {
  const noted = redelivered.toSorted((a, b) => (a.eventId < b.eventId ? -1 : 1)).slice(0, MAX_NOTED)
  await tx.query({
    text: `with ${nextPositionSql('$1')}
           insert into redeliveries (company_id, position, id, webhook_id, event_id, asked_at)
           select r.company_id, f.last, r.id, r.webhook_id, r.event_id, r.asked_at
           from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::timestamptz[])
             r (company_id, id, webhook_id, event_id, asked_at)
           join feed f on f.company_id = r.company_id`,
    values: [
      uuids(noted.map(({ key }) => key.companyId)),
      uuids(noted.map((_, n) => orderedId(n))),
      uuids(noted.map(({ key }) => key.webhookId)),
      uuids(noted.map(({ eventId }) => eventId)),
      timestamps(noted.map(({ at }) => at)),
    ],
  })
}

/** Which deliveries are sent again. `from` is included, `to` is not. */
type Selection = { eventId: Uuid | null; from: Date | null; to: Date | null }

/**
 * Makes waiting deliveries due now and returns their number. One that is due already is not
 * changed, because a worker may be sending it and would send it twice.
 */
export async function makeDueNow(
  tx: Tx,
  key: WebhookKey,
  { eventId, from, to }: Selection,
  now: Date,
): Promise<number> {
  const [row] = await tx.query<{ updated: number; noted: Uuid[] }>({
    text: `with updated as (
             update deliveries set tries = 0, next_attempt_at = $6, attempts = ${HISTORY}
             where company_id = $1 and webhook_id = $2 and ($3::uuid is null or event_id = $3)
               and ($4::timestamptz is null or created_at >= $4)
               and ($5::timestamptz is null or created_at < $5) and next_attempt_at > $6
             returning event_id
           )
           select count(*) as updated, ${notedOf('updated')} from updated`,
    values: [key.companyId, key.webhookId, eventId, from, to, now],
  })
  await note(tx, key, row!.noted, now)
  return row!.updated
}

/** Moves ended deliveries back to the queue, due now, and returns their number. */
export async function requeue(
  tx: Tx,
  key: WebhookKey,
  { eventId, status, from, to }: Selection & { status: 'DELIVERED' | 'FAILED' | null },
  now: Date,
): Promise<number> {
  const [row] = await tx.query<{ requeued: number; noted: Uuid[] }>({
    text: `with ended as (
             delete from delivery_log where company_id = $1 and webhook_id = $2
               and ($3::uuid is null or event_id = $3) and ($4::text is null or status = $4)
               and ($5::timestamptz is null or created_at >= $5)
               and ($6::timestamptz is null or created_at < $6)
             returning *
           ), requeued as (
             insert into deliveries
               (company_id, webhook_id, event_id, attempts, next_attempt_at, created_at)
             select company_id, webhook_id, event_id, ${HISTORY}, $7, created_at from ended
             order by event_id
             returning event_id
           )
           select count(*) as requeued, ${notedOf('requeued')} from requeued`,
    values: [key.companyId, key.webhookId, eventId, status, from, to, now],
  })
  await note(tx, key, row!.noted, now)
  return row!.requeued
}

export type Filter = {
  limit: number
  /** The last delivery of the page before. */
  after: { webhookId: Uuid; eventId: Uuid } | null
  webhookId: Uuid | null
  status: DeliveryState | null
  type: AnyEventType | null
  period: Period
}

/** So many deliveries are looked at for one page, because a type may be rare. */
const MAX_SCANNED = 2_000

type Found = {
  deliveries: Delivery[]
  /** The delivery after which to go on, or null at the end. */
  next: { webhookId: Uuid; eventId: Uuid } | null
}

/** Deliveries of a company to all of its webhooks, newest event first. */
export async function browse(tx: Tx, companyId: Uuid, filter: Filter): Promise<Found> {
  const { limit, after, period, type } = filter
  const scanned = type === null ? limit + 1 : MAX_SCANNED
  const part = `where company_id = $1 and webhook_id = w.id
    and ($3::uuid is null or (event_id <= $3 and (event_id < $3 or w.id < $4)))
    and ($5::uuid is null or event_id >= $5) and ($6::uuid is null or event_id < $6)
    and ($7::timestamptz is null or created_at >= $7)
    and ($8::timestamptz is null or created_at < $8)`
  const rows = await tx.query<DeliveryRow & { position: number }>({
    text: `with scanned as materialized (
             select d.*, row_number() over (order by event_id desc, webhook_id desc) as position
             from (select id from webhooks
                   where company_id = $1 and ($2::uuid is null or id = $2)) w
             cross join lateral (
               (${PENDING} ${part} and ($9::text is null or $9 = 'PENDING')
                order by event_id desc limit $10)
               union all
               (${ENDED} ${part} and ($9::text is null or status = $9)
                order by event_id desc limit $10)
             ) d order by event_id desc, webhook_id desc limit $10
           )
           -- The last one that was looked at is where the next page begins.
           select s.*, e.type from scanned s
           join events e on e.company_id = s.company_id and e.id = s.event_id
           where $11::text is null or e.type = $11
             or s.position = (select max(position) from scanned)
           order by s.position limit $12`,
    values: [
      companyId,
      filter.webhookId,
      after?.eventId ?? null,
      after?.webhookId ?? null,
      period.firstId,
      period.beforeId,
      period.from,
      period.to,
      filter.status,
      scanned,
      type,
      limit + 2,
    ],
  })
  const matching = rows.filter((row) => type === null || row.type === type)
  const deliveries = matching.slice(0, limit).map(toDelivery)
  const isFull = matching.length > limit
  const wasCut = (rows.at(-1)?.position ?? 0) >= scanned
  const last = isFull ? deliveries.at(-1)! : wasCut ? toDelivery(rows.at(-1)!) : null
  return { deliveries, next: last && { webhookId: last.webhookId, eventId: last.eventId } }
}

/** The deliveries of one event, to webhooks that still exist. */
export async function listOfEvent(tx: Tx, companyId: Uuid, eventId: Uuid): Promise<Delivery[]> {
  const part = 'where company_id = $1 and webhook_id = w.id and event_id = $2'
  const rows = await tx.query<DeliveryRow>({
    text: `select d.*, e.type from webhooks w
           cross join lateral (${PENDING} ${part} union all ${ENDED} ${part}) d
           join events e on e.company_id = d.company_id and e.id = d.event_id
           where w.company_id = $1 order by w.id desc`,
    values: [companyId, eventId],
  })
  return rows.map(toDelivery)
}

/** The delivery of the newest event to each webhook that has one. */
export async function listLatest(
  tx: Tx,
  companyId: Uuid,
  webhookIds: Uuid[],
): Promise<Map<Uuid, Delivery>> {
  const part = 'where company_id = $1 and webhook_id = w.id order by event_id desc limit 1'
  const rows = await tx.query<DeliveryRow>({
    text: `select d.*, e.type from unnest($2::uuid[]) w (id)
           cross join lateral (
             select * from ((${PENDING} ${part}) union all (${ENDED} ${part})) newest
             order by event_id desc limit 1) d
           join events e on e.company_id = d.company_id and e.id = d.event_id`,
    values: [companyId, webhookIds],
  })
  return new Map(rows.map(toDelivery).map((delivery) => [delivery.webhookId, delivery]))
}

/** How many deliveries a replay would send, counted up to `max`. */
export async function countToReplay(
  tx: Tx,
  { companyId, webhookId }: WebhookKey,
  { period, status, now }: { period: Period; status: 'FAILED' | 'DELIVERED' | 'ALL'; now: Date },
  max: number,
): Promise<number> {
  const part = `where company_id = $1 and webhook_id = $2
    and ($3::uuid is null or event_id >= $3) and ($4::uuid is null or event_id < $4)
    and ($5::timestamptz is null or created_at >= $5)
    and ($6::timestamptz is null or created_at < $6)`
  const ended = status === 'ALL' ? '' : `and status = '${status}'`
  const waiting = status === 'DELIVERED' ? 'and false' : 'and next_attempt_at > $8'
  const [row] = await tx.query<Row & { count: number }>({
    text: `select count(*)::int as count from (
             (select 1 from deliveries ${part} ${waiting} limit $7)
             union all (select 1 from delivery_log ${part} ${ended} limit $7)
             limit $7) found
           where $8::timestamptz is not null`,
    values: [
      companyId,
      webhookId,
      period.firstId,
      period.beforeId,
      period.from,
      period.to,
      max,
      now,
    ],
  })
  return row!.count
}

/** The deliveries of some events of a company, to all of its webhooks. */
export async function listOfEvents(tx: Tx, companyId: Uuid, eventIds: Uuid[]): Promise<Delivery[]> {
  if (eventIds.length === 0) return []
  const part = 'where company_id = $1 and webhook_id = w.id and event_id = any ($2::uuid[])'
  const rows = await tx.query<DeliveryRow>({
    text: `select d.*, e.type from webhooks w
           cross join lateral (${PENDING} ${part} union all ${ENDED} ${part}) d
           join events e on e.company_id = d.company_id and e.id = d.event_id
           where w.company_id = $1 order by d.event_id, w.id`,
    values: [companyId, eventIds],
  })
  return rows.map(toDelivery)
}
