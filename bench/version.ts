import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { cpuBelow_us, parentOf } from './processor.ts'
import { freePort, progress } from './setup.ts'

const run = promisify(execFile)
export const ROOT = join(import.meta.dirname, '..')

/** Where other versions are kept. Not in node_modules, where Node.js runs no TypeScript. */
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'vintem-bench')

/** The files of a commit, as they are after `npm start` has installed what they need. */
export async function checkOut(commit: string): Promise<string> {
  const git = (...args: string[]) => run('git', ['-C', ROOT, ...args])
  const hash = (await git('rev-parse', '--verify', `${commit}^{commit}`)).stdout.trim()
  const folder = join(CACHE, hash)
  if (!existsSync(folder)) {
    progress(`unpacking ${commit} into ${folder}`)
    mkdirSync(CACHE, { recursive: true })
    const draft = mkdtempSync(`${folder}-`)
    const tar = join(draft, 'version.tar')
    await git('archive', `--output=${tar}`, hash)
    await run('tar', ['xf', tar, '-C', draft])
    rmSync(tar)
    // Another run may have been faster.
    if (existsSync(folder)) rmSync(draft, { recursive: true })
    else renameSync(draft, folder)
  }
  await install(folder)
  return folder
}

async function install(root: string): Promise<void> {
  const env = plainEnvironment(root)
  const installing = spawn('node', ['scripts/install.mjs'], {
    cwd: root,
    env: { ...env, PATH: process.env.PATH },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = await once(installing, 'exit')
  if (code !== 0) throw new Error(`${root} cannot be installed`)
}

/** None of our own settings: each version has its defaults. */
const plainEnvironment = (root: string): Record<string, string> => ({
  PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
  HOME: homedir(),
  npm_execpath: process.env.npm_execpath ?? '',
})

export type Company = { companyId: string; apiKey: string }

/** What one version has used until now. */
export type Used = {
  node_us: number
  postgres_us: number
  wal: number
  statements: number
  rows: number
}

/** A version that runs, with a database of its own. */
export type Version = {
  name: string
  port: number
  db: pg.Client
  companies: string[]
  keys: string[]
  used(): Promise<Used>
  /** Starts a script of ours with its Node.js and its database, whose processor time counts too. */
  script(name: string): ChildProcess
  /** Runs commands of its CLI, and reads what each prints. */
  commands<T>(list: string[][]): Promise<T[]>
  makeCompanies(count: number, more?: string): Promise<Company[]>
  stop(): Promise<void>
}

/** What a process needs that opens the database of a server by its address. */
const PUBLIC_URL = 'http://127.0.0.1:3000'
const ALLOW = 'http,mail-files'

/** Paid charges are not released while something else is measured. */
const COMPANY =
  'company create --name Bench --tax-id 11222333000181 --email bench@example.com --settlement-delay 86400'

/** Starts a version by what its `npm start` runs, on a new data directory. */
export async function startVersion(
  name: string,
  root: string,
  companies: number,
): Promise<Version> {
  const dataDir = mkdtempSync(join(tmpdir(), 'vintem-bench-'))
  const port = await freePort()
  const env = { ...plainEnvironment(root), DATA_DIR: dataDir, PORT: String(port) }
  progress(`starting ${name}`)
  const first = await serve(root, env)
  await first.stop()
  const settings = join(dataDir, 'postgres', 'postgresql.conf')
  appendFileSync(settings, "shared_preload_libraries = 'pg_stat_statements'\n")
  const server = await serve(root, env)
  const { pid: postmaster, url } = readPostgres(dataDir)
  const db = new pg.Client({ connectionString: url })
  await db.connect()
  await db.query('create extension pg_stat_statements')
  const commands = async <T>(list: string[][]): Promise<T[]> => {
    const main = join(root, 'src/cli/main.ts')
    const many = join(import.meta.dirname, 'many.ts')
    const json = JSON.stringify(list.map((args) => [...args, '--json']))
    const { stdout } = await run('node', [many, main, json], { cwd: root, env }).catch((error) => {
      // The message of Node.js is the whole list.
      throw new Error(`${name}: a command has failed: ${error.stdout}${error.stderr}`)
    })
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as T)
  }
  const makeCompanies = (count: number, more = '') => {
    const command = `${COMPANY} ${more}`.trim().split(' ')
    return commands<Company>(Array.from({ length: count }, () => command))
  }
  progress(`making ${companies} companies`)
  const made = await makeCompanies(companies)
  const pids = [parentOf(postmaster)]
  const script = (name: string) => {
    const secret = readFileSync(join(dataDir, 'secret.key'), 'utf8').trim()
    const child = spawn('node', [join(import.meta.dirname, name), root], {
      cwd: root,
      env: { ...env, DATABASE_URL: url, SECRET_KEY: secret, PUBLIC_URL, ALLOW },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    scripts.push(child)
    pids.push(child.pid!)
    return child
  }
  const scripts: ChildProcess[] = []
  return {
    name,
    port,
    db,
    companies: made.map(({ companyId }) => companyId),
    keys: made.map(({ apiKey }) => apiKey),
    used: () => readUsed(db, pids, postmaster),
    commands,
    makeCompanies,
    script,
    async stop() {
      for (const child of scripts) child.kill()
      await db.end()
      await server.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** Its log goes where a log goes, into a file. */
async function serve(root: string, env: Record<string, string>) {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: { start: string }
  }
  const log = openSync(join(env.DATA_DIR!, 'server.log'), 'a')
  const shell = spawn('sh', ['-c', scripts.start], {
    cwd: root,
    env,
    stdio: ['ignore', log, 'inherit'],
  })
  const exit = once(shell, 'exit')
  const isUp = async () => {
    const answer = await fetch(`http://127.0.0.1:${env.PORT}/health`).catch(() => null)
    return answer?.ok
  }
  while (!(await isUp())) {
    if (shell.exitCode !== null) throw new Error(`${scripts.start} in ${root} has ended`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    async stop() {
      // The server has started its PostgreSQL, and the shell may be between it and us.
      process.kill(parentOf(readPostgres(env.DATA_DIR!).pid), 'SIGTERM')
      await exit
    },
  }
}

function readPostgres(dataDir: string): { pid: number; url: string } {
  const lines = readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')
  const password = readFileSync(join(dataDir, 'postgres.password'), 'utf8').trim()
  const url = `postgres://vintem:${encodeURIComponent(password)}@127.0.0.1:${lines[3]}/vintem`
  return { pid: Number(lines[0]), url }
}

async function readUsed(db: pg.Client, pids: number[], postmaster: number): Promise<Used> {
  const { rows } = await db.query(
    `select sum(calls)::float8 as statements, sum(rows)::float8 as rows,
       (pg_current_wal_insert_lsn() - '0/0')::float8 as wal from pg_stat_statements`,
  )
  const node_us = pids.reduce((sum, pid) => sum + cpuBelow_us(pid, postmaster), 0)
  return { ...rows[0], node_us, postgres_us: cpuBelow_us(postmaster) }
}
