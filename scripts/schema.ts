import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbedded } from '../src/db/embedded/embedded.ts'
import { migrate } from '../src/db/migrate.ts'
import { GENERATED } from '../src/reference.ts'

type Named = { name: string; text: string }
export type Table = {
  name: string
  comment: string | null
  /** Whether it is a part of another table. */
  isPart: boolean
  /** What is unusual about how it is stored. */
  storage: string
  columns: Named[]
  constraints: Named[]
  indexes: Named[]
  triggers: Named[]
}
export type Schema = { tables: Table[]; functions: Named[] }

/**
 * What the catalog says of tables. Whether constraints are validated is left out, because those of
 * a new table always are, and so are names of NOT NULL, which not all versions of PostgreSQL have.
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
        case a.attidentity when 'a' then 'generated always as identity' end)) order by a.attnum)
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

/** The tables of a new database, made on a PostgreSQL of its own. */
export async function readNewSchema(): Promise<Schema> {
  const dataDir = mkdtempSync(join(tmpdir(), 'vintem-schema-'))
  const { url, stop } = await startEmbedded({ dataDir, settings: { fsync: 'off' } })
  try {
    await migrate(url)
    return await readSchema(url)
  } finally {
    await stop()
    rmSync(dataDir, { recursive: true })
  }
}

const shorten = (text: string): string =>
  text.replaceAll('::text', '').replaceAll('timestamp with time zone', 'timestamptz')

const link = (name: string): string => `[\`${name}\`](#${name})`

/** A description of all tables, for people who look for something in the database. */
export function schemaPage({ tables }: Schema): Record<string, string> {
  const whole = tables.filter(({ isPart }) => !isPart)
  const rows = whole.map(({ name, comment }) => `| ${link(name)} | ${comment ?? ''} |`)
  const text = `# Tables

${GENERATED}Reasons for single columns, and the conditions that each row fulfils, are in \`migrations/baseline.sql\` and the migrations
after it. Amounts are cents. What is named \`…_sealed\` or \`sealed\` is encrypted, what is named \`…_index\` is a keyed hash.

| table | what it holds |
|---|---|
${rows.join('\n')}

${whole.map(describeTable).join('\n')}`
  return { 'docs/reference/schema.md': text }
}

function describeTable({ name, comment, storage, columns, constraints, indexes }: Table): string {
  const rows = columns.map(({ name, text }) => `| \`${name}\` | ${shorten(text)} |`)
  const keys = constraints.map(({ text }) => text).filter((text) => !text.startsWith('CHECK'))
  const named = indexes.map(({ name, text }) => {
    const [, unique, method, rest] = /^CREATE (UNIQUE )?INDEX .* USING (\w+) (.*)$/.exec(text)!
    return `${name}: ${unique ? 'unique, ' : ''}${method === 'btree' ? '' : `${method} `}${rest}`
  })
  const lines = [...keys, ...named, ...(storage ? [storage] : [])].map(
    (line) => `- \`${shorten(line)}\``,
  )
  return `## ${name}

${comment ?? ''}

| column | type |
|---|---|
${rows.join('\n')}

${lines.join('\n')}
`
}
