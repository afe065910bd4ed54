import { booleans, integers, texts, uuids } from '../../db/arrays.ts'
import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { AnyEventType } from '../events.ts'
import { nextSql } from './store.ts'

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
