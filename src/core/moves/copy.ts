import type pg from 'pg'
import type { Uuid } from '../../lib/ids.ts'
import { APPEND_ONLY, type Table } from '../company-tables/tables.ts'

/** Rows of one statement. */
const BATCH = 2_000

/** The connections to both places of a move, and the tables that it copies. */
export type Ends = {
  source: pg.Client
  target: pg.Client
  /** By which triggers are made there: with Citus these are connections to the coordinator. */
  changers: { source: pg.Client; target: pg.Client }
  tables: Table[]
}

/** The key of a row within its company, as texts. */
export type Key = string[]

const keyOf = ({ key }: Table): string =>
  `array[${key.map(({ column }) => `t.${column}::text`).join(', ')}]::text[]`

const columnsOf = ({ key }: Table): string => key.map(({ column }) => `t.${column}`).join(', ')

/** Rows as PostgreSQL writes them, which any other PostgreSQL reads without a loss. */
async function readAfter(
  from: pg.ClientBase,
  table: Table,
  companyId: Uuid,
  after: Key | null,
): Promise<{ row: string; key: Key }[]> {
  const { name, company, key } = table
  const bound = key.map(({ type }, i) => `($2::text[])[${i + 1}]::${type}`).join(', ')
  // Without a key to begin after, the second part only gives the parameter its type.
  const later =
    after && key.length > 0 ? `(${columnsOf(table)}) > (${bound})` : '($2::text[] is null or true)'
  const { rows } = await from.query<{ row: string; key: Key }>(
    `select t::text as row, ${keyOf(table)} as key from ${name} t
     where t.${company} = $1 and ${later}
     ${key.length > 0 ? `order by ${columnsOf(table)}` : ''} limit ${BATCH}`,
    [companyId, after],
  )
  return rows
}

async function write(to: pg.ClientBase, { name }: Table, rows: string[]): Promise<void> {
  if (rows.length === 0) return
  await to.query(`insert into ${name} select * from unnest($1::${name}[]) on conflict do nothing`, [
    rows,
  ])
}

/** Copies the rows of a company after a key, batch by batch. Rows that are there already stay. */
export async function copyTable(
  from: pg.ClientBase,
  to: pg.ClientBase,
  table: Table,
  companyId: Uuid,
  after: Key | null,
  copied: (last: Key) => Promise<void>,
): Promise<void> {
  for (let last = after; ; ) {
    const found = await readAfter(from, table, companyId, last)
    await write(
      to,
      table,
      found.map(({ row }) => row),
    )
    last = found.at(-1)?.key ?? last
    if (found.length < BATCH || table.key.length === 0) return
    await copied(last!)
  }
}

/**
 * SQL: the keys in the JSON array of arrays `$2`, each value with its type, so that the index is
 * used. They are read first, because Citus does not read dates while it deletes.
 */
const wantedSql = ({ key }: Table): string => {
  const values = key.map(({ type }, i) => `(e.value->>${i})::${type} as key${i}`)
  return `wanted as materialized (
    select distinct ${values.join(', ') || '1 as one'} from jsonb_array_elements($2::jsonb) e (value))`
}

/** Makes these rows the same as in the place that the company comes from. */
export async function copyKeys(
  from: pg.ClientBase,
  to: pg.ClientBase,
  table: Table,
  companyId: Uuid,
  keys: Key[],
): Promise<void> {
  const { name, company } = table
  for (let i = 0; i < keys.length; i += BATCH) {
    const part = JSON.stringify(keys.slice(i, i + BATCH))
    const { rows } = await from.query<{ row: string }>(
      `with ${wantedSql(table)} select t::text as row from wanted w join ${name} t
         on t.${company} = $1 and ${matches(table)}`,
      [companyId, part],
    )
    const texts = rows.map(({ row }) => row)
    if (table.isReferenced) await replace(to, table, texts)
    else {
      if (!APPEND_ONLY.includes(name)) {
        await to.query(
          `with ${wantedSql(table)} delete from ${name} t using wanted w
           where t.${company} = $1 and ${matches(table)}`,
          [companyId, part],
        )
      }
      await write(to, table, texts)
    }
  }
}

/** SQL: whether row t has the key of w. */
const matches = ({ key }: Table): string =>
  key.map(({ column }, i) => `t.${column} = w.key${i}`).join(' and ') || 'true'

/** For a table whose rows others name: changes rows in their place. */
async function replace(to: pg.ClientBase, table: Table, rows: string[]): Promise<void> {
  const { name, company, key } = table
  const { rows: columns } = await to.query<{ name: string }>(
    `select attname::text as name from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
    [name],
  )
  const primary = [company, ...key.map(({ column }) => column)]
  const changes = columns
    .filter((column) => !primary.includes(column.name))
    .map((column) => `${column.name} = excluded.${column.name}`)
  await to.query(
    `insert into ${name} select * from unnest($1::${name}[])
     on conflict (${primary.join(', ')}) do update set ${changes.join(', ')}`,
    [rows],
  )
}

/** How many rows each table has of a company. */
export async function countRows(
  client: pg.ClientBase,
  tables: Table[],
  companyId: Uuid,
): Promise<Map<string, number>> {
  const counts = tables.map(
    ({ name, company }) => `select '${name}' as name, count(*) as count from ${name}
       where ${company} = $1`,
  )
  const { rows } = await client.query<{ name: string; count: number }>(counts.join(' union all '), [
    companyId,
  ])
  return new Map(rows.map(({ name, count }) => [name, Number(count)]))
}

/** All keys of a company in a table. */
export async function readKeys(
  client: pg.ClientBase,
  table: Table,
  companyId: Uuid,
): Promise<Map<string, Key>> {
  const { rows } = await client.query<{ key: Key }>(
    `select ${keyOf(table)} as key from ${table.name} t where t.${table.company} = $1`,
    [companyId],
  )
  return new Map(rows.map(({ key }) => [JSON.stringify(key), key]))
}

/** SQL: rows in one text, whatever their order. */
const DIGEST = `count(*) || ' ' || coalesce(sum(hashtextextended(t::text, 0)::numeric), 0)`

/** All rows of a company in a table. */
export async function digestTable(
  client: pg.ClientBase,
  { name, company }: Table,
  companyId: Uuid,
): Promise<string> {
  const { rows } = await client.query<{ digest: string }>(
    `select ${DIGEST} as digest from ${name} t where t.${company} = $1`,
    [companyId],
  )
  return rows[0]!.digest
}

/** The rows of a company with these keys. */
export async function digestKeys(
  client: pg.ClientBase,
  table: Table,
  companyId: Uuid,
  keys: Key[],
): Promise<string> {
  const { name, company } = table
  const { rows } = await client.query<{ digest: string }>(
    `with ${wantedSql(table)} select ${DIGEST} as digest from wanted w
     join ${name} t on t.${company} = $1 and ${matches(table)}`,
    [companyId, JSON.stringify(keys)],
  )
  return rows[0]!.digest
}
