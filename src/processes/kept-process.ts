import type { Worker } from 'node:cluster'
import cluster from 'node:cluster'
import type { Log } from '../lib/log.ts'
import { OperatorFault } from '../lib/operator-fault.ts'
import type { StartOrder, ToChild, ToParent } from './messages.ts'

/** How long is waited before a process is started again, at first and at most. */
const FIRST_WAIT_MS = 100
const MAX_WAIT_MS = 10_000
/** A process that has run for so long is started again as soon as the first time. */
const STEADY_MS = 60_000

/** A process that is started again whenever it ends. */
export type KeptProcess = {
  name: string
  /** Resolves when it serves for the first time. Rejects if it ends before. */
  started: Promise<void>
  isRunning(): boolean
  pid(): number | undefined
  send(message: ToChild): void
  /** Stops it, and kills it if it has not ended in time. */
  stop(timeout_ms: number): Promise<void>
}

type KeptProcessParts = {
  order: StartOrder
  log: Log
  /** A new process has begun. Gives what is done with its messages, and at its end. */
  onStart(send: SendToChild): { receive(message: ToParent): void; end(): void }
}

/** Sends a message, and calls back when it is written. */
export type SendToChild = (message: ToChild, written?: () => void) => void

/** How a process has ended: by a code, a signal, or a fault that kept it from being made. */
type End = Record<string, unknown>

type Listeners = {
  onServing(pid: number | undefined): void
  /** It serves, and has not answered for a minute. */
  onSilence(): void
  onEnd(how: End): void
}

/** One process, from its beginning to its end. */
function runOnce(
  { order, onStart }: KeptProcessParts,
  { onServing, onSilence, onEnd }: Listeners,
): Worker | null {
  const worker = fork(onEnd)
  if (!worker) return null
  const send: SendToChild = (message, written) => sendTo(worker, message, written)
  const { receive, end } = onStart(send)
  let [fault, hasEnded]: [string | undefined, boolean] = [undefined, false]
  let watch: Watch | null = null
  worker.on('message', (message: ToParent) => {
    watch?.answered()
    if ('isServing' in message) {
      watch = watchAnswers(() => send({ ping: true }), onSilence)
      onServing(worker.process.pid)
    } else if ('fault' in message) fault = message.fault
    else receive(message)
  })
  function ended(how: End): void {
    if (hasEnded) return
    hasEnded = true
    watch?.end()
    end()
    onEnd({ ...how, fault })
  }
  worker.once('exit', (code, signal) => {
    const how = { pid: worker.process.pid, code, signal }
    // Its last messages may be read after its exit is known.
    if (worker.isConnected()) worker.once('disconnect', () => ended(how))
    else ended(how)
  })
  // One that could not be made has no exit.
  worker.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (worker.process.pid === undefined) ended({ error: code })
  })
  send({ start: order })
  return worker
}

/** Some errors are thrown at once, as that of a machine that has no memory left. */
function fork(onEnd: Listeners['onEnd']): Worker | null {
  try {
    return cluster.fork()
  } catch (error) {
    onEnd({ error: (error as NodeJS.ErrnoException).code })
    return null
  }
}

/** A message to a process that has just ended is lost, and is no fault. */
function sendTo(worker: Worker | null, message: ToChild, written = () => {}): void {
  if (worker?.isConnected()) worker.send(message, written)
}

export function keepProcess(parts: KeptProcessParts): KeptProcess {
  const { log } = parts
  const { name } = parts.order
  const first = Promise.withResolvers<void>()
  // Whoever stops before it has started does not wait for it.
  first.promise.catch(() => {})
  let current: Worker | null = null
  let timer: NodeJS.Timeout | null = null
  let wait_ms = FIRST_WAIT_MS
  let hasServed = false
  let stopped: (() => void) | null = null

  function start(): void {
    const began_ms = performance.now()
    current = runOnce(parts, {
      onServing(pid) {
        if (hasServed) log.info({ started: name, pid }, 'a process serves again')
        hasServed = true
        first.resolve()
      },
      onSilence: () => kill('a process has not answered for a minute and is killed'),
      onEnd(how) {
        current = null
        if (stopped) stopped()
        else if (!hasServed) first.reject(beforeServing(name, how))
        else startAgain(performance.now() - began_ms, how)
      },
    })
  }
  function startAgain(lived_ms: number, how: End): void {
    if (lived_ms > STEADY_MS) wait_ms = FIRST_WAIT_MS
    log.error({ ended: name, ...how, wait_ms }, 'a process has ended and is started again')
    timer = setTimeout(start, wait_ms)
    wait_ms = Math.min(2 * wait_ms, MAX_WAIT_MS)
  }
  function kill(why: string): void {
    log.error({ killed: name, pid: current?.process.pid }, why)
    current?.process.kill('SIGKILL')
  }

  start()
  return {
    name,
    started: first.promise,
    isRunning: () => current !== null && hasServed,
    pid: () => current?.process.pid,
    send: (message) => sendTo(current, message),
    async stop(timeout_ms) {
      const { promise, resolve } = Promise.withResolvers<void>()
      stopped = resolve
      clearTimeout(timer ?? undefined)
      if (!current) return
      sendTo(current, { stop: true })
      const late = setTimeout(kill, timeout_ms, 'a process did not stop in time and is killed')
      await promise
      clearTimeout(late)
    },
  }
}

function beforeServing(name: string, { fault, ...how }: End): Error {
  const ended = `The process ${name} ended before it served: ${JSON.stringify(how)}.`
  const error = new OperatorFault(typeof fault === 'string' ? fault : ended)
  if (how.code === 2) error.exitCode = 2
  return error
}

/** How often a process is asked, and to how many questions in a row it may be silent. */
const ASK_MS = 10_000
const MAX_UNANSWERED = 6

type Watch = {
  /** The process has sent something. */
  answered(): void
  end(): void
}

/**
 * Calls back once if a process has been silent for a minute. It counts questions and not the time:
 * between two of them the whole machine may sleep for hours, and then nobody could answer.
 */
export function watchAnswers(ask: () => void, onSilence: () => void, every_ms = ASK_MS): Watch {
  let unanswered = 0
  const timer = setInterval(() => {
    if (unanswered < MAX_UNANSWERED) {
      unanswered += 1
      ask()
    } else {
      clearInterval(timer)
      onSilence()
    }
  }, every_ms)
  return {
    answered() {
      unanswered = 0
    },
    end: () => clearInterval(timer),
  }
}
