import type { TestApi } from '../support/api.ts'

/** Every table of ours, so that a new one is looked at without being named here. */
async function tablesOf(api: TestApi): Promise<string[]> {
  const rows = await api.rows<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = current_schema() order by tablename`,
  )
  return rows.map(({ name }) => name)
}

/** A row as text. When a key was last used is written whenever it suits, and is no effect. */
const ROW = `(to_jsonb(t) - 'last_used_at')::text`

/** It is written whenever it suits, and is no effect. */
const REQUEST_LOG = /^api_requests/

export type Stored = Record<string, { count: number; hash: string }>

/**
 * What each table holds: two equal answers mean that nothing was stored or changed. The rows are
 * not put in order, because that takes longest: the sum of their hashes is the same in any order.
 */
export async function stored(api: TestApi): Promise<Stored> {
  await api.app.lateActivity.idle()
  const tables = await api.rows<{ name: string; isUsed: boolean }>(
    `select relname as name, exists (select from pg_attribute
       where attrelid = c.oid and attname = 'last_used_at') as "isUsed"
     from pg_class c where relkind in ('r', 'p') and not relispartition
       and relnamespace = current_schema()::regnamespace order by relname`,
  )
  const parts = tables
    .filter(({ name }) => !REQUEST_LOG.test(name))
    .map(
      ({ name, isUsed }) => `select '${name}' as name, count(*)::int as count,
        sum(hashtextextended(${isUsed ? ROW : 't::text'}, 0))::text as hash from ${name} t`,
    )
  const rows = await api.rows<{ name: string; count: number; hash: string }>(
    parts.join(' union all '),
  )
  return Object.fromEntries(rows.map(({ name, count, hash }) => [name, { count, hash }]))
}

/** All rows of all tables as text, the bytes in them as hex and as characters. */
export async function dump(api: TestApi): Promise<string> {
  const parts = (await tablesOf(api)).map((name) => `select t::text as row from ${name} t`)
  const rows = await api.rows<{ row: string }>(parts.join(' union all '))
  const text = rows.map(({ row }) => row).join('\n')
  const bytes = [...text.matchAll(/\\x([0-9a-f]+)/g)].map(([, hex]) =>
    Buffer.from(hex!, 'hex').toString('latin1'),
  )
  return [text, ...bytes].join('\n')
}

/** The rows that belong to one company, in every table that has a company. */
export async function rowsOfCompany(api: TestApi, companyId: string): Promise<string> {
  const tables = await api.rows<{ name: string }>(
    `select table_name as name from information_schema.columns
     where table_schema = current_schema() and column_name = 'company_id'
       and table_name !~ '^api_requests' order by table_name`,
  )
  await api.app.lateActivity.idle()
  const parts = tables.map(
    ({ name }) => `select '${name}' as name, ${ROW} as row from ${name} t where t.company_id = $1`,
  )
  const rows = await api.rows<{ name: string; row: string }>(
    `select * from (${parts.join(' union all ')}) all_rows order by name, row`,
    [companyId],
  )
  return rows.map(({ name, row }) => `${name}: ${row}`).join('\n')
}
