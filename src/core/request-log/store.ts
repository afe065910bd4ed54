import { tableOf } from '../../db/columns.ts'
import type { Database, Query, Row, Tx } from '../../db/database.ts'
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
  callerId: ['caller_id', 'text'],
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

/** A page of the log, and where the next page starts; null if there is none. */
type RequestPage = { requests: LoggedRequest[]; next: Uuid | null }

/** So many requests are looked at for one page, because what is looked for may be rare. */
export const MAX_SCANNED = 10_000

/**
 * Newest first. The requests of an operation have an index, and so have refused and failed ones.
 * For what no index has, MAX_SCANNED requests are looked at: the page has those that were found
 * among them, and the next page goes on from there.
 */
export async function listRequests(
  db: Database,
  companyId: Uuid,
  filter: RequestFilter,
  limit: number,
  mostScanned = MAX_SCANNED,
): Promise<RequestPage> {
  const { query, scanned } = pageQuery(companyId, filter, limit, mostScanned)
  const rows = await db.transaction(async (tx) => {
    // If there are no statistics, the planner prefers to sort all requests of the company.
    await tx.query({ text: "select set_config('enable_sort', 'off', true)" })
    return tx.query<Row & { id: Uuid; position: number; matches: boolean }>(query)
  })
  const matching = rows.filter(({ matches }) => matches)
  const requests = matching.slice(0, limit).map(REQUEST.read)
  if (matching.length > limit) return { requests, next: requests.at(-1)!.id }
  const last = rows.at(-1)
  return { requests, next: last && last.position >= scanned ? last.id : null }
}

const HIGHEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Looks at the newest `scanned` requests of an index for those that match, and for the last one. */
export function pageQuery(
  companyId: Uuid,
  { status, operation, keyId, from, before }: RequestFilter,
  limit: number,
  mostScanned: number,
): { query: Query; scanned: number } {
  const values: unknown[] = [companyId]
  const add = (value: unknown) => `$${values.push(value)}`
  const matches: string[] = []
  let [column, value, more] = ['r.company_id', '$1', '']
  if (status === 'refused' || status === 'failed') {
    const group = `${add(STATUS_CLASSES[status][0] / 100)}::int`
    ;[column, value, more] = ['r.status / 100', group, 'and r.status >= 400']
    if (operation !== null) matches.push(`s.operation = ${add(operation)}`)
  } else {
    if (operation !== null) [column, value] = ['r.operation', add(operation)]
    if (status !== null) {
      const [lowest, highest] = STATUS_CLASSES[status]
      matches.push(`s.status between ${add(lowest)} and ${add(highest)}`)
    }
  }
  if (keyId !== null) matches.push(`s.key_id = ${add(keyId)}`)
  const isMatch = matches.join(' and ') || 'true'
  const scanned = matches.length > 0 ? mostScanned : limit + 1
  // Only the index of the column has this order, whatever the planner believes of its values.
  const order = `${column} desc, r.id desc`
  // The planner knows that all have one company, and must see that there is nothing to sort.
  const sameOrder = column === 'r.company_id' ? 's.id desc' : 's.first desc, s.id desc'
  const text = `select s.*, ${isMatch} as matches from (
      select ${REQUEST.select('r')}, ${column} as first,
        row_number() over (order by ${order}) as position
      from api_requests r
      where r.company_id = $1 ${more} and (${column}, r.id) >= (${value}, ${add(from)}::uuid)
        and (${column}, r.id) < (${value}, ${add(before ?? HIGHEST)}::uuid)
      order by ${order} limit ${add(scanned)}
    ) s where ${isMatch} or s.position = ${add(scanned)}
    order by ${sameOrder} limit ${add(limit + 1)}`
  return { query: { text, values }, scanned }
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
