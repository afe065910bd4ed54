import pg from 'pg'
import { inOrderOfReference } from '../../db/references.ts'
import type { SavedTable } from './format.ts'

/**
 * Tables that are not saved, and why: what a process writes about itself or about its own work,
 * what is of the moment, and what the migrations of the restored database write.
 */
export const NOT_SAVED = [
  // The migrations that were applied are in the beginning of the backup.
  'schema_migrations',
  // Processes that deliver, and what each of them has taken.
  'workers',
  'webhook_leases',
  // Written again by those who wait for events.
  'followed_feeds',
  // Written again by tasks that fail.
  'setbacks',
  // A session that has ended since would be there again. People sign in once more.
  'sessions',
  // While a company moves, no backup is made.
  'company_moves',
  'company_changes',
  // The request log, which a crash of PostgreSQL empties too. It can be larger than all else.
  'api_requests',
]

/** All tables that are saved, those that refer to others after them. */
export async function readTables(client: pg.ClientBase): Promise<SavedTable[]> {
  const { rows } = await client.query<SavedTable & { refers: string[] }>(
    `select c.relname::text as name,
       array(select a.attname::text from pg_attribute a
             where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
               and a.attgenerated = '' order by a.attnum) as columns,
       array(select f.confrelid::regclass::text from pg_constraint f
             where f.conrelid = c.oid and f.contype = 'f') as refers
     from pg_class c
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
       and not c.relispartition and c.relname <> all ($1::text[])
     order by 1`,
    [NOT_SAVED],
  )
  return inOrderOfReference(rows).map(({ name, columns }) => ({ name, columns }))
}

const columnsOf = ({ columns }: SavedTable): string => columns.map(pg.escapeIdentifier).join(', ')

/** The query of all rows of a table. */
export const rowsOf = (table: SavedTable): string =>
  `select ${columnsOf(table)} from ${pg.escapeIdentifier(table.name)}`

/** The table with its columns, for whoever writes rows. */
export const targetOf = (table: SavedTable): string =>
  `${pg.escapeIdentifier(table.name)} (${columnsOf(table)})`

/** The last values of the sequences of saved tables. */
export async function readSequences(
  client: pg.ClientBase,
  tables: SavedTable[],
): Promise<Record<string, number>> {
  const { rows } = await client.query<{ name: string; last: string }>(
    `select s.sequencename::text as name, s.last_value::text as last
     from pg_sequences s
     join pg_depend d on d.objid = format('%I.%I', s.schemaname, s.sequencename)::regclass
       and d.deptype in ('a', 'i') and d.refclassid = 'pg_class'::regclass
     join pg_class c on c.oid = d.refobjid
     where s.schemaname = current_schema() and s.last_value is not null
       and c.relname = any ($1::text[])`,
    [tables.map(({ name }) => name)],
  )
  return Object.fromEntries(rows.map(({ name, last }) => [name, Number(last)]))
}
