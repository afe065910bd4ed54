import { tableOf } from '../../db/columns.ts'
import { type Tx, violatedConstraint } from '../../db/database.ts'
import { lowestIdAt, timeOf, toPublic, type Uuid } from '../../lib/ids.ts'
import type { Author, AuthorKind, Changed, Entry, RecordType } from './rules.ts'

const ENTRY = tableOf<Entry>({
  companyId: ['company_id', 'uuid'],
  id: ['id', 'uuid'],
  at: ['at', 'timestamptz'],
  author: {
    columns: [
      ['author_kind', 'text', ({ kind }: Author) => kind],
      ['author_id', 'uuid', ({ id }: Author) => id],
      ['author_name', 'text', ({ name }: Author) => name],
      ['address', 'text', ({ address }: Author) => address],
    ],
    read: (row) => ({
      kind: row.author_kind as AuthorKind,
      id: row.author_id as Uuid | null,
      name: row.author_name as string,
      address: row.address as string | null,
    }),
  },
  action: ['action', 'text'],
  record: {
    columns: [
      ['record_type', 'text', (record: Changed | null) => record?.type ?? null],
      ['record_id', 'text', (record: Changed | null) => record?.id ?? null],
    ],
    read: (row) =>
      row.record_type === null
        ? null
        : { type: row.record_type as RecordType, id: row.record_id as string },
  },
  details: ['details', 'json'],
})

const INSERT = ENTRY.insertInto('activity')

/** Adds entries. Outside a transaction it may be repeated. */
export async function insertEntries(tx: Tx, entries: Entry[]): Promise<void> {
  try {
    await tx.query({ name: 'add_activity', text: INSERT, values: ENTRY.values(entries) })
  } catch (error) {
    // The statement was sent again, and the first one had written all of them.
    if (violatedConstraint(error) !== 'activity_pkey') throw error
  }
}

/** Which entries are looked for. What is null counts for all. */
export type ActivityFilter = {
  /** Whose entries: of one author, or of all people, without keys and what we do ourselves. */
  author: Pick<Author, 'kind' | 'id'> | 'people' | null
  action: string | null
  /** Ids from this one on. */
  from: Uuid | null
  /** Ids before this one: of a cursor, or of the end of a period. */
  before: Uuid | null
}

/** Who has made entries, as the index has them: an id, or null for all who have none. */
const AUTHORS = `authors (author_id) as (
  (select a.author_id from activity a where a.company_id = $1 and a.author_id is not null
   order by a.author_id limit 1)
  union all
  select (select a.author_id from activity a
          where a.company_id = $1 and a.author_id > o.author_id order by a.author_id limit 1)
  from authors o where o.author_id is not null
)`

/** What an author has done. */
const actionsOf = (author: string) => `actions (action) as (
  (select a.action from activity a where a.company_id = $1 and ${author}
   order by a.action limit 1)
  union all
  select (select a.action from activity a
          where a.company_id = $1 and ${author} and a.action > o.action
          order by a.action limit 1)
  from actions o where o.action is not null
)`

/**
 * Newest first. The index has authors, then actions: if only one of the two is given, the newest
 * entries are taken of each of the others. So a page costs the same in a long history.
 */
export async function listEntries(
  tx: Tx,
  companyId: Uuid,
  { author, action, from, before }: ActivityFilter,
  limit: number,
): Promise<Entry[]> {
  const values: unknown[] = [companyId, limit]
  const add = (value: unknown) => `$${values.push(value)}`
  const conditions = ['a.company_id = $1']
  if (from !== null) conditions.push(`a.id >= ${add(from)}`)
  if (before !== null) conditions.push(`a.id < ${add(before)}`)
  if (action !== null) conditions.push(`a.action = ${add(action)}`)
  const one = author === 'people' ? null : author
  const byAuthor = one?.id ? `a.author_id = ${add(one.id)}` : 'a.author_id is null'
  if (one) conditions.push(byAuthor, `a.author_kind = ${add(one.kind)}`)
  const newest = (more: string[] = []) => `select ${ENTRY.select('a')} from activity a
    where ${[...conditions, ...more].join(' and ')} order by a.id desc limit $2`
  const rows = await tx.query({ text: statement(newest, byAuthor, author, action), values })
  return rows.map(ENTRY.read)
}

function statement(
  newest: (more?: string[]) => string,
  byAuthor: string,
  author: ActivityFilter['author'],
  action: string | null,
): string {
  if (author === 'people') return byPeople(newest, action)
  if (author && action === null) {
    return `with recursive ${actionsOf(byAuthor)}
      select e.* from actions o cross join lateral (${newest(['a.action = o.action'])}) e
      order by e.id desc limit $2`
  }
  if (!author && action !== null) {
    return `with recursive ${AUTHORS}
      select e.* from authors o cross join lateral (${newest(['a.author_id = o.author_id'])}) e
      union all (${newest(['a.author_id is null'])})
      order by id desc limit $2`
  }
  return newest()
}

/** The newest entries of each person. The kind of an author is that of any of their entries. */
function byPeople(newest: (more?: string[]) => string, action: string | null): string {
  const own = 'a.author_id = w.author_id'
  const ofPerson =
    action === null
      ? `with recursive ${actionsOf(own)}
         select n.* from actions o cross join lateral (${newest([own, 'a.action = o.action'])}) n
         order by n.id desc limit $2`
      : newest([own])
  return `with recursive ${AUTHORS}
    select e.* from authors w
    cross join lateral (select a.author_kind from activity a
      where a.company_id = $1 and ${own} order by a.action limit 1) k
    cross join lateral (${ofPerson}) e
    where k.author_kind = 'person' order by e.id desc limit $2`
}

/** Everybody who has made entries, by one of their names, in the order of the names. */
export async function listAuthors(tx: Tx, companyId: Uuid): Promise<Omit<Author, 'address'>[]> {
  const rows = await tx.query<{ kind: AuthorKind; id: Uuid | null; name: string }>({
    text: `with recursive ${AUTHORS}
           select e.* from authors o cross join lateral (
             select a.author_kind as kind, a.author_id as id, a.author_name as name
             from activity a where a.company_id = $1 and a.author_id = o.author_id
             order by a.action desc, a.id desc limit 1
           ) e
           order by name, id`,
    values: [companyId],
  })
  return rows
}

/** The entry of a charge's creation is written within so long. */
const CREATION_MS = 60_000

/**
 * What was done to a charge, the oldest first. The entry of its creation is in no index of charges,
 * so that creating stays fast: its id is near that of the charge.
 */
export async function listOfCharge(
  tx: Tx,
  companyId: Uuid,
  chargeId: Uuid,
  limit: number,
): Promise<Entry[]> {
  const end = lowestIdAt(new Date(timeOf(chargeId).getTime() + CREATION_MS))
  const columns = ENTRY.select('a')
  const rows = await tx.query({
    text: `(select ${columns} from activity a
            where company_id = $1 and id > $3 and id < $4 and record_id = $2
              and action in ('createPixCharge', 'createPaymentLink')
            order by id limit 1)
           union all
           (select ${columns} from activity a
            where company_id = $1 and record_id = $2 and record_type = 'charge'
              and action not in ('createPixCharge', 'createPaymentLink')
            order by id limit $5)`,
    values: [companyId, toPublic('charge', chargeId), chargeId, end, limit],
  })
  return rows.map(ENTRY.read)
}
