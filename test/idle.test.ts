import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { cpuBelow_ms } from '../bench/processor.ts'
import { startServer, temporaryFolder } from './support/process.ts'

/** Of one core, in process and database together. */
const MAX_PERCENT = 1
const WINDOW_MS = 10_000
/** Machines with much to do count more than was used: the best of several windows counts. */
const MAX_WINDOWS = 12

test('an idle service uses less than 1 % of a core, its database included', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const server = await startServer({ DATA_DIR: temporaryFolder() })
  const windows: number[] = []
  while (windows.length < MAX_WINDOWS) {
    const [before_ms, began_ms] = [cpuBelow_ms(server.child.pid!), performance.now()]
    await pause(WINDOW_MS)
    const used_ms = cpuBelow_ms(server.child.pid!) - before_ms
    windows.push((used_ms / (performance.now() - began_ms)) * 100)
    if (windows.at(-1)! < MAX_PERCENT) break
  }
  t.diagnostic(`${windows.map((percent) => percent.toFixed(2)).join(', ')} % of a core`)
  assert.ok(Math.min(...windows) < MAX_PERCENT)
})
