import { spawn } from 'node:child_process'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbedded } from '../src/db/embedded.ts'
import { migrate } from '../src/db/migrate.ts'

/**
 * Starts one PostgreSQL for the whole run, migrates a template, and lets every test file clone it.
 * Losing this database in a power cut costs nothing, so it need not wait for the disk.
 */
const dataDir = mkdtempSync(join(tmpdir(), 'vintem-test-'))
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '200',
}
const embedded = await startEmbedded({ dataDir, settings })
let failed = true
try {
  await makeTemplate(embedded.url)
  failed = (await runTests(embedded.url)) !== 0
} finally {
  await embedded.stop()
  rmSync(dataDir, { recursive: true, force: true })
}
process.exit(failed ? 1 : 0)

async function makeTemplate(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('create database template_vintem')
  await client.end()
  const template = new URL(url)
  template.pathname = '/template_vintem'
  await migrate(template.href)
}

function runTests(url: string): Promise<number> {
  const asked = process.argv.slice(2)
  const files =
    asked.length > 0 ? asked : globSync(['test/**/*.test.ts', 'src/**/*.test.ts']).sort()
  const timeout_ms = process.env.TEST_TIMEOUT_MS ?? '240000'
  // Every file is a process, and many start others: what one has compiled the next need not.
  const cached = { NODE_COMPILE_CACHE: join(dataDir, 'compiled') }
  const child = spawn(
    process.execPath,
    ['--test', '--test-concurrency=2', `--test-timeout=${timeout_ms}`, ...files],
    { stdio: 'inherit', env: { ...process.env, ...cached, VINTEM_TEST_DATABASE: url } },
  )
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)))
}
