import type pg from 'pg'
import { inOrderOfReference } from '../../db/references.ts'

/** A table with rows of companies. */
export type Table = {
  /** In the schema of the place. */
  name: string
  /** The column that names the company. */
  company: string
  /** The other columns of the primary key, with their types. */
  key: { column: string; type: string }[]
  /** Whether rows of other tables name its rows, so that none may be missing for a moment. */
  isReferenced: boolean
  kind: Kind
}

/**
 * bulk: copied while the company works, the company itself first. late: few rows, by which others
 * would find the company, so they are copied when it changes its place. log: written after the
 * answer to a request, so that some come after the change.
 */
type Kind = 'bulk' | 'late' | 'log'

/** What belongs to the place and not to the company, or is written again by itself. */
const NOT_COPIED = [
  'company_moves',
  'company_changes',
  'setbacks',
  'webhook_leases',
  'followed_feeds',
  'backfills',
]
/** The tables of people, which are in the first place. */
const OF_PEOPLE = ['memberships', 'person_links']
const LOGS = ['activity', 'api_requests']
/** Of the version before: the trigger of payments counts for companies with a row of the first. */
const LATE = ['counted_hours', 'feeds', 'simulated_accounts']
/** Of those that refer to the company, these have many rows. */
const LARGE = [
  'charge_plans',
  'customers',
  'links',
  'products',
  'recurrences',
  'static_codes',
  'recipients',
]
/** Their rows are never changed, and triggers see to that. */
export const APPEND_ONLY = ['postings', 'recipient_entries', 'activity', 'closings']

type Found = {
  name: string
  company: string
  /** Of the primary key. Null: it has none. */
  columns: string[] | null
  types: string[]
  refers: string[]
}

/** All tables with rows of companies. Those that refer to others come after them. */
export async function readTables(client: pg.ClientBase): Promise<Table[]> {
  const { rows } = await client.query<Found>(
    `select c.relname as name, a.attname as company,
       (select array_agg(k.attname::text order by i.n)
        from pg_constraint p cross join unnest(p.conkey) with ordinality i (attnum, n)
        join pg_attribute k on k.attrelid = c.oid and k.attnum = i.attnum
        where p.conrelid = c.oid and p.contype = 'p') as columns,
       (select array_agg(format_type(k.atttypid, k.atttypmod) order by i.n)
        from pg_constraint p cross join unnest(p.conkey) with ordinality i (attnum, n)
        join pg_attribute k on k.attrelid = c.oid and k.attnum = i.attnum
        where p.conrelid = c.oid and p.contype = 'p') as types,
       array(select f.confrelid::regclass::text from pg_constraint f
             where f.conrelid = c.oid and f.contype = 'f') as refers
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       and (a.attname = 'company_id' or (c.relname ^@ 'simulated_' and a.attname = 'account_id')
         or (c.relname = 'companies' and a.attname = 'id'))
     where n.nspname = current_schema() and c.relkind in ('r', 'p') and not c.relispartition
     order by 1`,
  )
  const own = rows.filter(({ name }) => ![...NOT_COPIED, ...OF_PEOPLE].includes(name))
  const tables = own.map((found): Table & { refers: string[] } => ({
    name: found.name,
    company: found.company,
    key: keyOf(found)
      .map((column, i) => ({ column, type: found.types[i]! }))
      .filter(({ column }) => column !== found.company),
    isReferenced: own.some(({ refers }) => refers.includes(found.name)),
    kind: kindOf(found),
    refers: found.refers,
  }))
  return inOrderOfReference(tables)
}

function keyOf({ name, columns }: Found): string[] {
  if (!columns) throw new Error(`${name} has no primary key, by which its rows could be copied`)
  return columns
}

function kindOf({ name, refers }: Found): Kind {
  if (LOGS.includes(name)) return 'log'
  const isSmall = refers.includes('companies') && !LARGE.includes(name)
  return LATE.includes(name) || isSmall ? 'late' : 'bulk'
}
