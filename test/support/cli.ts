import { type ChildProcess, execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Order, Result } from './cli-host.ts'
import { inherited } from './process.ts'

export type { Result } from './cli-host.ts'

export const CLI = join(import.meta.dirname, '../../src/cli/main.ts')
const HOST = join(import.meta.dirname, 'cli-host.ts')

type Environment = Record<string, string>
export type Vintem = (args: string[], env: Environment) => Promise<Result>

/** Runs a program of ours in a process of its own. */
export function runIn(cwd: string, program: string[], env: Environment): Promise<Result> {
  const options = { cwd, env: { ...inherited, ...env }, maxBuffer: 64 * 1024 * 1024 }
  return new Promise((resolve) => {
    execFile(process.execPath, program, options, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr })
    })
  })
}

/** Runs a command in a process of its own, as an operator does. */
export const vintemIn =
  (cwd: string): Vintem =>
  (args, env) =>
    runIn(cwd, [CLI, ...args], env)

/** One process for the commands of all files of this one, because to load the CLI takes long. */
let host: ChildProcess | null = null
let ended: Promise<never>
let last: Promise<unknown> = Promise.resolve()

function startHost(): ChildProcess {
  const child = fork(HOST, { env: inherited, execArgv: [], serialization: 'advanced' })
  ended = once(child, 'exit').then(() => {
    throw new Error('the host of the commands has ended')
  })
  ended.catch(() => {})
  process.on('exit', () => child.kill('SIGKILL'))
  return child
}

/** Runs commands one after the other in one process, for whom only their answers matter. */
export const hostedVintemIn =
  (cwd: string): Vintem =>
  (args, env) => {
    const order: Order = { args, env: { ...inherited, ...env }, cwd }
    const carriedOut = last.then(async () => {
      host ??= startHost()
      host.send(order)
      const [result] = await Promise.race([once(host, 'message'), ended])
      return result as Result
    })
    last = carriedOut.catch(() => {})
    return carriedOut
  }
