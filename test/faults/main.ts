import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

/**
 * The long version of the tests in this folder, for which `npm test` has no time:
 * `npm run test:faults -- --kills 200 --failovers 50 --operations 5000 --creations 1000 --seed 7`,
 * or KILLS, FAILOVERS, BANK_OPERATIONS, CREATIONS and SEED in the environment.
 */
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: process.env.KILLS ?? '200' },
    failovers: { type: 'string', default: process.env.FAILOVERS ?? '50' },
    seed: { type: 'string', default: process.env.SEED ?? String(randomInt(2 ** 31)) },
    load: { type: 'string', default: process.env.LOAD ?? '250' },
    operations: { type: 'string', default: process.env.BANK_OPERATIONS ?? '5000' },
    creations: { type: 'string', default: process.env.CREATIONS ?? '1000' },
  },
})
const { kills, failovers, seed, load, operations, creations } = values
for (const [name, value] of Object.entries(values)) {
  if (!/^\d{1,10}$/.test(value)) throw new Error(`--${name} must be a whole number`)
}

/** For a kill on a machine that is very busy: the start, the load, and some of the end. */
const MAX_MS = 30_000
const report = join(mkdtempSync(join(tmpdir(), 'vintem-faults-')), 'report.json')
console.log(
  `${kills} kills and ${failovers} failovers with seed ${seed}; the report will be ${report}`,
)
const child = spawn(process.execPath, ['test/run.ts', '--long', 'test/faults'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    KILLS: kills,
    FAILOVERS: failovers,
    SEED: seed,
    LOAD: load,
    REPORT: report,
    BANK_OPERATIONS: operations,
    CREATIONS: creations,
    TEST_TIMEOUT_MS: String(600_000 + (Number(kills) + Number(failovers)) * MAX_MS),
  },
})
child.on('exit', (code) => process.exit(code ?? 1))
