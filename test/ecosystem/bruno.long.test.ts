import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { inherited, temporaryFolder } from '../support/process.ts'
import { install } from './installed.ts'
import { countRequests, startSandbox } from './sandbox.ts'

const run = promisify(execFile)
const { folder: programs, missing } = install('bruno')
const require = createRequire(join(programs, 'package.json'))

type Result = {
  name: string
  error: string | null
  response: { status: number | string; data: unknown }
}

test('Bruno imports the collection as its app does, sends it to a fresh sandbox, and every answer is 2xx', {
  skip: missing,
}, async (t) => {
  const { url, key } = await startSandbox()
  // The app and this program have the same two steps: they convert a collection, and write its files.
  const { postmanToBruno } = require('@usebruno/converters')
  const { createCollectionFromBrunoObject } = require('@usebruno/cli/src/utils/collection')
  const { version } = require('@usebruno/cli/package.json')
  const reply = await fetch(`${url}/collection.json`)
  const folder = temporaryFolder()
  const { collection = null, ...rest } = await postmanToBruno(await reply.json())
  await createCollectionFromBrunoObject(collection ?? rest, folder)

  const report = join(temporaryFolder(), 'report.json')
  const options = [
    '--env-var',
    `key=${key}`,
    '--env-var',
    `baseUrl=${url}`,
    '--reporter-json',
    report,
  ]
  await run(
    process.execPath,
    [require.resolve('@usebruno/cli/bin/bru.js'), 'run', '.', '-r', ...options],
    { cwd: folder, env: inherited, maxBuffer: 64 * 1024 * 1024 },
  )
  const [{ results }] = JSON.parse(readFileSync(report, 'utf8')) as [{ results: Result[] }]
  const refused = results
    .filter(({ error, response }) => error !== null || !(Number(response.status) < 300))
    .map(
      ({ name, error, response }) =>
        `${name}: ${error ?? response.status} ${JSON.stringify(response.data)}`,
    )
  assert.deepEqual(refused, [])
  assert.equal(results.length, await countRequests(url))
  t.diagnostic(
    `ECOSYSTEM Bruno ${version}: ${results.length} requests of /collection.json, all 2xx`,
  )
})
