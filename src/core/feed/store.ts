import { booleans, integers, texts, uuids } from '../../db/arrays.ts'
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

/** Whether a redelivery is still known by which somebody continues. */
export async function hasRedelivery(
  tx: Tx,
  companyId: Uuid,
  { position, id }: FeedPosition,
): Promise<boolean> {
  const rows = await tx.query({
    text: 'select from redeliveries where company_id = $1 and position = $2 and id = $3',
    values: [companyId, position, id],
  })
  return rows.length > 0
}

/** The last event of a company whose id was made before a moment, for whoever continues there. */
export async function findLastBefore(tx: Tx, companyId: Uuid, at: Date): Promise<Uuid | null> {
  const [row] = await tx.query<Row & { id: Uuid }>({
    text: 'select id from events where company_id = $1 and id < $2 order by id desc limit 1',
    values: [companyId, lowestIdAt(at)],
  })
  return row?.id ?? null
}

type EventRow = Row & {
  company_id: Uuid
  id: Uuid
  type: AnyEventType
  payload: string
  mode: EventMode
  created_at: Date
}

/** An event as it is stored. Its mode replaces devMode. */
export type WrittenEvent = Omit<Event, 'devMode' | 'trace'> & { mode: EventMode }

const toEvent = (row: EventRow): WrittenEvent => ({
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
const nextSql = (company: string): string =>
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

/** From now on, whoever writes events of these companies notifies the servers for so long. */
export async function followFeeds(tx: Tx, companyIds: Uuid[], seconds: number): Promise<void> {
  await tx.query({
    name: 'follow_feeds',
    text: `insert into followed_feeds (company_id, until)
           select company_id, now() + $2 * interval '1 second'
           from unnest($1::uuid[]) f (company_id) order by company_id
           on conflict (company_id) do update
             set until = greatest(followed_feeds.until, excluded.until)`,
    values: [uuids(companyIds), seconds],
  })
}

/**
 * Deletes at most `max` redeliveries that are a week old, and as many entries of feeds that nobody
 * follows any more. Returns the greater of the two numbers.
 */
export async function deleteOldFollows(tx: Tx, max: number): Promise<number> {
  const [row] = await tx.query<{ deleted: number }>({
    text: `with redelivery as (
             delete from redeliveries where ctid = any (array(
               select ctid from redeliveries where written_at < now() - interval '7 days'
               limit $1 for update skip locked))
             returning company_id
           ), followed as (
             delete from followed_feeds where ctid = any (array(
               select ctid from followed_feeds where until < now()
               limit $1 for update skip locked))
             returning company_id
           )
           select greatest(
             (select count(*) from redelivery), (select count(*) from followed)) as deleted`,
    values: [max],
  })
  return row!.deleted
}

/** Events of a type, or of any, from a position on, and redeliveries if they are wanted. */
type Looked = {
  companyId: Uuid
  type: AnyEventType | null
  redeliveries: boolean
  from: number
}

type Found = {
  isThere: boolean
  /** The first position at which nothing was written yet. */
  next: number
}

/** Looks at many feeds at once. Answers in their order. */
export async function lookAtFeeds(tx: Tx, looked: Looked[]): Promise<Found[]> {
  return tx.query<Found>({
    name: 'look_at_feeds',
    text: `select ${nextSql('l.company_id')} as next,
             exists (
               select from events e where e.company_id = l.company_id
                 and e.position >= l.first and (l.type is null or e.type = l.type))
             or l.redeliveries and exists (
               select from redeliveries r where r.company_id = l.company_id
                 and r.position >= l.first) as "isThere"
           from unnest($1::uuid[], $2::int8[], $3::text[], $4::bool[]) with ordinality
             l (company_id, first, type, redeliveries, position) order by l.position`,
    values: [
      uuids(looked.map(({ companyId }) => companyId)),
      integers(looked.map(({ from }) => from)),
      texts(looked.map(({ type }) => type)),
      booleans(looked.map(({ redeliveries }) => redeliveries)),
    ],
  })
}

const SHOWN_COLUMNS = `company_id, id, type, payload, created_at, ${modeOf('events')} as mode`

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
           select ${SHOWN_COLUMNS.replaceAll('events', 'scanned')}, rank as position from scanned
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
    text: `select ${SHOWN_COLUMNS} from events where company_id = $1 and id = $2`,
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
async function findIdAt(tx: Tx, companyId: Uuid, at: Date): Promise<Uuid | null> {
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

/** Requests that run side by side may write events a little out of order. */
const SPARE_MS = 600_000

/** The ids between which the events of a period are, so that nobody has to look at all. */
export async function eventPeriod(
  tx: Tx,
  companyId: Uuid,
  { from, to }: Pick<Period, 'from' | 'to'>,
): Promise<Period> {
  const near = (at: Date | null, spare_ms: number) =>
    at && findIdAt(tx, companyId, new Date(at.getTime() + spare_ms))
  const [firstId, beforeId] = await Promise.all([near(from, -SPARE_MS), near(to, SPARE_MS)])
  return { from, to, firstId, beforeId }
}
