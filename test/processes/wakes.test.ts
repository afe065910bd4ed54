import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { inherited, temporaryFolder } from '../support/process.ts'
import { until } from '../support/until.ts'

const PROCESS = join(import.meta.dirname, 'wakes-process.ts')

test('what a process for requests commits wakes the tasks of the worker', async () => {
  const child = spawn(process.execPath, [PROCESS, temporaryFolder()], { env: inherited })
  after(() => child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  const lines = () => output.split('\n')
  for (const name of ['api 1', 'api 2']) {
    await until(`${name} wakes a task`, () => lines().includes(`worker: woken for task of ${name}`))
  }
  await until('writes are known', () => lines().includes('worker: something was written'))
  assert.ok(!/^api \d: (woken|something)/m.test(output), 'no other process is woken')
  child.kill('SIGTERM')
  assert.deepEqual(await once(child, 'exit'), [0, null])
})
