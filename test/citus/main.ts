import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/**
 * Runs the tests on a Citus cluster: the database of each is a distributed schema of its own.
 * CITUS_URL is the address of a database at the coordinator that knows all nodes.
 */
const RUN = join(import.meta.dirname, '../run.ts')
if (!process.env.CITUS_URL) {
  console.error('CITUS_URL must be the address of a database at the coordinator of a cluster.')
  process.exit(1)
}
const asked = process.argv.slice(2)
const { status } = spawnSync(process.execPath, [RUN, ...asked], {
  stdio: 'inherit',
  env: { ...process.env, TEST_TIMEOUT_MS: '3600000' },
})
process.exit(status ?? 1)
