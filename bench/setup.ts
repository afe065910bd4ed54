import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { connectBank } from '../src/core/banks/commands.ts'
import { createCompany, createKey } from '../src/core/companies/commands.ts'
import { openDatabase } from '../src/db/database.ts'
import { startEmbedded } from '../src/db/embedded/embedded.ts'
import { migrate } from '../src/db/migrate.ts'
import { createVault } from '../src/lib/vault.ts'
import { readCertificate } from '../src/provider/bacen/certificate.ts'
import type { Connection } from '../src/provider/bacen/connection.ts'
import { LATEST } from '../src/versions/history.ts'
import { measureUndisturbed } from './processor.ts'

const ROOT = join(import.meta.dirname, '..')
export const CONNECTIONS = 64
export const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7)
/** How often a round is tried, so that a benchmark ends in three minutes on any machine. */
export const MAX_TRIES = 2
/** Seconds that each side is measured for in a round. */
export const SECONDS = Number(process.env.BENCH_SECONDS ?? 1)

/** Where a database is, and the number of its first process. */
export type BenchDatabase = { url: string; postmaster: number; stop(): Promise<void> }

/** A PostgreSQL with the durable settings of a fresh install, for everything one run compares. */
export async function benchDatabase(): Promise<BenchDatabase> {
  progress('starting a database')
  const dataDir = mkdtempSync(join(tmpdir(), 'vintem-bench-'))
  // A server, the obvious stack and pgbench are connected at the same time.
  const embedded = await startEmbedded({ dataDir, settings: { max_connections: '200' } })
  await migrate(embedded.url)
  const file = join(dataDir, 'postgres/postmaster.pid')
  return {
    url: embedded.url,
    postmaster: Number.parseInt(readFileSync(file, 'utf8'), 10),
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

const SECRET_KEY = randomBytes(32).toString('base64')

/** Limits are those that users get, so a benchmark spreads its requests over many companies. */
export const COMPANIES = 64

const environment = (url: string, port: number) => ({
  ...process.env,
  DATABASE_URL: url,
  SECRET_KEY,
  PORT: String(port),
  PUBLIC_URL: `http://127.0.0.1:${port}`,
  ALLOW: 'http,mail-files',
})

/** What `npm start` gives to Node.js as well, see docs/decisions/0028-several-processes.md. */
export const START_OPTIONS = ['--max-semi-space-size=16']

/** A process of its own, as in production; its log goes where a log goes, into a file. */
export async function startServer(
  script: string,
  port: number,
  env: NodeJS.ProcessEnv,
  options: string[] = [],
): Promise<ChildProcess> {
  const child = spawn(process.execPath, [...START_OPTIONS, ...options, join(ROOT, script)], {
    env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  // If the benchmark fails, it does not leave its servers behind.
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  for (;;) {
    const up = await fetch(`http://127.0.0.1:${port}/health`).catch(() => null)
    if (up?.ok) return child
    if (child.exitCode !== null) throw new Error(`${script} ended before it served`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

export async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM')
  if (child.exitCode === null) await once(child, 'exit')
}

export type Running = { port: number; pid: number; stop(): Promise<void> }

async function run(script: string, url: string): Promise<Running> {
  const port = await freePort()
  const server = await startServer(script, port, environment(url, port))
  return { port, pid: server.pid!, stop: () => end(server) }
}

/** Vintém in its own process, with companies in these databases. */
export async function runPlaces(urls: string[]): Promise<Running> {
  const port = await freePort()
  const places = { DATABASE_URL: '', PLACES: urls.join(' ') }
  const server = await startServer('src/main.ts', port, { ...environment('', port), ...places })
  return { port, pid: server.pid!, stop: () => end(server) }
}

/** Another database beside this one. */
export async function besideOf(url: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  const beside = new URL(url)
  beside.pathname = `/${name}`
  return beside.href
}

/** A server, and the keys of the companies that it is asked for. */
export type Target = { port: number; keys: string[] }

/** Vintém in its own process, with companies that have a key each, live if they have a bank. */
export async function runVintem(url: string, bank?: Connection): Promise<Running & Target> {
  const keys = await makeKeys(url, COMPANIES, bank)
  progress('starting a server')
  return { ...(await run('src/main.ts', url)), keys }
}

/** Companies with a key each, live ones if there is a bank. */
export async function makeKeys(url: string, count: number, bank?: Connection): Promise<string[]> {
  const db = openDatabase(url, 1)
  const vault = createVault(Buffer.from(SECRET_KEY, 'base64'))
  const now = new Date()
  const keys: string[] = []
  for (let n = 0; n < count; n += 1) {
    const fields = {
      name: `Bench ${n}`,
      taxId: '11222333000181',
      email: 'bench@example.com',
      mode: bank ? 'live' : 'sandbox',
      ...(bank && { pixKey: 'bench@example.com' }),
      apiVersion: LATEST.name,
    } as const
    await db.transaction(async (tx) => {
      const company = await createCompany(tx, fields, now)
      const { text } = await createKey(tx, vault, company, { name: 'bench' }, now)
      if (bank) await connectBank(tx, vault, company.id, fieldsOf(bank), now)
      keys.push(text)
    })
  }
  await db.end()
  return keys
}

function fieldsOf({ id: _, ...bank }: Connection) {
  const certificateEndsAt = readCertificate(bank.certificate).endsAt
  return { ...bank, payouts: 'manual', certificateEndsAt } as const
}

/** Another server script of this folder. */
export const runScript = (name: string, url: string): Promise<Running> =>
  run(`bench/${name}.ts`, url)

export type Sides = Record<string, () => Promise<number>>

/**
 * Measures every side once a round and takes the median of each. A shared machine may be half as
 * fast from one second to the next, so sides are only comparable when they alternate.
 */
export async function measureAlternately(sides: Sides): Promise<Record<string, number[]>> {
  const measured: Record<string, number[]> = {}
  for (let round = 0; round <= ROUNDS; round++) {
    progress(round === 0 ? 'warm-up' : `round ${round} of ${ROUNDS}`)
    const perSecond = await measureUndisturbed(() => measureOnce(sides), MAX_TRIES)
    // The first round only warms up.
    if (round === 0) continue
    for (const [name, rate] of Object.entries(perSecond)) {
      measured[name] = [...(measured[name] ?? []), rate]
    }
  }
  return measured
}

async function measureOnce(sides: Sides): Promise<Record<string, number>> {
  const perSecond: Record<string, number> = {}
  for (const [name, measureSide] of Object.entries(sides)) perSecond[name] = await measureSide()
  return perSecond
}

const sortedAt = (values: number[], part: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * part)]!

export const median = (values: number[]): number => sortedAt(values, 1 / 2)

export const lowerQuartile = (values: number[]): number => sortedAt(values, 1 / 4)

/** The median of the ratios of each round, which is what the fluctuation of the machine leaves. */
export const medianRatio = (some: number[], other: number[]): number =>
  median(some.map((value, i) => value / other[i]!))

/** One row a transaction: a narrow one, and the row of a charge with all its indexes and checks. */
const NARROW = `insert into bench_narrow (id, amount, note)
  values (gen_random_uuid(), 1000, 'one row a transaction');\n`
const WIDE = `insert into bench_wide (company_id, id, kind, amount, status, payment_status,
  dev_mode, payer_name, payer_index, payer_sealed, br_code, created_at, expires_at)
  values ('018f0000-0000-7000-8000-000000000000', gen_random_uuid(), 'PIX', 1000, 'OPEN',
  'PROCESSING', false, 'Maria da Silva', '\\x${'ab'.repeat(16)}', '\\x${'cd'.repeat(130)}',
  '${'0'.repeat(184)}', now(), now() + interval '30 minutes');\n`

/** Single-row inserts: by pgbench, or by the same loop where it is missing. */
export async function singleRowInserts(url: string): Promise<{ by: string; sides: Sides }> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(
    `create table bench_narrow (id uuid primary key, amount bigint not null, note text not null);
     create table bench_wide (like charges including all)`,
  )
  await client.end()
  const found = await promisify(execFile)('pgbench', ['--version']).catch(() => null)
  const insert = found ? pgbench : insertLoop
  return {
    by: found ? 'pgbench' : 'a loop of our own, pgbench is missing',
    sides: { narrow: () => insert(url, NARROW), wide: () => insert(url, WIDE) },
  }
}

/** Its clients need most of a second to connect, which is part of the time that it is given. */
const PGBENCH_S = Math.max(SECONDS, 3)

async function pgbench(url: string, statement: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'vintem-pgbench-'))
  const script = join(folder, 'insert.sql')
  writeFileSync(script, statement)
  const options = ['-n', '-M', 'prepared', '-c', String(CONNECTIONS), '-j', '2']
  const run = promisify(execFile)
  const { stdout, stderr } = await run('pgbench', [
    ...options,
    '-T',
    String(PGBENCH_S),
    '-f',
    script,
    url,
  ])
  rmSync(folder, { recursive: true })
  const found = /tps = ([\d.]+)/.exec(stdout)
  if (!found) throw new Error(`pgbench: ${stdout} ${stderr}`)
  return Number(found[1])
}

async function insertLoop(url: string, statement: string): Promise<number> {
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS })
  let count = 0
  const until = performance.now() + SECONDS * 1000
  const insert = async () => {
    while (performance.now() < until) {
      await pool.query(statement)
      count += 1
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, insert))
  await pool.end()
  return count / SECONDS
}

/** Tells whoever waits how far it is. Results are printed to the standard output. */
export function progress(text: string): void {
  process.stderr.write(`${new Date().toTimeString().slice(0, 8)} ${text}\n`)
}

export function report(label: string, perSecond: number, extra = ''): void {
  console.log(`${label.padEnd(44)}${Math.round(perSecond).toString().padStart(8)} /s  ${extra}`)
}

/** A bar that is missed lets the command end with 1. */
export function verdictOf(isReached: boolean): 'reached' | 'MISSED' {
  if (!isReached) process.exitCode = 1
  return isReached ? 'reached' : 'MISSED'
}

/** A ratio, and whether it reaches the bar where there is one. */
export function ratio(label: string, value: number, bar?: number): void {
  const verdict = verdictOf(bar === undefined || (Number.isFinite(value) && value >= bar))
  const judged = bar === undefined ? '' : `bar ≥ ${bar}: ${verdict}`
  console.log(`${label.padEnd(44)}${value.toFixed(2).padStart(8)}     ${judged}`)
}

/** Milliseconds, and whether they are no more than the bar. */
export function atMost(label: string, value_ms: number, bar_ms: number): void {
  const verdict = verdictOf(value_ms <= bar_ms)
  console.log(
    `${label.padEnd(44)}${value_ms.toFixed(1).padStart(8)} ms  bar ≤ ${bar_ms}: ${verdict}`,
  )
}
