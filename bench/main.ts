import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const BENCHES =
  'compare create batch read qr settle deliver mail bill live listen cpu grow pages places overload start'
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** How long a database may take to end. */
const PATIENCE_MS = 5_000

const [name = ''] = process.argv.slice(2)
if (!BENCHES.split(' ').includes(name)) {
  console.error(`Usage: npm run bench ${BENCHES.replaceAll(' ', ' | ')}`)
  process.exit(2)
}
process.exit(await runBench())

/**
 * Runs the benchmark in a process group of its own, with a folder for all its temporary files.
 * However it ends, nothing of what it has started is left.
 */
async function runBench(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'vintem-bench-'))
  const script = join(import.meta.dirname, 'run.ts')
  const bench = spawn(process.execPath, [script, ...process.argv.slice(2)], {
    detached: true,
    stdio: 'inherit',
    env: { ...process.env, TMPDIR: folder },
  })
  const endGroup = () => {
    try {
      process.kill(-bench.pid!, 'SIGKILL')
    } catch {
      // All of them have ended.
    }
  }
  let ending = 0
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      ending = 128 + constants.signals[signal]
      endGroup()
    })
  }
  const [code] = await once(bench, 'exit')
  endGroup()
  await endDatabases(folder)
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  return ending || (code ?? 1)
}

/** A database has a process group of its own, so that Ctrl-C does not end it before its server. */
async function endDatabases(folder: string): Promise<void> {
  for (const file of globSync(join(folder, '**/postmaster.pid'))) {
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10)
    try {
      process.kill(pid, 'SIGQUIT')
    } catch {
      continue
    }
    const until = performance.now() + PATIENCE_MS
    while (existsSync(file) && performance.now() < until) await pause(20)
  }
}
