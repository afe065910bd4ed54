import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { isAlive } from './db/embedded/cluster.ts'
import { makeFolder } from './lib/folders.ts'
import type { Restart } from './processes/restarts.ts'

/**
 * The server that runs on a data directory, as `DATA_DIR/server.json` names it: in local mode, and
 * if it has several processes.
 */
export type Running = {
  pid: number
  /** When that process began, as the kernel says it; not outside Linux, and not by old versions. */
  begunAt?: string | null
  url: string
  /** How many processes answer requests. Old versions say nothing, and cannot be restarted. */
  processes?: number
  /** The last restart of its processes. */
  restart?: Restart
}

type Place = Pick<Config, 'dataDir'>

const pathOf = ({ dataDir }: Place): string => join(dataDir, 'server.json')

function read(config: Place): Running | null {
  try {
    const running = JSON.parse(readFileSync(pathOf(config), 'utf8'))
    const { pid, url } = running
    return Number.isInteger(pid) && pid > 0 && URL.canParse(url) ? running : null
  } catch {
    return null
  }
}

/** Writes the address of this process to the file, and returns a function that removes it. */
export function writeAddress(config: Config, restart?: Restart): () => Promise<void> {
  const { publicUrl: url, processes } = config
  const { pid } = process
  const begunAt = startOf(pid)
  const running: Running = { pid, begunAt, url, processes, ...(restart && { restart }) }
  makeFolder(config.dataDir)
  // Whoever reads it meanwhile reads the one before.
  const written = `${pathOf(config)}.${pid}`
  writeFileSync(written, `${JSON.stringify(running)}\n`)
  renameSync(written, pathOf(config))
  return async () => {
    if (read(config)?.pid === pid) rmSync(pathOf(config), { force: true })
  }
}

/** Adds the last restart to the file, unless that is of another server meanwhile. */
export function noteRestart(config: Config, restart: Restart): void {
  if (read(config)?.pid === process.pid) writeAddress(config, restart)
}

/** When a process began, in ticks since the boot. Null: the system does not say it. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name, which may have spaces, is the second field, and this one the 22nd.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    return null
  }
}

/**
 * The running server. The file alone is no proof, because a kill leaves it, and its number may be
 * that of another process meanwhile.
 */
export function findServer(config: Place): Running | null {
  const running = read(config)
  if (!running || !isAlive(running.pid)) return null
  const { pid, begunAt } = running
  const isStranger = begunAt && begunAt !== (startOf(pid) ?? begunAt)
  return isStranger ? null : running
}

/** The address of the running server of local mode. */
export const addressOfServer = (config: Config): string | null =>
  config.local ? (findServer(config)?.url ?? null) : null
