import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/**
 * `npm run test:places [file …]` runs all tests, or some, with two places: the people in the first,
 * the companies in the second. A test that starts a server with a database of its own gives it one
 * place.
 */
const RUN = join(import.meta.dirname, '../run.ts')
const { status } = spawnSync(process.execPath, [RUN, ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, TEST_PLACES: '2', TEST_TIMEOUT_MS: '3600000' },
})
process.exit(status ?? 1)
