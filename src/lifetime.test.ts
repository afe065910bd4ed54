import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../test/support/process.ts'
import { readConfig } from './config.ts'
import { createLog } from './lib/log.ts'
import { runUntilEnd } from './lifetime.ts'

test('a start that never ends holds up the end for as long as other steps may', async (t) => {
  const own = process.listeners('uncaughtException')
  const config = readConfig({ DATA_DIR: temporaryFolder(), SHUTDOWN_SECONDS: '5' })
  const exit = t.mock.method(process, 'exit', () => {})
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const never = Promise.withResolvers<void>()
  const end = runUntilEnd({
    config,
    log: createLog('silent'),
    start: () => never.promise,
    report: assert.fail,
  })
  for (const listener of process.listeners('uncaughtException')) {
    if (!own.includes(listener)) process.off('uncaughtException', listener)
  }
  end(0)
  end(0)
  t.mock.timers.tick(19_999)
  assert.equal(exit.mock.callCount(), 0)
  t.mock.timers.tick(1)
  assert.deepEqual(
    exit.mock.calls.map((call) => call.arguments),
    [[1]],
  )
})
