import { setTimeout as pause } from 'node:timers/promises'
import { type Config, loadConfig } from '../config.ts'
import type { Restart } from '../processes/restarts.ts'
import { findServer, type Running } from '../running.ts'
import { type Command, Refusal } from './command.ts'

/** How often is looked what the server has done. */
const LOOK_MS = 100
/** Until when a server that does nothing else begins. It does so at once. */
const BEGIN_MS = 10_000

export const restartServer: Command = {
  name: 'restart',
  summary: 'Replace the processes of the running server, one after the other, without an outage.',
  example: 'vintem restart',
  operands: [],
  options: {},
  async run() {
    const config = loadConfig()
    const server = requireServer(findServer(config), config)
    const number = (server.restart?.number ?? 0) + 1
    ask(server.pid)
    const { said, fault } = await follow(config, server.pid, number)
    if (fault) throw new Refusal(`${fault}\nWhat is not named above goes on as it was.`)
    return { json: { replaced: true, said }, text: 'All processes are replaced.\n' }
  },
}

const ONE =
  'The server runs with PROCESSES=1, and one process cannot be replaced without a gap. Stop it and ' +
  'start it again, which takes seconds. With PROCESSES=2 or more it can be done without one.'

function requireServer(server: Running | null, { dataDir, processes, local }: Config): Running {
  if (!server && processes === 1 && !local) throw new Refusal(ONE)
  if (!server) {
    throw new Refusal(
      `No server runs on this machine with DATA_DIR ${dataDir}. Start one with vintem start.`,
    )
  }
  if (server.processes === undefined) {
    throw new Refusal(
      'The running server is of a version that cannot replace its processes. Stop it and start it again.',
    )
  }
  if (server.processes === 1) throw new Refusal(ONE)
  return server
}

/** SIGHUP asks the first process. */
function ask(pid: number): void {
  try {
    process.kill(pid, 'SIGHUP')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error
    throw new Refusal(
      'The server belongs to another user. Run this command as that user or as root.',
    )
  }
}

const NOT_BEGUN =
  'The server has not begun to replace its processes, or cannot write to DATA_DIR. Its log says ' +
  'more. If it still starts, repeat this command once it runs.'

/** Prints what is done, and gives the first restart that began after it was asked for. */
async function follow(config: { dataDir: string }, pid: number, number: number): Promise<Restart> {
  let printed = 0
  let idleSince = performance.now()
  for (;;) {
    const server = findServer(config)
    if (server?.pid !== pid) throw new Refusal('The server has ended. Start it again.')
    const { restart } = server
    if (restart && restart.number >= number) {
      for (const line of restart.said.slice(printed)) process.stderr.write(`${line}\n`)
      printed = restart.said.length
      if (restart.isOver) return restart
    }
    // The one before is done to its end first.
    if (restart && !restart.isOver) idleSince = performance.now()
    if (performance.now() - idleSince > BEGIN_MS) throw new Refusal(NOT_BEGUN)
    await pause(LOOK_MS)
  }
}
