import { once } from 'node:events'
import {
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { enableCompileCache, flushCompileCache } from 'node:module'
import { freemem, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { cpuBelow_ms } from '../bench/processor.ts'
import { startEmbedded } from '../src/db/embedded/embedded.ts'
import { migrate } from '../src/db/migrate.ts'
import { findChromium, NO_BROWSER } from './browser/chromium.ts'
import { dropCitusTemplate, makeCitusTemplate } from './citus/cluster.ts'

const ALL = ['test/**/*.test.ts', 'src/**/*.test.ts', 'packages/*/src/*.test.ts']
/** Files that `npm test` leaves out. In others it leaves out some tests, see support/long.ts. */
const LONG = ['test/**/*.long.test.ts', 'src/**/*.long.test.ts']
const BROWSER = 'test/browser/*.test.ts'
/** Files that install the programs of others, which may take most of an hour. */
const ECOSYSTEM = 'test/ecosystem'
/**
 * Files that wait most of the time, do without the service, or look at the time and memory of their
 * process: each has one of its own.
 */
const ALONE = [
  'test/deliveries/hostile.test.ts',
  'test/deliveries/latency.test.ts',
  'test/bench.test.ts',
  'test/idle.test.ts',
  'test/install.test.ts',
  'test/start-faults.test.ts',
  'test/processes/group.test.ts',
  'test/processes/wakes.test.ts',
  'src/db/embedded/embedded.test.ts',
  'src/lib/http-sender*.test.ts',
  'src/pix/qr.test.ts',
]
/** Files that start processes. To load the service takes longer than many tests, so they share. */
const LENGTHY = [
  'test/processes/*.test.ts',
  'test/faults/*.test.ts',
  'test/journeys/*.test.ts',
  'test/attack/*.test.ts',
  'test/releases.test.ts',
  'test/start.test.ts',
  'test/guides/samples.test.ts',
  'test/api/payments/money-model.test.ts',
  'test/deliveries/*.test.ts',
  'test/log.test.ts',
  'test/webhooks/*.test.ts',
]
const SHARING_LENGTHY = 2
/** All others. */
const SHARING = 3
/**
 * Files that need the stand-in bank or the CLI share one process: to make the keys of the bank, and
 * to load the CLI, takes long in each.
 */
const BANKS = [
  'test/*cli*.test.ts',
  'test/api/audits/audit.test.ts',
  'test/export.test.ts',
  'test/operator/*.test.ts',
  'test/people/{access-mails,reset-factors}.test.ts',
  'test/versions/diff.test.ts',
  'test/bank/*.test.ts',
  'test/api/banks/*.test.ts',
  'test/journeys/bank.test.ts',
  'test/faults/bank.test.ts',
  'test/providers/bacen*.test.ts',
  'test/providers/conformance.test.ts',
  'src/provider/bacen/*.test.ts',
]
/** More than small machines have cores: a process of tests waits half of its time. */
const AT_ONCE = 5
/** Where Linux keeps files in memory, and how much of it the databases of the tests may take. */
const MEMORY = '/dev/shm'
const MEMORY_BYTES = 2 * 1024 ** 3
const TIMES = new URL('support/times.ts', import.meta.url).href
/** What writes all statements of the tests into the file TEST_STATEMENTS, for other checks. */
const RECORDER = new URL('support/recorded-statements.ts', import.meta.url).href

/** `--long` runs what `npm test` has no time for, all of it, or the files and folders that follow. */
const isLong = process.argv[2] === '--long'
if (isLong) process.env.TEST_LONG = '1'

/**
 * Starts one PostgreSQL for the whole run, migrates a template, and lets every test file clone it.
 * Losing this database in a power cut costs nothing, so it need not wait for the disk.
 */
const dataDir = mkdtempSync(join(placeOfData(), 'vintem-test-'))
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '400',
  max_wal_size: '256MB',
  // The test of budgets reads back what it has written, while others write much more.
  wal_keep_size: '128MB',
  // To start workers takes longer than to read the few rows of a test.
  max_parallel_workers_per_gather: '0',
}
// Every file is a process, and many start others: what is compiled here they need not compile.
const compiled = join(dataDir, 'compiled')
enableCompileCache(compiled)
const [embedded] = await Promise.all([
  startEmbedded({ dataDir, settings }),
  import('../src/service.ts'),
  import('../src/worker/worker.ts'),
])
flushCompileCache()
// What is in memory does not go by itself if somebody stops the tests.
process.on('exit', () => rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 }))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1))
let failed = true
try {
  await makeTemplate(embedded.url)
  failed = !(await (process.env.CITUS_URL ? runOnCitus : runTests)(embedded.url))
} finally {
  await embedded.stop()
}
process.exit(failed ? 1 : 0)

/**
 * A clone of the template is hundreds of files. On a disk, to create and remove them takes longer
 * than most tests, so they are in memory if there is enough of it.
 */
function placeOfData(): string {
  if (!existsSync(MEMORY)) return tmpdir()
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize >= MEMORY_BYTES && freemem() >= 2 * MEMORY_BYTES ? MEMORY : tmpdir()
}

async function makeTemplate(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('create database template_vintem')
  await shortenSignIn(client)
  await client.end()
  const template = new URL(url)
  template.pathname = '/template_vintem'
  await migrate(template.href)
}

/** The tests open thousands of connections, each of which proves the same password. */
async function shortenSignIn(client: pg.Client): Promise<void> {
  await client.query('set scram_iterations = 1')
  const [user, password] = [client.user, client.password].map((text) => text ?? '')
  const name = client.escapeIdentifier(user!)
  await client.query(`alter role ${name} password ${client.escapeLiteral(password!)}`)
}

function filesToRun(): string[] {
  if (isLong) return longFiles(process.argv.slice(3)).map((file) => resolve(file))
  const asked = process.argv.slice(2)
  if (asked.length > 0) return asked.map((file) => resolve(file))
  const all = new Set(globSync(ALL).sort()).difference(new Set(globSync(LONG)))
  const find = (patterns: string[]) =>
    all.intersection(new Set(patterns.flatMap((pattern) => globSync(pattern).sort())))
  const banks = find(BANKS)
  const alone = find(ALONE).difference(banks)
  const browser = find([BROWSER])
  const lengthy = find(LENGTHY).difference(alone).difference(banks)
  const named = [alone, banks, browser, lengthy]
  const others = named.reduce((left, some) => left.difference(some), all)
  for (const file of unseen()) browser.delete(file)
  // The longest processes begin, so that none runs alone at the end.
  return [
    ...shared('others', [...others], SHARING),
    // A browser takes seconds to start.
    share('browser', [...browser]),
    share('banks', [...banks]),
    ...shared('lengthy', [...lengthy], SHARING_LENGTHY),
    ...[...alone].map((file) => resolve(file)),
  ]
}

/** Files of which `npm test` leaves out a part or all. */
function longFiles(folders: string[]): string[] {
  const whole = new Set(globSync(LONG))
  const isPartly = (file: string) => /from '.*\/support\/long\.ts'/.test(readFileSync(file, 'utf8'))
  const found = globSync(ALL).filter((file) => whole.has(file) || isPartly(file))
  const isAsked = (file: string) =>
    folders.some((folder) => file === folder || file.startsWith(`${folder}/`))
  return found.filter((file) => folders.length === 0 || isAsked(file)).sort()
}

/** Without a browser, the files that need one are left out, but not in CI: it has to have one. */
function unseen(): string[] {
  if (findChromium() !== null) return []
  if (process.env.CI) throw new Error(NO_BROWSER)
  const files = globSync(BROWSER)
  console.warn(`\n${NO_BROWSER}\n${files.length} files of tests in a browser are left out.\n`)
  return files
}

/** Files that run the given ones, about as many each. */
function shared(name: string, files: string[], count: number): string[] {
  return Array.from({ length: count }, (_, n) =>
    share(
      `${name}-${n}`,
      files.filter((_, i) => i % count === n),
    ),
  )
}

/** Writes a file that runs others one after the other, and what they have opened ends with each. */
function share(name: string, files: string[]): string {
  const path = join(dataDir, `shared-${name}.test.mjs`)
  const lines = files.map((file) => {
    const [name, url] = [file, pathToFileURL(resolve(file)).href].map((text) =>
      JSON.stringify(text),
    )
    return `test(${name}, () => (beginFile(${name}), import(${url})))\n`
  })
  const imports = `import { writeFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { beginFile } from ${JSON.stringify(TIMES)}
after(() => writeFileSync(${JSON.stringify(`${path}.done`)}, ''))
`
  writeFileSync(path, `${imports}${lines.join('')}`)
  return path
}

/** The reporter may lose the last results of a process, so each says itself that it has run all. */
function requireDone(files: string[]): boolean {
  const cut = files.filter((file) => file.startsWith(dataDir) && !existsSync(`${file}.done`))
  if (cut.length > 0) console.error(`These have not run to their end: ${cut.join(', ')}`)
  return cut.length === 0
}

/** Tests that ask for an empty database get one of plain PostgreSQL. */
async function runOnCitus(url: string): Promise<boolean> {
  const cluster = await makeCitusTemplate(process.env.CITUS_URL!)
  process.env.VINTEM_TEST_CITUS = JSON.stringify(cluster)
  try {
    return await runTests(url)
  } finally {
    await dropCitusTemplate(cluster)
  }
}

async function runTests(url: string): Promise<boolean> {
  process.env.VINTEM_TEST_DATABASE = url
  process.env.NODE_COMPILE_CACHE = compiled
  if (process.env.TEST_TIMES) process.env.VINTEM_TEST_TIMES = join(dataDir, 'times')
  // What a test that failed has left open must not keep the others from being reported.
  const files = filesToRun()
  const isInstalling = files.some((file) => file.startsWith(resolve(ECOSYSTEM)))
  const timeout = Number(process.env.TEST_TIMEOUT_MS ?? (isInstalling ? 3_600_000 : 600_000))
  const execArgv = ['--import', TIMES]
  if (process.env.TEST_STATEMENTS) execArgv.push('--import', RECORDER)
  const events = run({ files, concurrency: AT_ONCE, timeout, forceExit: true, execArgv })
  let isGood = false
  events.on('test:summary', ({ file, success }) => {
    if (file === undefined) isGood = success
  })
  const report = events.compose(spec)
  report.pipe(process.stdout)
  await once(report, 'end')
  if (process.env.VINTEM_TEST_TIMES) printTimes(process.env.VINTEM_TEST_TIMES)
  return requireDone(files) && isGood
}

/** Prints how many seconds of one core each file has used, and PostgreSQL for all of them. */
function printTimes(path: string): void {
  const rows = readFileSync(path, 'utf8').split('\n').slice(0, -1)
  const postmaster = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')
  rows.push(`${(cpuBelow_ms(Number.parseInt(postmaster, 10)) / 1000).toFixed(1)}\tPostgreSQL`)
  const sum = rows.reduce((sum, row) => sum + Number.parseFloat(row), 0)
  rows.push(`${sum.toFixed(1)}\tin all`)
  rows.sort((one, other) => Number.parseFloat(one) - Number.parseFloat(other))
  console.log(rows.map((row) => row.replace('\t', ' s  ')).join('\n'))
}
