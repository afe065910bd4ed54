import { readFileSync } from 'node:fs'
import type pg from 'pg'
import { ownFile } from '../lib/own-files.ts'
import { type Address, splitHosts } from './address.ts'

/** What a database with Citus says of the schema that an address names. */
export type Citus = {
  /** The first schema of the search path. Null: it does not exist. */
  schema: string | null
  /** The node that holds the tables of the schema. Null: they are not distributed. */
  holder: (Address & { /** Whether it is the connected one. */ isHere: boolean }) | null
  /** The node at which tables are changed. Null: it is the connected one. */
  coordinator: Address | null
}

/** Null: the database does not have the extension, so it is plain PostgreSQL. */
export const readCitus = (client: pg.ClientBase): Promise<Citus | null> =>
  askForCitus(async <R extends pg.QueryResultRow>(text: string) => {
    return (await client.query<R>(text)).rows
  })

/** The same, by whatever runs a statement and returns its rows. */
export async function askForCitus(
  ask: <R extends pg.QueryResultRow>(text: string) => Promise<R[]>,
): Promise<Citus | null> {
  const found = await ask(`select 1 from pg_extension where extname = 'citus'`)
  if (found.length === 0) return null
  const rows = await ask<Citus>(
    `select current_schema() as schema,
       (select json_build_object('host', n.nodename, 'port', n.nodeport,
          'isHere', n.groupid = (select groupid from pg_dist_local_group))
        from pg_dist_schema s join pg_dist_shard h on h.logicalrelid in (
            select logicalrelid from pg_dist_partition where colocationid = s.colocationid)
          join pg_dist_placement p using (shardid)
          join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'
        where s.schemaid = to_regnamespace(current_schema()) limit 1) as holder,
       (select json_build_object('host', n.nodename, 'port', n.nodeport)
        from pg_dist_node n where n.groupid = 0 and n.noderole = 'primary'
          and (select groupid from pg_dist_local_group) <> 0) as coordinator`,
  )
  return rows[0]!
}

/** The same database and user at another node. */
export function atNode(url: string, { host, port }: Address): string {
  const address = new URL(url)
  address.host = `${host.includes(':') ? `[${host}]` : host}:${port}`
  return address.href
}

/** The schema that an address asks for by its search path, or null. */
export function schemaOf(url: string): string | null {
  const options = new URL(splitHosts(url)[0]!).searchParams.get('options') ?? ''
  return /\bsearch_path=([a-z_]\w*)/.exec(options)?.[1] ?? null
}

/** The address with another schema. What else it asks for stays. */
export function withSchema(url: string, schema: string): string {
  const address = new URL(url)
  const others = (address.searchParams.get('options') ?? '').replace(/-c\s*search_path=\S+/, '')
  address.searchParams.set('options', `${others.trim()} -c search_path=${schema}`.trim())
  return address.href
}

const FUNCTIONS = ownFile('migrations', 'citus-functions.sql')

/**
 * Gives functions the form that Citus takes. They find the tables of their schema, and use them,
 * whoever calls them: another node has no search path of ours. Those whose body was parsed when
 * they were made do not need it.
 */
export async function adaptFunctions(client: pg.ClientBase): Promise<void> {
  await client.query(readFileSync(FUNCTIONS, 'utf8'))
  const { rows } = await client.query<{ name: string; schema: string }>(
    `select oid::regprocedure::text as name, quote_ident(current_schema()) as schema
     from pg_proc where pronamespace = current_schema()::regnamespace and prosqlbody is null
       and proconfig is null and prokind = 'f'`,
  )
  for (const { name, schema } of rows) {
    await client.query(`alter function ${name} set search_path = ${schema}`)
    await client.query(`alter function ${name} set citus.allow_nested_distributed_execution = on`)
  }
}

/**
 * For whoever makes triggers: they are safe, because a row and all that its triggers write are on
 * the same node. What is set for a transaction counts at that node too.
 */
export async function allowTriggers(client: pg.ClientBase): Promise<void> {
  await client.query('set citus.enable_unsafe_triggers = on')
  await client.query(`set citus.propagate_set_commands = 'local'`)
}

/** The address of the coordinator, where tables are changed. */
export const coordinatorOf = ({ coordinator }: Citus, url: string): string =>
  coordinator ? atNode(splitHosts(url)[0]!, coordinator) : url

/** Lets Citus hold the tables of the current schema, all of them on one node. */
export async function distributeSchema(client: pg.ClientBase): Promise<void> {
  await adaptFunctions(client)
  await allowTriggers(client)
  await client.query('select citus_schema_distribute(current_schema()::regnamespace)')
  await shareFunctions(client)
}

/**
 * Makes every function again, so that all nodes have it. Of those that are older than the cluster,
 * Citus takes only what tables refer to, and not what another function calls.
 */
async function shareFunctions(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ text: string }>(
    `select pg_get_functiondef(oid) as text from pg_proc
     where pronamespace = current_schema()::regnamespace and prokind = 'f'`,
  )
  for (const { text } of rows) await client.query(text)
}
