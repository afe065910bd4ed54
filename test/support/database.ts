import { randomBytes } from 'node:crypto'
import { after } from 'node:test'
import { databaseAt, on, testCluster } from '../citus/cluster.ts'

/** A database of its own for a test file, cloned from the migrated template in milliseconds. */
export async function cloneDatabase(): Promise<string> {
  const cluster = testCluster()
  if (!cluster) return createDatabase([baseUrl()], 'template_vintem')
  return createDatabase([...cluster.nodes, cluster.coordinator], cluster.template)
}

/** One in which nothing is migrated yet. It is plain PostgreSQL in any case. */
export const emptyDatabase = (): Promise<string> => createDatabase([baseUrl()], 'template1')

function baseUrl(): string {
  const base = process.env.VINTEM_TEST_DATABASE
  if (!base) throw new Error('Run tests through npm test, or node test/run.ts FILE.')
  return base
}

/** Creates it on all servers, and returns its address at the first. */
async function createDatabase(servers: string[], template: string): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`
  await Promise.all(
    // To copy files is faster than to log what is copied, since nothing waits for the disk.
    servers.map((one) =>
      change(one, `create database ${name} template ${template} strategy file_copy`),
    ),
  )
  after(() => Promise.all(servers.map((one) => dropDatabase(one, name))))
  return databaseAt(servers[0]!, name)
}

async function dropDatabase(server: string, name: string): Promise<void> {
  // A process of Citus would connect again.
  if (testCluster()) await change(server, `alter database ${name} allow_connections false`)
  await change(server, `drop database if exists ${name} with (force)`)
}

const change = (url: string, text: string): Promise<void> =>
  on(url, async (client) => {
    // Two clones at once wait for each other: PostgreSQL refuses a template that is being copied.
    await client.query('select pg_advisory_lock(1)')
    await client.query(text)
  })
