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

/** A part of the feed, and the position up to which it shows everything. */
export type FeedPart = { events: WrittenEvent[]; horizon: number }

/**
 * Events in the order of their transactions, oldest first, up to the first transaction that is
 * still open, because its events come before those of later transactions.
 */
export async function readFeed(
  tx: Tx,
  companyId: Uuid,
  filter: { after: FeedPosition; type: AnyEventType | null; limit: number },
): Promise<FeedPart> {
  const rows = await tx.query<EventRow & { horizon: number }>({
    text: `select * from (select feed_horizon() as horizon offset 0) h left join lateral (
             select company_id, id, type, payload, created_at, ${modeOf('events')} as mode
             from events
             where company_id = $1 and (position, id) > ($2::bigint, $3::uuid)
               and position < h.horizon and ($4::text is null or type = $4)
             order by position, id limit $5) e on true`,
    values: [companyId, filter.after.position, filter.after.id, filter.type, filter.limit],
  })
  const events = rows.filter(({ id }) => id !== null)
  return { events: events.map(toEvent), horizon: rows[0]!.horizon }
}

/** Ids that were made within so long after another one are near it. */
const NEAR_MS = 60_000

/**
 * The events of a charge, the oldest first. `marks` are ids that were made just before the events
 * of its creation and of its code, which no index has: they are near those ids.
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
