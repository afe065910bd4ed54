import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { request } from 'undici'
import { inherited, UNLIMITED } from '../support/process.ts'
import { until } from '../support/until.ts'
import type { Bundle } from './bundle.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** A process that is killed, and started again with the same environment. */
export type Killable = {
  /** Waits while it is away. */
  serving(): Promise<void>
  isServing(): boolean
  /** Starts it, perhaps with the sources of another version; resolves when it works. */
  start(root?: string): Promise<void>
  /** Ends it, if that has not happened yet, and gives the exit code; null after SIGKILL. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>
  /** What it has logged as errors, over all its lives. */
  complaints(): string[]
  /** When it was killed, by the number of each life that ended so. */
  kills: Map<string, number>
}

/** A server. It comes back under the same address. */
export type Victim = Killable & { url: string }

type Program = {
  environment: Record<string, string>
  /** Below the folder of a version. */
  script: string
  options?: string[]
  /** What it is started from, but for some of its lives; or from sources only. */
  bundle?: Bundle | undefined
  /** Resolves when the process that has just been started works. */
  works(said: (words: string) => Promise<unknown>): Promise<unknown>
}

/** Lines that are kept of what a process says, for the sentence that says why it did not start. */
const LAST_LINES = 20
/** A line of level error or fatal. The last one of a killed process may be cut in two. */
const COMPLAINT = /^\{"level":[56]0,/

/** One start in so many is from sources. */
const FROM_SOURCES = 10

/** No two lives have the same number, whosever they are. */
let lives = 0

function createKillable({ environment, script, options = [], bundle, works }: Program): Killable {
  const complaints: string[] = []
  const kills = new Map<string, number>()
  let starts = 0
  let life: Life | null = null
  let up = Promise.withResolvers<void>()
  let isUp = false
  return {
    serving: () => up.promise,
    isServing: () => isUp,
    async start(root) {
      if (isUp) throw new Error(`${script} is running already.`)
      starts += 1
      const isBundled = bundle && root === undefined && starts % FROM_SOURCES > 0
      const started = isBundled
        ? spawnLife([...bundle.commandOf(script), ...options], environment, complaints, bundle)
        : spawnLife([join(root ?? ROOT, script), ...options], environment, complaints)
      life = started
      const died = started.ended.then((code) => {
        const end = code ?? started.child.signalCode
        throw new Error(`${script} did not start (${end}):\n${started.lines.join('\n')}`)
      })
      await Promise.race([works(started.said), died])
      isUp = true
      up.resolve()
    },
    async end(signal) {
      if (isUp) up = Promise.withResolvers<void>()
      isUp = false
      if (!life) return null
      const isKilled = life.child.kill(signal) && signal === 'SIGKILL'
      if (isKilled) kills.set(life.number, performance.now())
      return life.ended
    },
    complaints: () => complaints,
    kills,
  }
}

type Life = {
  number: string
  child: ChildProcess
  /** The last ones. */
  lines: string[]
  said(words: string): Promise<unknown>
  ended: Promise<number | null>
}

function spawnLife(
  command: string[],
  environment: Record<string, string>,
  complaints: string[],
  bundle?: Bundle,
): Life {
  lives += 1
  const number = String(lives)
  const cache = bundle && { NODE_COMPILE_CACHE: bundle.compiled }
  const child = spawn(process.execPath, command, {
    cwd: tmpdir(),
    env: { ...inherited, ...cache, ...UNLIMITED, ...environment, LIFE: number },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const lines: string[] = []
  const heard = new Set<(line: string) => void>()
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', (line) => {
      if (lines.push(line) > LAST_LINES) lines.shift()
      if (COMPLAINT.test(line)) complaints.push(line)
      for (const hear of heard) hear(line)
    })
  }
  return {
    number,
    child,
    lines,
    said: (words) =>
      new Promise((resolve) => {
        heard.add((line) => {
          if (line.includes(words)) resolve(line)
        })
      }),
    // The last of its output may come after its exit.
    ended: once(child, 'close').then(([code]) => {
      process.off('exit', kill)
      return code as number | null
    }),
  }
}

export function createVictim(
  port: number,
  environment: Record<string, string>,
  options: string[] = [],
  bundle?: Bundle,
): Victim {
  const url = `http://127.0.0.1:${port}`
  const server = createKillable({
    environment: { ...environment, PORT: String(port) },
    script: 'src/main.ts',
    options,
    bundle,
    works: () => until('the server answers', () => answers(url)),
  })
  return { ...server, url }
}

/** What does the tasks, and delivers to this machine. */
export const createWorker = (environment: Record<string, string>, bundle?: Bundle): Killable =>
  createKillable({
    environment,
    script: 'test/deliveries/worker-process.ts',
    bundle,
    works: (said) => said('working'),
  })

async function answers(url: string): Promise<true | null> {
  try {
    const { statusCode, body } = await request(`${url}/health`)
    await body.dump()
    return statusCode === 200 ? true : null
  } catch {
    return null
  }
}

/**
 * A port below those that the system gives to connections, so that none of them takes it while the
 * server is away.
 */
export async function lowPort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 30_000)
    const server = createServer()
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!free) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
