import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { LAST_KNOWN } from '../../src/db/migrate.ts'
import { SECRET_KEY, type Several, startSeveral } from '../processes/several.ts'
import { startSteadyLoad } from '../processes/steady-load.ts'
import { runIn } from '../support/cli.ts'
import { readSandbox, temporaryFolder } from '../support/process.ts'
import { databaseUrlOf, NO_HISTORY, unpack } from '../support/releases.ts'
import { until } from '../support/until.ts'
import { report } from './figures.ts'

/** `RESTARTS=100 node test/run.ts --long test/faults/restart.long.test.ts` */
const RESTARTS = Number(process.env.RESTARTS ?? 20)

/** Of the version that comes next. */
const next = (after: number, name: string) =>
  `migrations/${String(LAST_KNOWN + after).padStart(4, '0')}_${name}.sql`

/** Resolves when so many restarts are over. */
const untilOver = (server: Several, times: number) =>
  until(`restart ${times} is over`, () => {
    const over = server.lines().filter(({ msg }) => msg === 'all processes are replaced')
    return over.length >= times
  })

test(`${RESTARTS} restarts under load refuse nothing and reset nothing`, async (t) => {
  const DATA_DIR = join(temporaryFolder(), 'data')
  const server = await startSeveral({ DATA_DIR })
  const { apiKey } = readSandbox(DATA_DIR)
  const load = startSteadyLoad(server.url, apiKey, 4)
  const began_ms = performance.now()
  for (let n = 1; n <= RESTARTS; n++) {
    server.child.kill('SIGHUP')
    await untilOver(server, n)
  }
  const each_s = (performance.now() - began_ms) / 1000 / RESTARTS
  await load.end()
  const refused = load.failed.filter((text) => /ECONNREFUSED/.test(text)).length
  const unavailable = load.failed.filter((text) => / 5\d\d /.test(text)).length
  const figures = {
    restarts: RESTARTS,
    replaced: server.pids().length - 3,
    answered: load.answered(),
    refused,
    '5xx': unavailable,
    'reset or late': load.failed.length - refused - unavailable,
    'slowest answer, ms': Math.round(load.slowest_ms()),
    'one restart, s': Math.round(each_s * 10) / 10,
  }
  t.diagnostic(JSON.stringify(figures))
  report({
    times: RESTARTS,
    slowest_ms: load.slowest_ms(),
    more: `${figures.answered} requests, ${load.failed.length} refused or reset`,
  })
  assert.deepEqual(load.failed, [])
  assert.equal(figures.replaced, 3 * RESTARTS)
})

test('an upgrade under load runs the new code and its migrations, or changes nothing', async (t) => {
  const folder = await unpack('HEAD')
  if (!folder) return t.skip(NO_HISTORY)
  const DATA_DIR = join(temporaryFolder(), 'data')
  const server = await startSeveral({ DATA_DIR }, folder)
  const { apiKey } = readSandbox(DATA_DIR)
  const load = startSteadyLoad(server.url, apiKey)
  const file = (path: string) => join(folder, path)
  const edit = (path: string, from: string, to: string) => {
    const text = readFileSync(file(path), 'utf8')
    assert.ok(text.includes(from), `${path} has ${from}`)
    writeFileSync(file(path), text.replace(from, to))
  }
  const restart = () =>
    runIn(folder, [file('src/cli/main.ts'), 'restart'], { DATA_DIR, SECRET_KEY })
  /** What all processes answer, each on several connections. */
  const releases = async () => {
    const asked = Array.from({ length: 16 }, () => fetch(`${server.url}/health`))
    const texts = await Promise.all(asked.map(async (reply) => (await reply).text()))
    return [...new Set(texts)]
  }
  const NEXT = ['{"status":"ok","release":"next"}']

  edit('src/http/server.ts', "{ status: 'ok' }", "{ status: 'ok', release: 'next' }")
  writeFileSync(file(next(1, 'next')), 'create table next_release (n int);\n')
  const upgraded = await restart()
  assert.deepEqual(
    [upgraded.code, upgraded.stdout],
    [0, 'All processes are replaced.\n'],
    upgraded.stderr,
  )
  assert.deepEqual(await releases(), NEXT)
  const client = new pg.Client({ connectionString: databaseUrlOf(DATA_DIR) })
  await client.connect()
  await client.query('select from next_release')
  await client.end()

  writeFileSync(file(next(2, 'fails')), 'select 1 / 0;\n')
  const failed = await restart()
  assert.equal(failed.code, 1)
  assert.match(failed.stderr, /_fails/)
  rmSync(file(next(2, 'fails')))

  edit('src/service.ts', 'export type Service', 'export typo Service')
  const broken = await restart()
  assert.equal(broken.code, 1)
  assert.match(broken.stderr, /service\.ts[\s\S]*What is not named above goes on as it was/)

  edit('src/processes/messages.ts', 'PROTOCOL = ', 'PROTOCOL = 1000 + ')
  const other = await restart()
  assert.match(other.stderr, /^This version has another first process. Stop the server/)
  assert.deepEqual(await releases(), NEXT)
  await load.end()
  assert.deepEqual(load.failed, [])
  t.diagnostic(`${load.answered()} requests were answered, none was refused`)
})
