import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { until } from './until.ts'

/** The processes that work in the data directory, the first of which starts all others. */
function processesIn(directory: string, first: number): number[] {
  const own = statSync(directory)
  const isOurs = (pid: string): boolean => {
    try {
      const { ino, dev } = statSync(`/proc/${pid}/cwd`)
      return ino === own.ino && dev === own.dev
    } catch {
      return false
    }
  }
  const all = process.platform === 'linux' ? readdirSync('/proc').filter(isOurs) : []
  return [first, ...all.map(Number).filter((pid) => pid !== first)]
}

/** Kills a PostgreSQL server with all its processes, as the loss of its machine does. */
export async function killServer(directory: string, first: ChildProcess): Promise<void> {
  const ended = once(first, 'exit')
  for (const pid of processesIn(directory, first.pid!)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended by itself.
    }
  }
  await ended
  await until('all of its processes are gone', () => {
    return processesIn(directory, first.pid!).length === 1
  })
}
