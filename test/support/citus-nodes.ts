import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { chooseAccount } from '../../src/db/embedded/binaries.ts'
import { type Cluster, type Settings, spawnProgram } from '../../src/db/embedded/cluster.ts'
import { freePort, spawnPostmaster, stopPostmaster } from '../../src/db/embedded/postmaster.ts'
import { databaseAt } from '../citus/cluster.ts'
import { killServer } from './kill-server.ts'
import { temporaryFolder } from './process.ts'
import { until } from './until.ts'

/** Where the programs of a PostgreSQL with Citus are. */
export const CITUS_BIN = process.env.CITUS_BIN ?? ''
export const NO_CITUS = 'CITUS_BIN does not say where a PostgreSQL with Citus is'

const SETTINGS = {
  shared_preload_libraries: 'citus',
  'citus.node_conninfo': 'sslmode=disable',
  wal_level: 'logical',
  max_connections: '200',
  max_prepared_transactions: '200',
  shared_buffers: '64MB',
  // Killing a process loses nothing that it has written, so nothing has to wait for the disk.
  fsync: 'off',
}
const DATABASE = 'vintem'
export const HOST = '127.0.0.1'

/** One PostgreSQL server of a Citus cluster. */
export type CitusNode = {
  port: number
  url: string
  query(text: string): Promise<pg.QueryResultRow[]>
  /** Kills all its processes. */
  kill(): Promise<void>
  /** Starts it again. */
  start(): Promise<void>
  /** To be called when nobody uses it any more. */
  stop(): Promise<void>
}

/** A coordinator and nodes that hold the schemas. */
export async function startCitus(
  nodes: number,
  settings: Settings = {},
): Promise<[CitusNode, ...CitusNode[]]> {
  const started: CitusNode[] = []
  for (let n = 0; n <= nodes; n += 1) started.push(await startNode(settings))
  const all = started as [CitusNode, ...CitusNode[]]
  await joinNodes(all, DATABASE)
  return all
}

/** Makes a cluster of a database that each of them has. */
export async function joinNodes(
  [coordinator, ...nodes]: [CitusNode, ...CitusNode[]],
  database: string,
): Promise<void> {
  const urlOf = (node: CitusNode) => databaseAt(node.url, database)
  for (const node of [coordinator, ...nodes]) await queryAt(urlOf(node), 'create extension citus')
  const ask = (text: string) => queryAt(urlOf(coordinator), text)
  await ask(`select citus_set_coordinator_host('${HOST}', ${coordinator.port})`)
  for (const { port } of nodes) await ask(`select citus_add_node('${HOST}', ${port})`)
}

async function startNode(settings: Settings): Promise<CitusNode> {
  const dataDir = temporaryFolder()
  const cluster: Cluster = {
    dataDir,
    directory: join(dataDir, 'postgres'),
    log: join(dataDir, 'postgres.log'),
    passwordFile: '',
    bin: CITUS_BIN,
    account: chooseAccount(undefined),
    settings: { ...SETTINGS, ...settings },
    logStart_bytes: 0,
  }
  await initialise(cluster)
  const port = await freePort()
  let running: ChildProcess | undefined
  const urlOf = (database: string) => `postgres://vintem@${HOST}:${port}/${database}`
  const start = async () => {
    running = await spawnPostmaster(cluster, port)
    const answers = () =>
      queryAt(urlOf('postgres'), 'select 1').then(
        () => true,
        () => false,
      )
    await until('the node answers', answers)
  }
  const stop = async () => {
    if (running) await stopPostmaster(cluster, running.pid!)
    running = undefined
  }
  await start()
  await queryAt(urlOf('postgres'), `create database ${DATABASE}`)
  return {
    port,
    url: urlOf(DATABASE),
    kill: async () => {
      await killServer(cluster.directory, running!)
      running = undefined
    },
    start,
    query: (text) => queryAt(urlOf(DATABASE), text),
    stop,
  }
}

async function initialise(cluster: Cluster): Promise<void> {
  const { directory, account } = cluster
  mkdirSync(directory, { mode: 0o700 })
  if (account) chownSync(directory, account.uid, account.gid)
  const args = (folder: string) => [
    `--pgdata=${folder}`,
    '--username=vintem',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C.UTF-8',
    '--no-sync',
    '--no-instructions',
  ]
  const [code] = await once(spawnProgram(cluster, 'initdb', [directory], args), 'close')
  if (code !== 0) throw new Error(`initdb of ${CITUS_BIN} failed, see ${cluster.log}`)
}

async function queryAt(url: string, text: string): Promise<pg.QueryResultRow[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}
