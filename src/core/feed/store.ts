import type { Row, Tx } from '../../db/database.ts'
import { lowestIdAt, suffixOf, timeOf, type Uuid } from '../../lib/ids.ts'
import { type AnyEventType, type Event, type EventMode, modeOf } from '../events.ts'

/** The position of an event in the feed of its company. */
export type FeedPosition = { position: number; id: Uuid }

/** Before the first event. */
export const START: FeedPosition = { position: -1, id: '00000000-0000-0000-0000-000000000000' }

export async function findPosition(
  tx: Tx,
  companyId: Uuid,
  id: Uuid,
): Promise<FeedPosition | null> {
  const [row] = await tx.query<{ position: number }>({
    text: 'select position from events where company_id = $1 and id = $2',
    values: [companyId, id],
  })
  return row ? { position: row.position, id } : null
}

export type EventRow = Row & {
  company_id: Uuid
  id: Uuid
  type: AnyEventType
  payload: string
  mode: EventMode
  created_at: Date
}

/** An event as it is stored. Its mode replaces devMode. */
export type WrittenEvent = Omit<Event, 'devMode'> & { mode: EventMode }

export const toEvent = (row: EventRow): WrittenEvent => ({
  companyId: row.company_id,
  id: row.id,
  type: row.type,
  payload: row.payload,
  mode: row.mode,
  createdAt: row.created_at,
})

/** A delivery that was asked for again. */
type Redelivery = { webhookId: Uuid; askedAt: Date }

/** An event in the feed, at its own position or that of a redelivery. */
export type FeedEntry = {
  event: WrittenEvent
  at: FeedPosition
  redelivery: Redelivery | null
}

/** A part of the feed, and the first position at which nothing was written yet. */
type FeedPart = { entries: FeedEntry[]; next: number }

type FeedFilter = {
  after: FeedPosition
  type: AnyEventType | null
  limit: number
  /** Whether events that are sent again are shown once more. */
  redeliveries: boolean
}

type EntryRow = EventRow & {
  next: number
  position: number
  place_id: Uuid | null
  webhook_id: Uuid | null
  asked_at: Date | null
}

const COLUMNS = `e.company_id, e.id, e.type, e.payload, e.created_at, ${modeOf('e')} as mode`

/** Redeliveries, each with its event, in the columns of the feed. */
const REDELIVERIES = `union all (
  select ${COLUMNS}, r.position, r.id as place_id, r.webhook_id, r.asked_at
  from redeliveries r join events e on e.company_id = r.company_id and e.id = r.event_id
  where r.company_id = $1 and (r.position, r.id) > ($2::bigint, $3::uuid)
    and ($4::text is null or e.type = $4)
  order by r.position, r.id limit $5)`

/** The first position of a company at which nothing was written yet, for a statement. */
export const nextSql = (company: string): string =>
  `coalesce((select last from feeds where company_id = ${company}), 0) + 1`

/**
 * Events in the order in which their transactions were committed, oldest first. What is committed
 * later comes after all of them, see the table `feeds`.
 */
export async function readFeed(tx: Tx, companyId: Uuid, filter: FeedFilter): Promise<FeedPart> {
  const { after, type, limit, redeliveries } = filter
  const rows = await tx.query<EntryRow>({
    text: `select * from (select ${nextSql('$1')} as next) f left join (
             select * from ((
               select ${COLUMNS}, e.position, e.id as place_id, null::uuid as webhook_id,
                 null::timestamptz as asked_at
               from events e
              where e.company_id = $1 and (e.position, e.id) > ($2::bigint, $3::uuid)
                and ($4::text is null or e.type = $4)
              order by e.position, e.id limit $5)
             ${redeliveries ? REDELIVERIES : ''}) found
             order by position, place_id limit $5) e on true order by position, place_id`,
    values: [companyId, after.position, after.id, type, limit],
  })
  const found = rows.filter(({ place_id }) => place_id !== null)
  return { entries: found.map(toEntry), next: rows[0]!.next }
}

const toEntry = (row: EntryRow): FeedEntry => ({
  event: toEvent(row),
  at: { position: row.position, id: row.place_id! },
  redelivery: row.webhook_id ? { webhookId: row.webhook_id, askedAt: row.asked_at! } : null,
})

/** Ids that were made within so long after another one are near it. */
const NEAR_MS = 60_000

/**
 * The events of a charge, the oldest first. `marks` are ids that were made just before the events
 * of its creation and of its code, which no index has: they are near those ids. An event of an
 * agreement names no charge, but its externalId may look like the id of one.
 */
export async function listOfCharge(
  tx: Tx,
  companyId: Uuid,
  chargeId: Uuid,
  marks: Uuid[],
  limit: number,
): Promise<WrittenEvent[]> {
  const ends = marks.map((mark) => lowestIdAt(new Date(timeOf(mark).getTime() + NEAR_MS)))
  const columns = `company_id, id, type, payload, created_at, ${modeOf('events')} as mode`
  const rows = await tx.query<EventRow>({
    text: `select * from (
             (select ${columns} from events
              where company_id = $1 and substr(payload, strpos(payload, '"charge_') + 8, 26) = $2
                and type not in ('charge.pending', 'charge.processing')
                and strpos(payload, '"charge_') > 0
                and type !~ '^subscription[.][a-z]+$'
              order by id limit $5)
             union all
             select near.* from unnest($3::uuid[], $4::uuid[]) m (first_id, before_id)
             cross join lateral (
               select ${columns} from events
               where company_id = $1 and id >= m.first_id and id < m.before_id
                 and type in ('charge.pending', 'charge.processing')
                 and substr(payload, strpos(payload, '"charge_') + 8, 26) = $2
               order by id limit 2) near
           ) found order by id limit $5`,
    values: [companyId, suffixOf(chargeId), marks, ends, limit],
  })
  const events = new Map(rows.map((row) => [row.id, toEvent(row)]))
  return [...events.values()]
}
