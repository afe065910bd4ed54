import pg from 'pg'
import { atNode, distributeSchema, readCitus, schemaOf, withSchema } from '../../src/db/citus.ts'
import { migrate } from '../../src/db/migrate.ts'

/** The nodes of a Citus cluster. */
export type Cluster = {
  /** The database on each node of which those of tests are copies. */
  template: string
  /** At which tables are changed. */
  coordinator: string
  /** The others, by their addresses with the schema. The first one has the tables of all tests. */
  nodes: string[]
}

const SCHEMA = 'p1'

/** The cluster on which the tests run. Null: it is plain PostgreSQL. */
export function testCluster(): Cluster | null {
  const text = process.env.VINTEM_TEST_CITUS
  return text ? JSON.parse(text) : null
}

/**
 * Makes a database on all nodes that has a distributed schema with our tables. Citus notes the
 * addresses of nodes, but no name of a database, so copies of it on all nodes are a cluster too.
 */
export async function makeCitusTemplate(url: string): Promise<Cluster> {
  const template = `template_vintem_${process.pid}`
  const { rows } = await on(url, (client) =>
    client.query<{ host: string; port: number; isCoordinator: boolean }>(
      `select nodename as host, nodeport as port, groupid = 0 as "isCoordinator"
       from pg_dist_node where noderole = 'primary' order by groupid`,
    ),
  )
  const all = rows.map((node) => atNode(url, node))
  const coordinator = all[rows.findIndex(({ isCoordinator }) => isCoordinator)]!
  for (const node of all) {
    await on(node, (client) => client.query(`create database ${template} template template0`))
    await on(databaseAt(node, template), (client) => client.query('create extension citus'))
  }
  const made = databaseAt(coordinator, template)
  await on(made, async (client) => {
    for (const { host, port, isCoordinator } of rows) {
      const add = isCoordinator ? 'citus_set_coordinator_host' : 'citus_add_node'
      await client.query(`select ${add}($1, $2)`, [host, port])
    }
    await client.query(`create schema ${SCHEMA}`)
  })
  await migrate(withSchema(made, SCHEMA))
  await on(withSchema(made, SCHEMA), distributeSchema)
  const citus = await on(withSchema(made, SCHEMA), readCitus)
  const holder = atNode(url, citus!.holder!)
  for (const node of all) await on(node, (client) => closeTemplate(client, template))
  const nodes = [holder, ...all.filter((node) => node !== holder && node !== coordinator)]
  return { template, coordinator, nodes: nodes.map((node) => withSchema(node, SCHEMA)) }
}

/** Nothing may be connected to a database that is copied, and a process of Citus would be. */
async function closeTemplate(client: pg.Client, template: string): Promise<void> {
  await client.query(`alter database ${template} allow_connections false`)
  await endConnections(client, template)
}

const endConnections = (client: pg.Client, name: string) =>
  client.query('select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = $1', [
    name,
  ])

/** Removes the template from all nodes. */
export async function dropCitusTemplate({ template, coordinator, nodes }: Cluster): Promise<void> {
  for (const node of [...nodes, coordinator]) {
    await on(node, (client) => client.query(`drop database if exists ${template} with (force)`))
  }
}

export function databaseAt(url: string, name: string): string {
  const address = new URL(url)
  address.pathname = `/${name}`
  return address.href
}

export async function on<T>(url: string, act: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return act(client).finally(() => client.end())
}

/** Whether a statement has to be sent to the coordinator. */
export const changesTables = (text: string): boolean =>
  testCluster() !== null && /^\s*(create|alter|drop)\b/i.test(text)

export const changeTables = (url: string, text: string): Promise<pg.QueryResultRow[]> =>
  on(atCoordinator(url), async (client) => {
    await client.query('set citus.enable_unsafe_triggers = on')
    return (await client.query(text)).rows
  })

/** The address of the same schema at the coordinator, for statements that change tables. */
export function atCoordinator(url: string): string {
  const cluster = testCluster()
  if (!cluster) return url
  const { hostname, port } = new URL(cluster.coordinator)
  return schemaOf(url) === null ? url : atNode(url, { host: hostname, port: Number(port) })
}
