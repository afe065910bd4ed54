import type { Row, Tx } from '../../db/database.ts'
import { lowestIdAt, timeOf, type Uuid } from '../../lib/ids.ts'
import { type AnyEventType, modeOf } from '../events.ts'
import { type EventRow, toEvent, type WrittenEvent } from './store.ts'

const COLUMNS = `company_id, id, type, payload, created_at, ${modeOf('events')} as mode`

/** So many events are looked at for one page, because a type may be rare. */
const MAX_SCANNED = 5_000

/** The events of a period: exactly by their moments, and by ids so that an index finds them. */
export type Period = {
  from: Date | null
  to: Date | null
  firstId: Uuid | null
  beforeId: Uuid | null
}

type EventFilter = {
  limit: number
  after: Uuid | null
  type: AnyEventType | null
  period: Period
}

/** The newest events of a company. */
export async function listNewest(
  tx: Tx,
  companyId: Uuid,
  { limit, after, type, period }: EventFilter,
): Promise<{ events: WrittenEvent[]; next: Uuid | null }> {
  const scanned = type === null ? limit + 1 : MAX_SCANNED
  const rows = await tx.query<EventRow & { position: number }>({
    text: `with scanned as materialized (
             select *, row_number() over (order by id desc) as rank from events
             where company_id = $1 and ($2::uuid is null or id < $2)
               and ($3::uuid is null or id < $3) and ($7::uuid is null or id >= $7)
               and ($8::timestamptz is null or created_at < $8)
               and ($9::timestamptz is null or created_at >= $9)
             order by id desc limit $4
           )
           select ${COLUMNS.replaceAll('events', 'scanned')}, rank as position from scanned
           where $5::text is null or type = $5 or rank = (select max(rank) from scanned)
           order by rank limit $6`,
    values: [
      companyId,
      after,
      period.beforeId,
      scanned,
      type,
      limit + 2,
      period.firstId,
      period.to,
      period.from,
    ],
  })
  const matching = rows.filter((row) => type === null || row.type === type)
  const events = matching.slice(0, limit).map(toEvent)
  if (matching.length > limit) return { events, next: events.at(-1)!.id }
  const last = rows.at(-1)
  return { events, next: last && last.position >= scanned ? last.id : null }
}

export async function findEvent(tx: Tx, companyId: Uuid, id: Uuid): Promise<WrittenEvent | null> {
  const [row] = await tx.query<EventRow>({
    text: `select ${COLUMNS} from events where company_id = $1 and id = $2`,
    values: [companyId, id],
  })
  return row ? toEvent(row) : null
}

/**
 * The id from which on events were written at this moment or later; null if there are none. Ids
 * have the real time, which is not that of a company whose clock is ahead, so it is searched for:
 * in halves, because both only grow. Requests that run side by side may swap a few, so it should be
 * asked with some time to spare.
 */
export async function findIdAt(tx: Tx, companyId: Uuid, at: Date): Promise<Uuid | null> {
  const [ends] = await tx.query<Row & { first: Uuid | null; last: Uuid }>({
    text: `select (select id from events where company_id = $1 order by id limit 1) as first,
             (select id from events where company_id = $1 order by id desc limit 1) as last`,
    values: [companyId],
  })
  if (!ends?.first) return null
  let [low, high] = [timeOf(ends.first).getTime(), timeOf(ends.last).getTime() + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [next] = await tx.query<Row & { created_at: Date }>({
      name: 'first_event_from',
      text: `select created_at from events where company_id = $1 and id >= $2
             order by id limit 1`,
      values: [companyId, lowestIdAt(new Date(middle))],
    })
    if (next && next.created_at < at) low = middle + 1
    else high = middle
  }
  return lowestIdAt(new Date(low))
}
