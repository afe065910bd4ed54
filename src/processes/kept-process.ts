import type { Worker } from 'node:cluster'
import cluster from 'node:cluster'
import type { Log } from '../lib/log.ts'
import { OperatorFault } from '../lib/operator-fault.ts'
import type { Listener } from './listener.ts'
import type { StartOrder, ToChild, ToParent } from './messages.ts'

/** How long is waited before a process is started again, at first and at most. */
const FIRST_WAIT_MS = 100
const MAX_WAIT_MS = 10_000
/** A process that has run for so long is started again as soon as the first time. */
const STEADY_MS = 60_000
/** How long one that takes the place of another may need until it serves. */
const REPLACE_MS = 300_000
/** How long a process may need to hand over its socket. If it hangs, the next opens its own. */
const HAND_OVER_MS = 5_000

/** A process that is started again whenever it ends. */
export type KeptProcess = {
  name: string
  /** Resolves when it serves for the first time. Rejects if it ends before. */
  started: Promise<void>
  isRunning(): boolean
  pid(): number | undefined
  send(message: ToChild): void
  /**
   * Starts another, which takes its place when it serves. Then the former one leaves, within
   * `leave_ms`. Rejects if the other one ends before it serves: nothing has changed then.
   */
  replace(order: StartOrder, leave_ms: number): Promise<void>
  /** Stops it, and kills it if it has not ended in time. */
  stop(timeout_ms: number): Promise<void>
}

type KeptProcessParts = {
  order: StartOrder
  log: Log
  /** A new process has begun. Gives what is done with its messages, and at its end. */
  onStart(
    send: SendToChild,
    pid: number | undefined,
  ): { receive(message: ToParent): void; end(): void }
  /** It has ended without being told to, and is started again. */
  onRestart?(): void
}

/** Sends a message, and calls back when it is written. */
export type SendToChild = (message: ToChild, written?: () => void) => void

/** How a process has ended: by a code, a signal, or a fault that kept it from being made. */
type End = Record<string, unknown>

/** One process, from its beginning to its end. */
type Run = {
  pid(): number | undefined
  send: SendToChild
  kill(): void
  /** Gives the socket on which it listens, if it has one of its own. */
  handOver(): Promise<Listener | null>
  /** Resolves when it serves. Rejects if it ends before. */
  serving: Promise<void>
  ended: Promise<End>
}

type RunParts = Pick<KeptProcessParts, 'onStart'> & {
  order: StartOrder
  listener: Listener | null
  /** It serves, and has not answered for a minute. */
  onSilence(): void
}

function startRun({ order, listener, onStart, onSilence }: RunParts): Run {
  const [serving, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<End>()]
  const handOver = createHandOver()
  // Connections would go on to come to a socket that this process keeps, and nobody accepts them.
  ended.promise.then(() => listener?.close())
  // Whoever stops it before it serves does not wait for that.
  serving.promise.catch(() => {})
  const end = (how: End) => {
    serving.reject(beforeServing(order.name, how))
    ended.resolve(how)
  }
  const worker = fork(end)
  const send: SendToChild = (message, written) => sendTo(worker, message, written)
  if (worker) {
    const own = onStart(send, worker.process.pid)
    follow(worker, {
      onServing: serving.resolve,
      onListener: handOver.take,
      ask: () => send({ ping: true }),
      onSilence,
      receive: own.receive,
      onEnd(how) {
        own.end()
        end(how)
      },
    })
    sendStart(worker, order, listener)
  }
  return {
    pid: () => worker?.process.pid,
    send,
    kill: () => worker?.process.kill('SIGKILL'),
    handOver: () => handOver.ask(() => send({ handOver: true }), ended.promise),
    serving: serving.promise,
    ended: ended.promise,
  }
}

/** The socket of a process. One that comes when nobody waits for it any more is closed. */
function createHandOver() {
  const refuse = (listener: Listener | null) => listener?.close()
  let accept = refuse
  return {
    take: (listener: Listener | null) => accept(listener),
    ask(send: () => void, ended: Promise<unknown>): Promise<Listener | null> {
      const { promise, resolve } = Promise.withResolvers<Listener | null>()
      const late = setTimeout(() => accept(null), HAND_OVER_MS)
      accept = (listener) => {
        accept = refuse
        clearTimeout(late)
        resolve(listener)
      }
      ended.then(() => accept(null))
      send()
      return promise
    },
  }
}

type Listeners = {
  onServing(): void
  onListener(listener: Listener | null): void
  ask(): void
  onSilence(): void
  receive(message: ToParent): void
  onEnd(how: End): void
}

/** Takes the messages of a process, and says when it is silent and when it has ended. */
function follow(worker: Worker, { onServing, onListener, receive, ...then }: Listeners): void {
  let [fault, hasEnded]: [string | undefined, boolean] = [undefined, false]
  let watch: Watch | null = null
  worker.on('message', (message: ToParent, listener?: unknown) => {
    watch?.answered()
    if ('isServing' in message) {
      watch = watchAnswers(then.ask, then.onSilence)
      onServing()
    } else if ('fault' in message) fault = message.fault
    else if ('listener' in message) onListener((listener as Listener | undefined) ?? null)
    else receive(message)
  })
  function ended(how: End): void {
    if (hasEnded) return
    hasEnded = true
    watch?.end()
    then.onEnd({ ...how, fault })
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
}

/** Some errors are thrown at once, as that of a machine that has no memory left. */
function fork(onEnd: (how: End) => void): Worker | null {
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

/** The socket is then open in that process, and closed in this one, which accepts nothing. */
function sendStart(worker: Worker, start: StartOrder, listener: Listener | null): void {
  if (!listener) sendTo(worker, { start })
  else if (worker.isConnected()) {
    worker.send({ start }, listener, undefined, () => listener.close())
  }
}

/** How long is waited before a process is started again. It gets longer each time. */
function createWaits() {
  let wait_ms = FIRST_WAIT_MS
  return {
    reset: () => {
      wait_ms = FIRST_WAIT_MS
    },
    next(lived_ms: number): number {
      if (lived_ms > STEADY_MS) wait_ms = FIRST_WAIT_MS
      const now_ms = wait_ms
      wait_ms = Math.min(2 * wait_ms, MAX_WAIT_MS)
      return now_ms
    },
  }
}

const SILENT = 'a process has not answered for a minute and is killed'

/** Ways to end a process of this name. */
function createEnding({ order: { name }, log, onRestart }: KeptProcessParts) {
  function kill(run: Run, why: string): void {
    log.error({ killed: name, pid: run.pid() }, why)
    run.kill()
  }
  return {
    kill,
    noteRestart(how: End, wait_ms: number): void {
      log.error({ ended: name, ...how, wait_ms }, 'a process has ended and is started again')
      onRestart?.()
    },
    async untilServing(run: Run): Promise<void> {
      const late = setTimeout(() => kill(run, 'a process did not serve in time'), REPLACE_MS)
      await run.serving.finally(() => clearTimeout(late))
    },
    async end(run: Run, isReplaced: boolean, timeout_ms: number): Promise<void> {
      run.send({ stop: true, isReplaced })
      const why = 'a process did not stop in time and is killed'
      const late = setTimeout(() => kill(run, why), timeout_ms)
      await run.ended
      clearTimeout(late)
    },
  }
}

export function keepProcess(parts: KeptProcessParts): KeptProcess {
  const { log, onStart } = parts
  let { order } = parts
  const { name } = order
  const { kill, noteRestart, untilServing, end } = createEnding(parts)
  /** All that have not ended: the present one, one that is to replace it, one that leaves. */
  const runs = new Set<Run>()
  let [current, timer]: [Run | null, NodeJS.Timeout | undefined] = [null, undefined]
  const waits = createWaits()
  let [hasServed, isStopping] = [false, false]

  function begin(next: StartOrder, listener: Listener | null): Run {
    const run = startRun({ order: next, listener, onStart, onSilence: () => kill(run, SILENT) })
    runs.add(run)
    run.ended.then(() => runs.delete(run))
    return run
  }
  /** Makes a process the present one, which is started again when it ends. */
  function keep(run: Run): Run {
    const began_ms = performance.now()
    current = run
    const serves = () => {
      hasServed = true
    }
    run.serving.then(serves, () => {})
    run.ended.then((how) => {
      if (current !== run) return
      current = null
      if (hasServed && !isStopping) startAgain(performance.now() - began_ms, how)
    })
    return run
  }
  const start = () => keep(begin(order, null))
  function startAgain(lived_ms: number, how: End): void {
    const wait_ms = waits.next(lived_ms)
    noteRestart(how, wait_ms)
    timer = setTimeout(() => {
      const run = start()
      const serves = () => log.info({ started: name, pid: run.pid() }, 'a process serves again')
      run.serving.then(serves, () => {})
    }, wait_ms)
  }

  const first = start()
  return {
    name,
    started: first.serving,
    isRunning: () => current !== null && hasServed,
    pid: () => current?.pid(),
    send: (message) => current?.send(message),
    async replace(next, leave_ms) {
      const listener = (await current?.handOver()) ?? null
      if (isStopping) throw stopped(listener)
      const run = begin(next, listener)
      await untilServing(run)
      if (isStopping) return
      const former = current
      clearTimeout(timer)
      order = next
      waits.reset()
      keep(run)
      log.info({ started: name, pid: run.pid() }, 'a process has taken the place of another')
      if (former) await end(former, true, leave_ms)
    },
    async stop(timeout_ms) {
      isStopping = true
      clearTimeout(timer)
      await Promise.all([...runs].map((run) => end(run, false, timeout_ms)))
    },
  }
}

function stopped(unused: Listener | null): Error {
  unused?.close()
  return new OperatorFault('The server is stopped.')
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
