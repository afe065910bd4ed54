import type { Tx } from '../db/database.ts'
import { idOfSuffix, idsFrom, type Prefix, suffixOf, toPublic, type Uuid } from '../lib/ids.ts'

/** The tables of records that have public ids. */
const TABLES: Record<Prefix, string> = {
  charge: 'charges',
  clnt: 'customers',
  dispute: 'disputes',
  evt: 'events',
  link: 'links',
  plan: 'charge_plans',
  prod: 'products',
  qrs: 'static_codes',
  rcpt: 'recipients',
  rec: 'recurrences',
  rfnd: 'refunds',
  wd: 'withdrawals',
}

/** A record by its public id. */
export type FoundId = { prefix: Prefix; id: Uuid; text: string }

const PUBLIC_ID = /^([a-z]+)_([0-9a-z]{4,26})$/i

const isPrefix = (text: string): text is Prefix => Object.hasOwn(TABLES, text)

/** Records whose public id begins with a text, newest first. Four characters are enough. */
export async function findByPublicId(
  tx: Tx,
  companyId: Uuid,
  text: string,
  limit: number,
): Promise<FoundId[]> {
  const [, prefix, start] = PUBLIC_ID.exec(text.toLowerCase()) ?? []
  const ids = start === undefined ? null : idsFrom(start)
  if (!prefix || !isPrefix(prefix) || !ids) return []
  const rows = await tx.query<{ id: Uuid }>({
    text: `select id from ${TABLES[prefix]} where company_id = $1 and id between $2 and $3
           order by id desc limit $4`,
    values: [companyId, ids.from, ids.to, limit],
  })
  return rows.map(({ id }) => ({ prefix, id, text: toPublic(prefix, id) }))
}

const END_OF_ID = /^(?:…|\.{3})?([0-9a-hjkmnp-tv-z]{6,25})$/
/** So many of the newest records of each table are compared with the end of an id. */
const RECENT = 1000

const byEnd = ([prefix, table]: [string, string]): string =>
  `(select '${prefix}' as prefix, id from (
      select id from ${table} where company_id = $1 order by id desc limit ${RECENT}) recent
    where right(id::text, $2) = $3)`

const BY_END = Object.entries(TABLES).map(byEnd).join(' union all ')

/** New records whose public id ends with a text, as people see it where an id is cut. */
export async function findByIdEnd(
  tx: Tx,
  companyId: Uuid,
  text: string,
  limit: number,
): Promise<FoundId[]> {
  const end = END_OF_ID.exec(text.toLowerCase())?.[1]
  const sample = end === undefined ? null : idOfSuffix(end.padStart(26, '0'))
  if (end === undefined || sample === null) return []
  // A character has five bits and a digit of the UUID four, of which twelve have no hyphen.
  const digits = Math.min(12, Math.floor((end.length * 5) / 4))
  const rows = await tx.query<{ prefix: Prefix; id: Uuid }>({
    text: BY_END,
    values: [companyId, digits, sample.slice(-digits)],
  })
  return rows
    .filter(({ id }) => suffixOf(id).endsWith(end))
    .slice(0, limit)
    .map(({ prefix, id }) => ({ prefix, id, text: toPublic(prefix, id) }))
}
