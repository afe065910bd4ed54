import type { Row, Tx } from '../../db/database.ts'

export type System = {
  database: string
  bytes: number
  connections: number
  maxConnections: number
  migrations: number
  lastMigration: string
  migratedAt: Date
}

/** Versions, size and connections of the database. */
export async function readSystem(tx: Tx): Promise<System> {
  const [row] = await tx.query<Row & System>({
    text: `select current_setting('server_version') as database,
             pg_database_size(current_database()) as bytes,
             (select count(*) from pg_stat_activity where datname = current_database())
               as connections,
             current_setting('max_connections')::int as "maxConnections",
             (select count(*) from schema_migrations) as migrations,
             m.name as "lastMigration", m.applied_at as "migratedAt"
           from schema_migrations m order by m.version desc limit 1`,
  })
  return row!
}

/** Rows are null if PostgreSQL has no estimate yet. */
export type TableSize = { name: string; rows: number | null; bytes: number }

/**
 * The largest tables. Rows are the estimate that PostgreSQL keeps for its planner, because counting
 * them would read the whole table.
 */
export async function listLargestTables(tx: Tx, limit: number): Promise<TableSize[]> {
  return tx.query<Row & TableSize>({
    text: `select c.relname as name, nullif(c.reltuples, -1)::int8 as rows,
             pg_total_relation_size(c.oid) as bytes
           from pg_class c join pg_namespace n on n.oid = c.relnamespace
           where c.relkind = 'r' and n.nspname = current_schema()
           order by pg_total_relation_size(c.oid) desc limit $1`,
    values: [limit],
  })
}

/** So many companies are looked at, so that many cost no more. */
const MAX_COMPANIES = 10_000

/** How many of the newest companies use each version of the API. */
export const countVersions = (tx: Tx): Promise<{ version: string; companies: number }[]> =>
  tx.query<{ version: string; companies: number }>({
    text: `select api_version as version, count(*) as companies
           from (select api_version from companies order by id desc limit ${MAX_COMPANIES}) c
           group by api_version order by api_version desc`,
  })
