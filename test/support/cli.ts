import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after } from 'node:test'
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

/** Runs commands one after the other in one process, for whom only their answers matter. */
export function hostedVintemIn(cwd: string): Vintem {
  const host = fork(HOST, { cwd, env: inherited, execArgv: [], serialization: 'advanced' })
  const ended = once(host, 'exit').then(() => {
    throw new Error('the host of the commands has ended')
  })
  ended.catch(() => {})
  after(() => host.kill('SIGKILL'))
  let last: Promise<unknown> = Promise.resolve()
  return (args, env) => {
    const order: Order = { args, env: { ...inherited, ...env }, cwd }
    const carriedOut = last.then(async () => {
      host.send(order)
      const [result] = await Promise.race([once(host, 'message'), ended])
      return result as Result
    })
    last = carriedOut.catch(() => {})
    return carriedOut
  }
}
