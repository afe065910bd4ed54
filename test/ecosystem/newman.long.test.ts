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
const { folder: programs, missing } = install('newman')
const { resolve } = createRequire(join(programs, 'package.json'))

type Execution = {
  item: { name: string }
  response?: { code: number; stream: { data: number[] } }
}

test('newman sends the collection to a fresh sandbox, and every answer is 2xx', {
  skip: missing,
}, async (t) => {
  const { version } = JSON.parse(readFileSync(resolve('newman/package.json'), 'utf8'))
  const { url, key } = await startSandbox()
  const report = join(temporaryFolder(), 'report.json')
  const options = [
    '--env-var',
    `key=${key}`,
    '--reporters',
    'json',
    '--reporter-json-export',
    report,
  ]
  await run(
    process.execPath,
    [resolve('newman/bin/newman.js'), 'run', `${url}/collection.json`, ...options],
    { env: inherited },
  )
  const { executions, failures } = JSON.parse(readFileSync(report, 'utf8')).run
  assert.deepEqual(failures, [])
  const refused = (executions as Execution[])
    .filter(({ response }) => response === undefined || response.code >= 300)
    .map(
      ({ item, response }) =>
        `${item.name}: ${response?.code} ${Buffer.from(response?.stream.data ?? [])}`,
    )
  assert.deepEqual(refused, [])
  assert.equal(executions.length, await countRequests(url))
  t.diagnostic(
    `ECOSYSTEM newman ${version}: ${executions.length} requests of /collection.json, all 2xx`,
  )
})
