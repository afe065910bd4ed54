import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { startEmbedded } from '../src/db/embedded.ts'
import { migrate } from '../src/db/migrate.ts'

const ROOT = join(import.meta.dirname, '..')
export const CONNECTIONS = 64
export const SECONDS = Number(process.env.BENCH_SECONDS ?? 8)

/** A PostgreSQL with the durable settings of a fresh install, for everything one run compares. */
export async function benchDatabase(): Promise<{ url: string; stop(): Promise<void> }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'vintem-bench-'))
  const embedded = await startEmbedded({ dataDir })
  await migrate(embedded.url)
  return {
    url: embedded.url,
    async stop() {
      await embedded.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}

const SECRET_KEY = Buffer.alloc(32, 7).toString('base64')

const environment = (url: string, port: number) => ({
  ...process.env,
  DATABASE_URL: url,
  SECRET_KEY,
  PORT: String(port),
  PUBLIC_URL: `http://127.0.0.1:${port}`,
  RATE_LIMIT: 'off',
})

/** A process of its own, as in production; its log goes where a log goes, into a file. */
async function launch(script: string, port: number, env: NodeJS.ProcessEnv): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(ROOT, script)], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  for (;;) {
    const up = await fetch(`http://127.0.0.1:${port}/health`).catch(() => null)
    if (up?.ok) return child
    if (child.exitCode !== null) throw new Error(`${script} ended before it served`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM')
  if (child.exitCode === null) await once(child, 'exit')
}

/** Runs something against Vintém in its own process, with a company and key made by its CLI. */
export async function withVintem<T>(
  url: string,
  act: (port: number, apiKey: string) => Promise<T>,
): Promise<T> {
  const port = await freePort()
  const env = environment(url, port)
  const made = await promisify(execFile)(
    process.execPath,
    [join(ROOT, 'src/cli/main.ts'), ...companyArguments],
    { env },
  )
  const { apiKey } = JSON.parse(made.stdout) as { apiKey: string }
  const server = await launch('src/main.ts', port, env)
  try {
    return await act(port, apiKey)
  } finally {
    await end(server)
  }
}

const companyArguments = [
  ...['company', 'create', '--name', 'Bench', '--tax-id', '11222333000181'],
  ...['--email', 'bench@example.com', '--json'],
]

/** Runs something against another server script of this folder. */
export async function withScript<T>(
  script: string,
  url: string,
  act: (port: number) => Promise<T>,
): Promise<T> {
  const port = await freePort()
  const server = await launch(script, port, environment(url, port))
  try {
    return await act(port)
  } finally {
    await end(server)
  }
}

const PGBENCH_SCRIPT = `insert into bench_rows (id, amount, note)
  values (gen_random_uuid(), 1000, 'one row a transaction');\n`

/**
 * Single-row inserts per second with as many clients: pgbench, or the same loop where it is
 * missing.
 */
export async function singleRowInserts(url: string): Promise<{ perSecond: number; by: string }> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(
    'create table if not exists bench_rows (id uuid primary key, amount bigint not null, note text not null)',
  )
  await client.end()
  try {
    const perSecond = await pgbench(url)
    return { perSecond, by: 'pgbench' }
  } catch {
    return { perSecond: await insertLoop(url), by: 'a loop of our own, pgbench is missing' }
  }
}

async function pgbench(url: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'vintem-pgbench-'))
  const script = join(folder, 'insert.sql')
  writeFileSync(script, PGBENCH_SCRIPT)
  const run = promisify(execFile)
  const options = [
    '-n',
    '-M',
    'prepared',
    '-c',
    String(CONNECTIONS),
    '-j',
    '2',
    '-T',
    String(SECONDS),
  ]
  const { stdout } = await run('pgbench', [...options, '-f', script, url])
  rmSync(folder, { recursive: true })
  return Number(/tps = ([\d.]+)/.exec(stdout)![1])
}

async function insertLoop(url: string): Promise<number> {
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS })
  let count = 0
  const until = performance.now() + SECONDS * 1000
  const insert = async () => {
    while (performance.now() < until) {
      await pool.query({ name: 'insert', text: PGBENCH_SCRIPT })
      count += 1
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, insert))
  await pool.end()
  return count / SECONDS
}

export function report(label: string, perSecond: number, extra = ''): void {
  console.log(`${label.padEnd(44)}${Math.round(perSecond).toString().padStart(8)} /s  ${extra}`)
}

export function ratio(label: string, value: number, bar: number): void {
  const verdict = value >= bar ? 'reached' : 'MISSED'
  console.log(`${label.padEnd(44)}${value.toFixed(2).padStart(8)}     bar ≥ ${bar}: ${verdict}`)
}
