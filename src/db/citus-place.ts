import type pg from 'pg'
import { OperatorFault } from '../lib/operator-fault.ts'
import { splitHosts } from './address.ts'
import {
  atNode,
  type Citus,
  coordinatorOf,
  distributeSchema,
  readCitus,
  schemaOf,
  withSchema,
} from './citus.ts'
import { databaseFault } from './database-fault.ts'
import { migrate } from './migrate.ts'
import { createClient } from './servers.ts'

const NAME = 'vintem place'

async function connected<R>(url: string, act: (client: pg.Client) => Promise<R>): Promise<R> {
  const client = createClient(url, { application_name: NAME, connectionTimeoutMillis: 10_000 })
  await client.connect().catch((error) => {
    throw databaseFault(url, error)
  })
  return act(client).finally(() => client.end())
}

const quoted = (client: pg.Client, name: string): string => client.escapeIdentifier(name)

/**
 * Creates the schema that an address names with our tables, and lets Citus hold it if the database
 * has it. Returns the address of the node that has the tables. It can be repeated.
 */
export async function createPlace(url: string): Promise<string> {
  const schema = schemaOf(url)
  if (schema === null) {
    await migrate(url)
    return url
  }
  const citus = await connected(url, readCitus)
  const coordinator = citus && coordinatorOf(citus, url)
  const at = coordinator ?? url
  await connected(at, (client) =>
    client.query(`create schema if not exists ${quoted(client, schema)}`),
  )
  await migrate(at)
  return coordinator === null ? url : holdByCitus(coordinator)
}

/** Lets Citus hold the tables of a schema, unless it does already. */
async function holdByCitus(url: string): Promise<string> {
  const { holder } = await connected(url, async (client) => {
    const citus = (await readCitus(client))!
    if (citus.holder) return citus
    await distributeSchema(client)
    return (await readCitus(client))!
  })
  return atNode(splitHosts(url)[0]!, holder!)
}

export type Distributed = {
  url: string /** Tables whose former rows could not be removed. */
  left: string[]
}

/**
 * Moves the tables of a database into a schema of this name, and lets Citus hold it. If it is
 * interrupted, it goes on when it is repeated.
 */
export async function distributePlace(url: string, schema: string): Promise<Distributed> {
  const target = withSchema(splitHosts(url)[0]!, schema)
  const isMoved = await connected(url, async (client) => {
    await requireCoordinator(await readCitus(client))
    await requireUnused(client)
    return hasTables(client, schema)
  })
  if (!isMoved) {
    await migrate(url)
    await connected(url, (client) => moveTables(client, schema))
  }
  await migrate(target)
  const held = await holdByCitus(target)
  return { url: held, left: await connected(target, removeLocalRows) }
}

async function requireCoordinator(citus: Citus | null): Promise<void> {
  if (!citus) {
    throw new OperatorFault(
      'The database does not have Citus. Install it on this server and the nodes, run "create extension citus" in this database on each of them, and add the nodes with citus_add_node.',
    )
  }
  if (citus.coordinator) {
    throw new OperatorFault(
      `This is a node. Use the address of the coordinator, ${citus.coordinator.host}:${citus.coordinator.port}.`,
    )
  }
}

/** Whoever is connected would write into tables that are being copied, or wait for them. */
async function requireUnused(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ servers: number; nodes: number }>(
    `select (select count(*)::int from pg_stat_activity
             where datname = current_database() and application_name ^@ 'vintem'
               and application_name <> $1) as servers,
       (select count(*)::int from pg_dist_node
        where isactive and noderole = 'primary' and shouldhaveshards) as nodes`,
    [NAME],
  )
  if (rows[0]!.servers > 0) {
    throw new OperatorFault(
      'Servers are connected to the database. Stop all of them, and repeat the command.',
    )
  }
  if (rows[0]!.nodes === 0) {
    throw new OperatorFault(
      'Citus has no node that may hold tables. Run "select citus_set_coordinator_host(...)" with the name of this server, and "select citus_add_node(...)" for each of the others.',
    )
  }
}

async function hasTables(client: pg.Client, schema: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `select from pg_tables where schemaname = $1 and tablename = 'schema_migrations'`,
    [schema],
  )
  return rowCount === 1
}

/** Moves tables and functions that belong to no extension. No row is written. */
async function moveTables(client: pg.Client, schema: string): Promise<void> {
  const { rows } = await client.query<{ text: string }>(
    `select format('alter %s %s set schema %I', one.kind, one.name, $1::text) as text from (
       select 'table' as kind, oid::regclass::text as name, oid from pg_class
       where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace
       union all
       select 'function', oid::regprocedure::text, oid from pg_proc
       where pronamespace = current_schema()::regnamespace
     ) one
     where not exists (select from pg_depend d where d.objid = one.oid and d.deptype = 'e')`,
    [schema],
  )
  const texts = rows.map(({ text }) => `${text};`)
  await client.query(
    `begin; create schema if not exists ${quoted(client, schema)}; ${texts.join(' ')} commit`,
  )
}

/** Removes what was copied to the node. Only a superuser may do it where triggers refuse it. */
async function removeLocalRows(client: pg.Client): Promise<string[]> {
  await client.query('set session_replication_role = replica').catch(() => {})
  const { rows } = await client.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
     where relkind = 'r' and relnamespace = current_schema()::regnamespace
       and pg_relation_size(oid) > 0 order by 1`,
  )
  const left: string[] = []
  for (const { name } of rows) {
    const remove = client.query('select truncate_local_data_after_distributing_table($1)', [name])
    await remove.catch(() => left.push(name))
  }
  return left
}
