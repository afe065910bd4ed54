import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Config } from '../config.ts'
import { KEEP_ALIVE_MS } from '../http/keep-alive.ts'
import type { Log } from '../lib/log.ts'
import { OperatorFault } from '../lib/operator-fault.ts'
import { type KeptProcess, keepProcess, type SendToChild } from './kept-process.ts'
import { createLimitKeeper } from './limit-keeper.ts'
import {
  type ProcessKind,
  type Question,
  type SentConfig,
  type StartOrder,
  sendConfig,
  type ToParent,
  type Wakes,
} from './messages.ts'
import { prepareNext } from './prepare.ts'
import { createWakeSender } from './wake-sender.ts'

/** How long processes may take to end after the time that requests in flight are given. */
const API_STOP_MS = 5_000
const WORKER_STOP_MS = 10_000

/**
 * How long a process that was replaced waits for its clients, beyond the time that requests in
 * flight are given: as long as connections are kept open, and a little more.
 */
const LEAVE_MS = KEEP_ALIVE_MS + API_STOP_MS

/** What a process has answered, or null if it has not. */
export type Answered<T> = { name: string; pid: number; kind: ProcessKind; answer: T | null }

export type Group = {
  /** Resolves when all of them serve. */
  started: Promise<void>
  ask<T>(about: Question, timeout_ms: number): Promise<Answered<T>[]>
  /** Calls back with the name and the number of each process that ends. */
  onEnd(listener: (name: string, pid: number) => void): void
  /** Calls back with the kind of each process that has ended by itself and is started again. */
  onRestart(listener: (kind: ProcessKind) => void): void
  /**
   * Replaces all processes, one after the other, by those of the version on the disk, with the
   * configuration that it reads. Rejects if one cannot be replaced: it and the others go on.
   */
  replaceAll(say: (line: string) => void): Promise<void>
  /** Requests are answered to the end before the worker stops. */
  stop(): Promise<void>
}

type GroupParts = { config: Config; databaseUrl: string; hasWorker: boolean; log: Log }

type Member = { kind: ProcessKind; kept: KeptProcess }

/** Questions to processes that have no answer yet. */
function createQuestions() {
  const waiting = new Map<number, (answer: unknown) => void>()
  let last = 0
  return {
    async ask<T>(
      { kind, kept }: Member,
      about: Question,
      timeout_ms: number,
    ): Promise<Answered<T>> {
      last += 1
      const question = last
      const { promise, resolve } = Promise.withResolvers<unknown>()
      waiting.set(question, resolve)
      const late = setTimeout(resolve, timeout_ms, null)
      const pid = kept.pid()
      if (kept.isRunning()) kept.send({ question, about })
      else resolve(null)
      const answer = (await promise) as T | null
      clearTimeout(late)
      waiting.delete(question)
      return { name: kept.name, pid: pid ?? 0, kind, answer }
    },
    answer: (question: number, answer: unknown) => waiting.get(question)?.(answer),
  }
}

/** Who wants to know of something. */
function createListeners<Told extends unknown[]>() {
  const all: ((...told: Told) => void)[] = []
  return {
    add: (listener: (...told: Told) => void) => void all.push(listener),
    tell(...told: Told): void {
      for (const listener of all) listener(...told)
    },
  }
}

/** Starts the processes of this machine, and carries messages between them. */
export function startGroup({ config, databaseUrl, hasWorker, log }: GroupParts): Group {
  const keeper = createLimitKeeper()
  const questions = createQuestions()
  const ends = createListeners<[name: string, pid: number]>()
  const restarts = createListeners<[kind: ProcessKind]>()
  /** While the worker is replaced there are two for a moment. */
  const workers = new Set<(wakes: Wakes) => void>()
  let isStopping = false
  let shared: { databaseUrl: string; config: SentConfig } = {
    databaseUrl,
    config: sendConfig(config),
  }

  /** What is done with the messages of a process. */
  function serve({ kind, name }: StartOrder, send: SendToChild, pid = 0) {
    const wake = createWakeSender(send)
    if (kind === 'worker') workers.add(wake)
    const limits = keeper.join(
      (answers) => send({ answers }),
      (familiar) => send({ familiar }),
    )
    return {
      receive(message: ToParent): void {
        if ('calls' in message) limits.call(message.calls)
        else if ('wakes' in message) for (const wakeOne of workers) wakeOne(message.wakes)
        else if ('question' in message) questions.answer(message.question, message.answer)
      },
      end(): void {
        limits.end()
        workers.delete(wake)
        ends.tell(name, pid)
      },
    }
  }
  function keep(kind: ProcessKind, name: string): Member {
    const order: StartOrder = { kind, name, ...shared }
    const onStart = (send: SendToChild, pid?: number) => serve(order, send, pid)
    return {
      kind,
      kept: keepProcess({ order, log, onStart, onRestart: () => restarts.tell(kind) }),
    }
  }

  const apis = Array.from({ length: config.processes }, (_, i) => keep('api', `api ${i + 1}`))
  const worker = hasWorker ? keep('worker', 'worker') : null
  const members = worker ? [...apis, worker] : apis
  return {
    started: startAll(members, log),
    ask: <T>(about: Question, timeout_ms: number) =>
      Promise.all(members.map((member) => questions.ask<T>(member, about, timeout_ms))),
    onEnd: ends.add,
    onRestart: restarts.add,
    async replaceAll(say) {
      shared = { ...shared, config: await prepareNext(shared, say) }
      const late_ms = config.shutdownSeconds * 1000
      for (const { kind, kept } of members) {
        if (isStopping) throw new OperatorFault('The server is stopped.')
        await kept.replace({ kind, name: kept.name, ...shared }, late_ms + LEAVE_MS)
        say(`${kept.name} is replaced`)
      }
    },
    async stop() {
      isStopping = true
      const began_ms = performance.now()
      const late_ms = config.shutdownSeconds * 1000
      await Promise.all(apis.map(({ kept }) => kept.stop(late_ms + API_STOP_MS)))
      const left_ms = late_ms + WORKER_STOP_MS - (performance.now() - began_ms)
      await worker?.kept.stop(left_ms)
    },
  }
}

async function startAll(members: Member[], log: Log): Promise<void> {
  await Promise.all(members.map(({ kept }) => kept.started))
  for (const { kept } of members) {
    log.info({ started: kept.name, pid: kept.pid() }, 'a process serves')
  }
}

/**
 * Throws if nobody could listen there. Processes that share a port do not notice when another
 * server has it, but a socket that does not share it does.
 */
export async function requireFreePort(address: { host: string; port: number }): Promise<void> {
  const server = createServer().listen(address)
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}
