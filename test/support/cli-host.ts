/**
 * A process that runs one command of the CLI after the other as it is asked, each from its first
 * line to its exit code: to start a process takes longer than all that most commands do.
 */
export type Order = { args: string[]; env: Record<string, string>; cwd: string }
export type Result = { code: number; stdout: string; stderr: string }

type Stream = 'stdout' | 'stderr'
const written = { stdout: '', stderr: '' }
let commands = 0

// Every command listens for its interruption, and goes on listening here.
for (const emitter of [process, process.stdout, process.stderr]) emitter.setMaxListeners(0)
for (const name of ['stdout', 'stderr'] satisfies Stream[]) {
  process[name].write = (text: string | Uint8Array, ...rest: unknown[]) => {
    written[name] += text
    const taken = rest.at(-1)
    if (typeof taken === 'function') taken()
    return true
  }
}

async function carryOut({ args, env, cwd }: Order): Promise<Result> {
  Object.assign(written, { stdout: '', stderr: '' })
  process.env = env
  process.chdir(cwd)
  process.argv = [...process.argv.slice(0, 2), ...args]
  // Another name is another module, which runs anew; what it imports is there already.
  await import(`../../src/cli/main.ts?${commands++}`)
  const code = Number(process.exitCode)
  // What a command has left for the end of its process is done at its own.
  process.emit('exit', code)
  process.exitCode = undefined
  return { code, ...written }
}

process.on('message', async (order: Order) => process.send!(await carryOut(order)))
