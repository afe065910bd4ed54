import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Runs the tests on a Citus cluster: the database of each is a distributed schema of its own.
 * CITUS_URL is the address of a database at the coordinator that knows all nodes. With
 * `--statements` the tests run on plain PostgreSQL, and the cluster is only asked whether it takes
 * each of their statements. A file of an earlier run may follow, which is then read instead.
 */
const RUN = join(import.meta.dirname, '../run.ts')
const REPLAY = join(import.meta.dirname, 'statements.ts')

function run(files: string[], env: Record<string, string | undefined>): void {
  const { status } = spawnSync(process.execPath, [RUN, ...files], {
    stdio: 'inherit',
    env: { ...process.env, TEST_TIMEOUT_MS: '3600000', ...env },
  })
  if (status !== 0) process.exit(status ?? 1)
}

if (!process.env.CITUS_URL) {
  console.error('CITUS_URL must be the address of a database at the coordinator of a cluster.')
  process.exit(1)
}
const [first, ...rest] = process.argv.slice(2)
if (first === '--statements') {
  const folder = mkdtempSync(join(tmpdir(), 'vintem-statements-'))
  process.on('exit', () => rmSync(folder, { recursive: true }))
  const path = rest[0] ?? join(folder, 'statements')
  if (!existsSync(path)) run([], { CITUS_URL: undefined, TEST_STATEMENTS: path })
  run([REPLAY], { TEST_STATEMENTS_READ: path })
} else run(process.argv.slice(2), {})
