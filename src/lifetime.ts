import type { Config } from './config.ts'
import { describeError, type Log } from './lib/log.ts'
import { startExitCode } from './start-faults.ts'

/** What is to be undone at the end, in reverse order. */
export type Undo = () => Promise<unknown>

/** How long the steps of the end may take after requests in flight have had their time. */
const LAST_STEPS_MS = 15_000
/** How long the last lines of the log may take. */
const LAST_LINES_MS = 1_000

/** Undoes the start in reverse order. */
async function stop(undo: Undo[], log: Log): Promise<void> {
  for (const step of undo.splice(0).reverse()) {
    await step().catch((error) => log.error(describeError(error), 'a step of the shutdown failed'))
  }
}

/** Ends the process. If a write to the log hangs, Node would wait for it, and so it is killed. */
async function exit(code: number, log: Log): Promise<never> {
  if (!(await log.flush(LAST_LINES_MS))) process.kill(process.pid, 'SIGKILL')
  process.exit(code)
}

type Run = {
  config: Config
  log: Log
  /** Is aborted if the end comes first. */
  start(undo: Undo[], signal: AbortSignal): Promise<void>
  /** Reports why the start failed. */
  report(error: unknown): void
}

/** Starts this process, and gives what ends it. */
export function runUntilEnd({ config, log, start, report }: Run): (code: number) => void {
  const undo: Undo[] = []
  const ending = new AbortController()
  let stopping: Promise<void> | null = null
  let starting: Promise<void> = Promise.resolve()
  // A start that is under way can only be undone after it has ended.
  const end = (code: number) => {
    if (stopping) return
    // What does not end in time is left behind. This timer also keeps Node running. What is waited
    // for may be a connection that does not, and Node would then end with the code of a success.
    setTimeout(() => process.exit(1), config.shutdownSeconds * 1000 + LAST_STEPS_MS)
    ending.abort()
    stopping = starting
      .catch(() => {})
      .then(() => stop(undo, log))
      .then(() => exit(code, log))
  }
  process.on('uncaughtException', (error) => {
    log.fatal(describeError(error), 'uncaught exception')
    end(1)
  })
  starting = start(undo, ending.signal)
  starting.catch((error) => {
    if (stopping) return
    report(error)
    end(startExitCode(error))
  })
  return end
}
