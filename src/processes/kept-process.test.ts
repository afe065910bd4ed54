import assert from 'node:assert/strict'
import { test } from 'node:test'
import { watchAnswers } from './kept-process.ts'

test('a machine that sleeps for long has missed one answer, not many', async (t) => {
  let [asked, silent] = [0, 0]
  const ask = () => {
    asked += 1
  }
  const onSilence = () => {
    silent += 1
  }
  const watch = watchAnswers(ask, onSilence, 10)
  t.after(watch.end)
  // While it sleeps nothing of this process runs, as here.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
  await new Promise((resolve) => setImmediate(resolve))
  assert.ok(asked <= 1, `it was asked ${asked} times`)
  assert.equal(silent, 0)
})

test('who answers the last question is not silent', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let silent = 0
  const watch = watchAnswers(
    () => {},
    () => {
      silent += 1
    },
  )
  t.mock.timers.tick(60_000)
  watch.answered()
  t.mock.timers.tick(60_000)
  assert.equal(silent, 0)
  t.mock.timers.tick(10_000)
  assert.equal(silent, 1)
  t.mock.timers.tick(600_000)
  assert.equal(silent, 1, 'it is said once')
})
