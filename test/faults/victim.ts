import type { ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { request } from 'undici'
import { type Running, startServer } from '../support/process.ts'
import { until } from '../support/until.ts'

/** The server that is killed. It comes back under the same address. */
export type Victim = {
  url: string
  /** Waits while it is away. */
  serving(): Promise<void>
  /** Starts it; resolves when it answers. */
  start(): Promise<void>
  /** Ends it, if that has not happened yet, and gives the exit code; null after SIGKILL. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>
  /** What it has logged as errors, over all its lives. */
  complaints(): string[]
}

export function createVictim(
  port: number,
  environment: Record<string, string>,
  options: string[] = [],
): Victim {
  const url = `http://127.0.0.1:${port}`
  const lives: Running[] = []
  let child: ChildProcess | null = null
  let up = Promise.withResolvers<void>()
  return {
    url,
    serving: () => up.promise,
    async start() {
      const life = startServer({ ...environment, PORT: String(port) }, options, (spawned) => {
        child = spawned
      })
      const died = life.then(async (running) => {
        lives.push(running)
        await running.ended
        throw new Error(`the server did not start:\n${running.output()}`)
      })
      await Promise.race([until('the server answers', () => answers(url)), died])
      up.resolve()
    },
    async end(signal) {
      up = Promise.withResolvers<void>()
      if (!child || child.exitCode !== null || child.signalCode !== null) return null
      const exit = once(child, 'exit')
      child.kill(signal)
      const [code] = await exit
      return code
    },
    complaints: () => lives.flatMap(({ output }) => errorsIn(output())),
  }
}

async function answers(url: string): Promise<true | null> {
  try {
    const { statusCode, body } = await request(`${url}/health`)
    await body.dump()
    return statusCode === 200 ? true : null
  } catch {
    return null
  }
}

/** Lines of level error or fatal. The last line of a killed server may be cut in two. */
const errorsIn = (output: string): string[] =>
  output.split('\n').filter((line) => /^\{"level":[56]0,/.test(line))

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
