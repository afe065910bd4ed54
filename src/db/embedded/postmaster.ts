import { type ChildProcess, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Cluster, isAlive, type Settings, spawnProgram } from './cluster.ts'

/** What a postmaster, PostgreSQL's first process, writes about itself into postmaster.pid. */
export type Postmaster = { pid: number; port: number; status: string }

export const poll_ms = 10
const shutdown_ms = 10_000

const defaults: Settings = {
  listen_addresses: '127.0.0.1',
  // A socket's path has a length limit and needs a directory that the account can reach, and TCP
  // with a password works alike on every system.
  unix_socket_directories: '',
  // This is money: a commit that was answered survives a power cut.
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  shared_buffers: '128MB',
  max_connections: '100',
  // Compiling a statement takes longer than finding a few rows.
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // The error of a statement goes to whoever sent it. In the log it would only fill the disk, and
  // it quotes rows and statements, payers' data among them.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
}

/** Starts a postmaster and returns at once: whether it comes up is for the caller to watch. */
export async function spawnPostmaster(cluster: Cluster, port: number): Promise<ChildProcess> {
  const own = { port: String(port), 'vintem.owner': String(process.pid) }
  const settings = { ...defaults, ...cluster.settings, ...own }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const args = (directory: string) => ['-D', directory, ...flags]
  const postmaster = spawnProgram(cluster, 'postgres', [cluster.directory], args, {
    env: disregardStale(cluster),
    // A terminal's Ctrl-C goes to the whole process group, and the database has to outlive the
    // requests in flight: it gets a group of its own.
    detached: true,
  })
  await once(postmaster, 'spawn')
  postmaster.unref()
  return postmaster
}

// PostgreSQL refuses to start while the number in a postmaster.pid left behind is in use, by
// anything at all. Removing the file would take its second safeguard away, the look for survivors
// in shared memory. A number in this variable, meant for pg_ctl, names no other postmaster.
function disregardStale(cluster: Cluster): Record<string, string> {
  const recorded = readPostmaster(cluster)
  if (!recorded || isPostmaster(cluster, recorded.pid)) return {}
  return { PG_GRANDPARENT_PID: String(recorded.pid) }
}

export function readPostmaster(cluster: Cluster): Postmaster | undefined {
  try {
    const lines = readFileSync(join(cluster.directory, 'postmaster.pid'), 'utf8').split('\n')
    const pid = Number(lines[0])
    // The file is empty for the moment between its creation and its first line.
    if (!pid) return undefined
    return { pid, port: Number(lines[3]), status: lines[7]?.trim() || 'starting' }
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw fault
  }
}

/**
 * Whether this process is the cluster's postmaster, and not one that inherited its number. Where
 * there is no way to know (Windows), a living process is taken for it.
 */
export function isPostmaster(cluster: Cluster, pid: number): boolean {
  if (process.platform === 'linux') return worksIn(cluster.directory, pid)
  if (process.platform === 'win32') return isAlive(pid)
  const ps = spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
  return ps.stdout.includes(cluster.directory)
}

// A postmaster's working directory is its data directory. A zombie has none.
function worksIn(directory: string, pid: number): boolean {
  try {
    const place = statSync(`/proc/${pid}/cwd`)
    const own = statSync(directory)
    return place.ino === own.ino && place.dev === own.dev
  } catch {
    return false
  }
}

/** Ends a postmaster: open transactions are rolled back, everything committed is on disk. */
export async function stopPostmaster(cluster: Cluster, pid: number): Promise<void> {
  let left_ms = shutdown_ms
  signal(cluster, pid, 'SIGINT')
  while (isPostmaster(cluster, pid)) {
    await delay(poll_ms)
    left_ms -= poll_ms
    // Without a clean end the next start replays the log: slower, and just as safe.
    if (left_ms === 0) signal(cluster, pid, 'SIGQUIT')
  }
}

function signal(cluster: Cluster, pid: number, name: 'SIGINT' | 'SIGQUIT'): void {
  // Windows has no signals: PostgreSQL listens to a pipe there, and pg_ctl knows how to write to
  // it.
  if (process.platform === 'win32') {
    spawnSync(join(cluster.bin, 'pg_ctl'), ['kill', name.slice(3), String(pid)])
    return
  }
  try {
    if (isPostmaster(cluster, pid)) process.kill(pid, name)
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== 'ESRCH') throw fault
  }
}

/**
 * A port that was free a moment ago. It lies below the range from which systems number outgoing
 * connections, so that none of them can sit on it while PostgreSQL restarts.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', (fault: NodeJS.ErrnoException) =>
      fault.code === 'EADDRINUSE' ? resolve(false) : reject(fault),
    )
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
