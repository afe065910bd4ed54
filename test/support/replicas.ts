import type { ChildProcess } from 'node:child_process'
import { copyFile, lchown, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after } from 'node:test'
import pg from 'pg'
import { type Cluster, openCluster, readPassword } from '../../src/db/embedded/cluster.ts'
import { freePort, spawnPostmaster, stopPostmaster } from '../../src/db/embedded/postmaster.ts'
import { killServer } from './kill-server.ts'
import { temporaryFolder } from './process.ts'
import { until } from './until.ts'

/** One of two PostgreSQL servers. */
export type Replica = { cluster: Cluster; url: string; port: number; process: ChildProcess | null }

/** Two PostgreSQL servers with synchronous replication. */
export type Replicas = {
  /** Which is which changes with each promotion. */
  primary(): Replica
  standby(): Replica
  /** Names both, in an order that does not change. */
  url: string
  /** Kills all processes of the primary. */
  kill(): Promise<void>
  /** Starts the primary that was killed, as it was. */
  restart(): Promise<void>
  /** Stops what receives changes at the standby. What it gives lets it go on, or drops them. */
  stopReceiving(): Promise<{ proceed(): void; drop(): void }>
  /** Makes the standby the primary. Resolves when it accepts writes. */
  promote(): Promise<void>
  /** Makes the one that was killed a standby. From then on each commit waits for it. */
  rejoin(): Promise<void>
}

/** Killing a process loses nothing that it has written, so nothing has to wait for the disk. */
const SETTINGS = {
  fsync: 'off',
  shared_buffers: '32MB',
  wal_keep_size: '1GB',
  wal_retrieve_retry_interval: '100ms',
}
const DATABASE = 'vintem'

export async function startReplicas(): Promise<Replicas> {
  const folder = temporaryFolder()
  const cluster = await openCluster(join(folder, 'first'), SETTINGS)
  const password = readPassword(cluster)
  const ports = [await freePort(), await freePort()] as const
  const urlOf = (hosts: string) => `postgres://vintem:${password}@${hosts}/${DATABASE}`
  const replicaOn = (place: string, port: number, other: number): Replica => {
    const dataDir = join(folder, place)
    const from = `host=127.0.0.1 port=${other} user=vintem password=${password}`
    const settings = { ...SETTINGS, primary_conninfo: `${from} application_name=standby` }
    const directory = join(dataDir, 'postgres')
    const log = join(dataDir, 'postgres.log')
    const url = urlOf(`127.0.0.1:${port}`)
    return { cluster: { ...cluster, dataDir, directory, log, settings }, url, port, process: null }
  }
  let primary = replicaOn('first', ...ports)
  let standby = replicaOn('second', ports[1], ports[0])
  await mkdir(standby.cluster.dataDir)
  after(async () => {
    for (const { cluster, process } of [primary, standby]) {
      if (process) await stopPostmaster(cluster, process.pid!)
    }
  })
  await start(primary)
  await at(primary, `create database ${DATABASE}`, 'postgres')
  const replicas: Replicas = {
    primary: () => primary,
    standby: () => standby,
    url: urlOf(ports.map((port) => `127.0.0.1:${port}`).join(',')),
    kill: () => kill(primary),
    restart: () => start(primary),
    stopReceiving: () => stopReceiving(standby),
    async promote() {
      await at(standby, 'select pg_promote(true, 600)')
      const former = primary
      primary = standby
      standby = former
    },
    rejoin: () => follow(standby, primary),
  }
  await replicas.rejoin()
  return replicas
}

/** Runs a statement by a connection of its own. */
export async function at<R = pg.QueryResultRow>(
  { url }: Pick<Replica, 'url'>,
  text: string,
  database = DATABASE,
): Promise<R[]> {
  const address = Object.assign(new URL(url), { pathname: `/${database}` })
  const client = new pg.Client({ connectionString: address.href })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

export async function start(replica: Replica): Promise<void> {
  replica.process = await spawnPostmaster(replica.cluster, replica.port)
  await until('PostgreSQL answers', () =>
    at(replica, 'select 1', 'postgres').then(
      () => true,
      () => false,
    ),
  )
}

async function stopReceiving(standby: Replica) {
  const look = 'select pid from pg_stat_wal_receiver'
  const pid = await until('the standby receives', async () => {
    const [row] = await at<{ pid: number | null }>(standby, look, 'postgres')
    return row?.pid ?? null
  })
  process.kill(pid, 'SIGSTOP')
  const proceed = () => process.kill(pid, 'SIGCONT')
  const drop = () => {
    // It ends before it reads what has arrived meanwhile.
    process.kill(pid, 'SIGTERM')
    proceed()
  }
  return { proceed, drop }
}

export async function kill(replica: Replica): Promise<void> {
  await killServer(replica.cluster.directory, replica.process!)
  replica.process = null
}

/** Copies the files of a server, which goes on working. The copy has to be recovered by its log. */
export async function copyServer({ cluster, url }: Replica, to: Cluster): Promise<void> {
  const { directory } = to
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`select pg_backup_start('copy', true)`)
  await rm(directory, { recursive: true, force: true })
  await copy(cluster.directory, directory, to)
  const { rows } = await client.query('select labelfile from pg_backup_stop(false)')
  await client.end()
  await writeInto(to, 'backup_label', rows[0].labelfile)
}

/** Writes a file into the folder of a server that does not run. */
export async function writeInto(cluster: Cluster, name: string, text: string): Promise<void> {
  await writeFile(join(cluster.directory, name), text)
  await give(join(cluster.directory, name), cluster)
}

/** Copies the primary, and lets the copy follow it. */
async function follow(standby: Replica, primary: Replica): Promise<void> {
  const { cluster } = standby
  await copyServer(primary, cluster)
  await writeInto(cluster, 'standby.signal', '')
  // Once it is promoted it waits for nobody, until there is somebody to wait for.
  await writeInto(cluster, 'postgresql.auto.conf', '')
  await start(standby)
  await at(primary, `alter system set synchronous_standby_names = 'standby'`)
  await at(primary, 'select pg_reload_conf()')
  await until('the standby is synchronous', () => isSynchronous(primary))
  // The process that makes checkpoints is also the one that makes commits wait.
  await at(primary, 'checkpoint')
  const [end] = await at<{ lsn: string }>(primary, 'select pg_current_wal_lsn() as lsn')
  await until('the standby has all of it', () => isSynchronous(primary, end!.lsn))
}

async function isSynchronous(primary: Replica, upTo = '0/0'): Promise<boolean> {
  const rows = await at(
    primary,
    `select from pg_stat_replication where sync_state = 'sync' and flush_lsn >= '${upTo}'`,
  )
  return rows.length === 1
}

/** Folders whose files belong to a running server, and which it needs empty. */
const EMPTY = /(^|\/)(pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_subtrans)$/
const OWN_FILES = /^(postmaster\.(pid|opts)|pg_internal\.init.*|backup_label|standby\.signal)$/

async function copy(from: string, to: string, cluster: Cluster): Promise<void> {
  await mkdir(to, { mode: 0o700 })
  await give(to, cluster)
  const entries = await readdir(from, { withFileTypes: true })
  await Promise.all(
    entries.map(async (entry) => {
      const [source, target] = [join(from, entry.name), join(to, entry.name)]
      if (entry.isDirectory()) return copy(source, target, cluster)
      if (EMPTY.test(from) || OWN_FILES.test(entry.name)) return
      try {
        await copyFile(source, target)
        await give(target, cluster)
      } catch (error) {
        // The server goes on, and removes files meanwhile.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      }
    }),
  )
}

export async function give(path: string, { account }: Cluster): Promise<void> {
  if (account) await lchown(path, account.uid, account.gid)
}
