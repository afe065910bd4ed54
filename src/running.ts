import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { isAlive } from './db/embedded/cluster.ts'

/** The server that runs on a data directory, as `DATA_DIR/server.json` names it in local mode. */
type Running = { pid: number; url: string }

const pathOf = ({ dataDir }: Config): string => join(dataDir, 'server.json')

function read(config: Config): Running | null {
  try {
    const { pid, url } = JSON.parse(readFileSync(pathOf(config), 'utf8'))
    return Number.isInteger(pid) && pid > 0 && URL.canParse(url) ? { pid, url } : null
  } catch {
    return null
  }
}

/** Writes the address of this process to the file, and returns a function that removes it. */
export function writeAddress(config: Config): () => Promise<void> {
  const running: Running = { pid: process.pid, url: config.publicUrl }
  writeFileSync(pathOf(config), `${JSON.stringify(running)}\n`)
  return async () => {
    if (read(config)?.pid === process.pid) rmSync(pathOf(config), { force: true })
  }
}

/** The address of the running server. The file alone is no proof, because a kill leaves it. */
export function addressOfServer(config: Config): string | null {
  const running = config.local ? read(config) : null
  return running && isAlive(running.pid) ? running.url : null
}
