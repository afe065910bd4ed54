import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after } from 'node:test'
import { inherited } from '../support/process.ts'
import { environmentOf } from './scene.ts'

const SCRIPT = join(import.meta.dirname, 'worker-process.ts')

export type WorkerProcess = {
  child: ChildProcess
  /** What it has complained about. */
  output(): string
  /** Ends it and gives the exit code; null after SIGKILL. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>
}

/** Starts a worker that can be killed; resolves when it works. */
export async function startWorkerProcess(databaseUrl: string): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [SCRIPT], {
    env: { ...inherited, ...environmentOf(databaseUrl) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  let text = ''
  const working = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        text += chunk
        if (text.includes('working')) resolve()
      })
    }
  })
  const end = (signal: 'SIGTERM' | 'SIGKILL') => {
    child.kill(signal)
    return ended
  }
  after(() => end('SIGKILL'))
  const died = ended.then(() => {
    if (!text.includes('working')) throw new Error(`the worker did not start:\n${text}`)
  })
  await Promise.race([working, died])
  return { child, output: () => text, end }
}
