import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { AnyEventType } from '../events.ts'
import type { Period } from '../feed/browse-store.ts'
import type { WebhookKey } from '../webhooks/rules.ts'
import { type DeliveryRow, ENDED, PENDING, toDelivery } from './log-store.ts'
import type { Delivery, DeliveryState } from './rules.ts'

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
