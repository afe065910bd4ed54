import pg from 'pg'

type Named = { name: string; text: string }
type Column = Named & { comment: string | null }
export type Table = {
  name: string
  comment: string | null
  /** Whether it is a part of another table. */
  isPart: boolean
  /** What is unusual about how it is stored. */
  storage: string
  columns: Column[]
  constraints: Named[]
  indexes: Named[]
  triggers: Named[]
}
export type Schema = { tables: Table[]; functions: Named[] }

/**
 * What the catalog says of tables. Whether constraints are validated is left out, because those of a
 * new table always are, and so are names of NOT NULL, which not all versions of PostgreSQL have.
 */
const TABLES = `
select c.relname as name, obj_description(c.oid, 'pg_class') as comment, c.relispartition as "isPart",
  concat_ws(' ', case c.relpersistence when 'u' then 'unlogged' end,
    'partition by ' || pg_get_partkeydef(c.oid), pg_get_expr(c.relpartbound, c.oid),
    array_to_string(c.reloptions, ', ')) as storage,
  coalesce((select json_agg(json_build_object('name', a.attname,
      'text', concat_ws(' ', format_type(a.atttypid, a.atttypmod),
        case when a.attnotnull then 'not null' end,
        'default ' || pg_get_expr(d.adbin, d.adrelid),
        case a.attidentity when 'a' then 'generated always as identity' end),
      'comment', col_description(c.oid, a.attnum)) order by a.attnum)
    from pg_attribute a left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped), '[]') as columns,
  coalesce((select json_agg(json_build_object('name', k.conname,
      'text', replace(pg_get_constraintdef(k.oid), ' NOT VALID', ''))
      order by k.contype <> 'p', k.conname)
    from pg_constraint k where k.conrelid = c.oid and k.contype in ('p', 'u', 'f', 'c', 'x')),
    '[]') as constraints,
  coalesce((select json_agg(json_build_object('name', i.indexrelid::regclass::text,
      'text', concat(replace(pg_get_indexdef(i.indexrelid), current_schema() || '.', ''),
        case when not i.indisvalid then ' INVALID' end)) order by i.indexrelid::regclass::text)
    from pg_index i where i.indrelid = c.oid
      and not exists (select from pg_constraint k where k.conindid = i.indexrelid
                        and k.conrelid = c.oid and k.contype in ('p', 'u', 'x'))),
    '[]') as indexes,
  coalesce((select json_agg(json_build_object('name', t.tgname,
      'text', replace(pg_get_triggerdef(t.oid), current_schema() || '.', '')) order by t.tgname)
    from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal), '[]') as triggers
from pg_class c
where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
order by c.relname`

const FUNCTIONS = `
select oid::regprocedure::text as name,
  replace(pg_get_functiondef(oid), current_schema() || '.', '') as text
from pg_proc where pronamespace = current_schema()::regnamespace order by 1`

/** All tables and functions of a database, as its catalog describes them. */
export async function readSchema(url: string): Promise<Schema> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const tables = await client.query<Table>(TABLES)
    const functions = await client.query<Named>(FUNCTIONS)
    return { tables: tables.rows, functions: functions.rows }
  } finally {
    await client.end()
  }
}
