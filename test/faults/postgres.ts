import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { openCluster, readPassword, type Settings } from '../../src/db/embedded/cluster.ts'
import { freePort, spawnPostmaster, stopPostmaster } from '../../src/db/embedded/postmaster.ts'
import { MAX_WAIT_S } from '../support/until.ts'

/** A PostgreSQL server that is ended in the middle of its work, and comes back. */
export type Postgres = {
  port: number
  /** At a port, which may be that of a network in front of it. */
  urlAt(port: number): string
  /** Starts it, unless it runs. Resolves when it takes connections, with the moment of that. */
  start(): Promise<number>
  /** `immediate` is a shutdown that finishes nothing; `kill` is kill -9 of its first process. */
  crash(how: 'immediate' | 'kill'): Promise<void>
  stop(): Promise<void>
}

/** Killing a process loses nothing that it has written, so nothing has to wait for the disk. */
const SETTINGS: Settings = {
  fsync: 'off',
  shared_buffers: '64MB',
  max_connections: '400',
  max_wal_size: '64MB',
  min_wal_size: '32MB',
}
const LOOK_AGAIN_MS = 10

/** With an `environment` of its own, such as that of another clock. */
export async function openPostgres(
  folder: string,
  settings: Settings = {},
  environment: Record<string, string> = {},
): Promise<Postgres> {
  const cluster = await openCluster(join(folder, 'database'), { ...SETTINGS, ...settings })
  const bin = cluster.bin
  if (Object.keys(environment).length > 0) {
    cluster.bin = withEnvironment(join(folder, 'bin'), bin, environment)
  }
  const port = await freePort()
  const password = readPassword(cluster)
  const urlAt = (at: number) => `postgres://vintem:${password}@127.0.0.1:${at}/postgres`
  let child: ChildProcess | null = null
  // It has a process group of its own, and would outlive a run that somebody stops.
  const quit = () => child?.kill('SIGQUIT')
  process.once('exit', quit)
  const isRunning = () => child !== null && child.exitCode === null && child.signalCode === null
  return {
    port,
    urlAt,
    async start() {
      const deadline = performance.now() + MAX_WAIT_S * 1000
      while (performance.now() < deadline) {
        // The last processes of one that was killed may still hold its memory.
        if (!isRunning()) child = await spawnPostmaster(cluster, port)
        if (await takesConnections(urlAt(port))) return performance.now()
        await pause(LOOK_AGAIN_MS)
      }
      throw new Error('PostgreSQL did not start')
    },
    async crash(how) {
      if (!isRunning()) return
      const ended = once(child!, 'exit')
      child!.kill(how === 'kill' ? 'SIGKILL' : 'SIGQUIT')
      await ended
    },
    async stop() {
      process.off('exit', quit)
      if (isRunning()) await stopPostmaster(cluster, child!.pid!)
    },
  }
}

/** A folder with the program, which sets an environment before it runs. */
function withEnvironment(folder: string, bin: string, environment: Record<string, string>): string {
  mkdirSync(folder)
  chmodSync(folder, 0o755)
  const words = Object.entries(environment).map(([name, value]) => `${name}='${value}'`)
  const text = `#!/bin/sh\nexec env ${words.join(' ')} '${join(bin, 'postgres')}' "$@"\n`
  writeFileSync(join(folder, 'postgres'), text, { mode: 0o755 })
  return folder
}

async function takesConnections(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}
