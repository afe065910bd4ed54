import { tableOf } from '../../db/columns.ts'
import type { Tx } from '../../db/database.ts'
import { lowestIdAt, timeOf, type Uuid } from '../../lib/ids.ts'
import { type LoggedRequest, partOf, STATUS_CLASSES, type StatusClass } from './rules.ts'

const REQUEST = tableOf<LoggedRequest>({
  companyId: ['company_id', 'uuid'],
  id: {
    columns: [
      ['id', 'uuid', (id: Uuid) => id],
      ['part', 'int8', (id: Uuid) => partOf({ id })],
    ],
    read: (row) => row.id as Uuid,
  },
  keyId: ['key_id', 'uuid'],
  operation: ['operation', 'text'],
  status: ['status', 'int8'],
  errorCode: ['error_code', 'text'],
  ms: ['ms', 'int8'],
})

const INSERT = REQUEST.insertInto('api_requests')

export async function insertRequests(tx: Tx, requests: LoggedRequest[]): Promise<void> {
  await tx.query({ name: 'log_requests', text: INSERT, values: REQUEST.values(requests) })
}

/** Which requests are looked for. What is null counts for all. */
export type RequestFilter = {
  status: StatusClass | null
  operation: string | null
  keyId: Uuid | null
  /** Ids from this one on. */
  from: Uuid
  /** Ids before this one: of a cursor, or of the end of a period. */
  before: Uuid | null
}

/** All that the index has: operations, and the keys of the company. */
export type Known = { operations: string[]; keyIds: Uuid[] }

/**
 * Newest first. Failed requests have an index of their own. The other index has operations, then
 * keys: if one of the two is given, the newest requests are taken of each of the others. So a page
 * costs the same however many requests there were.
 */
export async function listRequests(
  tx: Tx,
  companyId: Uuid,
  { status, operation, keyId, from, before }: RequestFilter,
  known: Known,
  limit: number,
): Promise<LoggedRequest[]> {
  const values: unknown[] = [companyId, from, limit]
  const add = (value: unknown) => `$${values.push(value)}`
  const conditions = ['r.company_id = $1', 'r.id >= $2']
  if (before !== null) conditions.push(`r.id < ${add(before)}`)
  const isFailed = status === 'refused' || status === 'failed'
  if (isFailed) conditions.push('r.status >= 400')
  if (status !== null) {
    const [lowest, highest] = STATUS_CLASSES[status]
    conditions.push(`r.status between ${add(lowest)} and ${add(highest)}`)
  }
  if (isFailed && operation !== null) conditions.push(`r.operation = ${add(operation)}`)
  if (isFailed && keyId !== null) conditions.push(`r.key_id = ${add(keyId)}`)
  const newest = (more: string[] = []) => `select ${REQUEST.select('r')} from api_requests r
    where ${[...conditions, ...more].join(' and ')} order by r.id desc limit $3`
  const isDivided = !isFailed && (operation !== null || keyId !== null)
  const text = isDivided
    ? `select e.* from unnest(${add(operation ? [operation] : known.operations)}::text[]) o (operation)
       cross join unnest(${add(keyId ? [keyId] : known.keyIds)}::uuid[]) k (id)
       cross join lateral (${newest(['r.operation = o.operation', 'r.key_id = k.id'])}) e
       order by e.id desc limit $3`
    : newest()
  const rows = await tx.query({ text, values })
  return rows.map(REQUEST.read)
}

export async function findRequest(
  tx: Tx,
  companyId: Uuid,
  id: Uuid,
): Promise<LoggedRequest | null> {
  const rows = await tx.query({
    text: `select ${REQUEST.select('r')} from api_requests r
           where r.company_id = $1 and r.id = $2 and r.part = $3`,
    values: [companyId, id, partOf({ id })],
  })
  return rows[0] ? REQUEST.read(rows[0]) : null
}

/**
 * The operations that a company has used since then, in the order of their names, and when each was
 * last used. It looks once at each operation, however many requests there were.
 */
export async function listUsedOperations(
  tx: Tx,
  companyId: Uuid,
  since: Date,
): Promise<{ operation: string; lastAt: Date }[]> {
  const rows = await tx.query<{ operation: string; id: Uuid }>({
    text: `with recursive used (operation) as (
             (select r.operation from api_requests r where r.company_id = $1
              order by r.operation limit 1)
             union all
             select (select r.operation from api_requests r
                     where r.company_id = $1 and r.operation > u.operation
                     order by r.operation limit 1)
             from used u where u.operation is not null
           )
           select u.operation, newest.id from used u
           cross join lateral (
             select r.id from api_requests r
             where r.company_id = $1 and r.operation = u.operation and r.id >= $2
             order by r.id desc limit 1
           ) newest
           order by u.operation`,
    values: [companyId, lowestIdAt(since)],
  })
  return rows.map(({ operation, id }) => ({ operation, lastAt: timeOf(id) }))
}

/** Empties a part. It takes no longer for many requests, and leaves no dead rows behind. */
export async function emptyPart(tx: Tx, part: number): Promise<void> {
  const [row] = await tx.query({
    text: 'select 1 as found from api_requests where part = $1 limit 1',
    values: [part],
  })
  if (row) await tx.query({ text: `truncate api_requests_${part}` })
}
