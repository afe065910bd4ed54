import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Runs the tests of the API with two places: the people in the first, the companies in the second.
 * Some tests look at one database themselves, or at what only one place shows.
 */
const ONE_PLACE = [
  // Start another service with parts of the first.
  'test/api/http/headers.test.ts',
  'test/api/http/idempotency-processes.test.ts',
  // Metrics of several places have the number of the place.
  'test/api/operations/operator.test.ts',
]
const RUN = join(import.meta.dirname, '../run.ts')
const asked = process.argv.slice(2)
const files = asked.length > 0 ? asked : globSync('test/api/**/*.test.ts').sort()
const wanted = files.filter((file) => !ONE_PLACE.includes(file))
const long = asked.length > 0 ? [] : globSync('test/places/*.test.ts').sort()
const { status } = spawnSync(process.execPath, [RUN, ...wanted, ...long], {
  stdio: 'inherit',
  env: { ...process.env, TEST_PLACES: '2', TEST_TIMEOUT_MS: '3600000' },
})
process.exit(status ?? 1)
