import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_APART_MS, watchClock } from './clock-watch.ts'

function scene() {
  const at = { machine_ms: 1_000_000, database_ms: 1_000_000, steady_ms: 0, asked: 0 }
  const reported: boolean[] = []
  const watch = watchClock({
    clock: { now: () => new Date(at.machine_ms) },
    ask: async () => {
      at.asked += 1
      return new Date(at.database_ms)
    },
    steady: () => at.steady_ms,
    onChange: (agrees) => reported.push(agrees),
  })
  const pass = (ms: number) => {
    for (const name of ['machine_ms', 'database_ms', 'steady_ms'] as const) at[name] += ms
  }
  return { at, watch, reported, pass }
}

test('clocks agree up to a few seconds, in both directions', async () => {
  for (const sign of [1, -1]) {
    const { at, watch } = scene()
    at.machine_ms += sign * MAX_APART_MS
    assert.equal(await watch.agrees(), true)
    at.machine_ms += sign * MAX_APART_MS
    assert.equal(await watch.agrees(), false)
    assert.equal(await watch.ahead_s(), (sign * 2 * MAX_APART_MS) / 1000)
    assert.match((await watch.warning())!, /differ: nothing expires until/)
  }
})

test('a jump is seen at once, reported once, and over when the clock is right again', async () => {
  const { at, watch, reported, pass } = scene()
  assert.equal(await watch.agrees(), true)
  at.machine_ms += 3_600_000
  assert.equal(await watch.agrees(), false)
  pass(1)
  assert.equal(await watch.agrees(), false)
  at.machine_ms -= 3_600_000
  assert.equal(await watch.agrees(), true)
  assert.equal(await watch.warning(), null)
  assert.deepEqual(reported, [false, true])
})

test('those who ask at the same time share one question, but none from before a jump', async () => {
  const { at, watch, pass } = scene()
  const all = Array.from({ length: 20 }, () => watch.agrees())
  assert.deepEqual(new Set(await Promise.all(all)), new Set([true]))
  assert.equal(at.asked, 1)
  pass(60_000)
  const early = watch.agrees()
  at.machine_ms += 3_600_000
  const late = [watch.agrees(), watch.agrees()]
  await early
  assert.deepEqual(await Promise.all(late), [false, false])
  assert.equal(at.asked, 3)
})

test('the database is asked now and then only, while nothing jumps', async () => {
  const { at, watch, pass } = scene()
  for (let second = 0; second < 60; second += 1) {
    await watch.agrees()
    pass(1_000)
  }
  assert.equal(at.asked, 6)
})

test('a database whose clock was wrong is believed again as soon as it is right', async () => {
  const { at, watch } = scene()
  at.database_ms += 3_600_000
  assert.equal(await watch.agrees(), false)
  at.database_ms -= 3_600_000
  assert.equal(await watch.agrees(), true)
})

test('the time is that of the database while the clocks differ, without asking it each time', async () => {
  for (const jump_ms of [90_000_000, -90_000_000]) {
    const { at, watch, pass } = scene()
    const now_ms = async () => (await watch.now()).getTime()
    assert.equal(await now_ms(), at.machine_ms)
    at.machine_ms += MAX_APART_MS / 2
    assert.equal(await now_ms(), at.machine_ms, 'a difference that NTP leaves is none')
    at.machine_ms += jump_ms
    for (let second = 0; second < 10; second += 1) {
      assert.equal(await now_ms(), at.database_ms)
      pass(1_000)
    }
    assert.equal(at.asked, 2)
    at.machine_ms -= jump_ms
    assert.equal(await now_ms(), at.machine_ms)
  }
})

test('a jump back is seen as soon as one forward', async () => {
  const { at, watch } = scene()
  assert.equal(await watch.agrees(), true)
  at.machine_ms -= 3_600_000
  assert.equal(await watch.agrees(), false)
})

test('an answer that takes long is no sign of a wrong clock', async () => {
  const clock = { ms: 0 }
  const watch = watchClock({
    clock: { now: () => new Date(clock.ms) },
    ask: async () => {
      const asked = new Date(clock.ms)
      clock.ms += 3 * MAX_APART_MS
      return asked
    },
    steady: () => clock.ms,
    onChange: () => {},
  })
  assert.equal(await watch.agrees(), true)
})
