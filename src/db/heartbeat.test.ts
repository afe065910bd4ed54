import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createHeartbeat, type Reason, refuseWhileUnresponsive } from './heartbeat.ts'
import type { Pulse } from './probe.ts'

const HOUR_S = 3600

/** A heartbeat whose time the test moves, second by second. */
function startHeartbeat(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const state = { answers: true, isLate: false, asked: 0, connected: false, inDoubt: false }
  const seen = { commits: 0, forgotten: 0 }
  const cuts: number[] = []
  const reasons: Reason[] = []
  const heartbeat = createHeartbeat({
    ask: () => {
      state.asked += 1
      if (!state.answers) return new Promise<Pulse>(() => {})
      return Promise.resolve(state.isLate ? 'unconfirmed' : 'answers')
    },
    isConnected: () => state.connected,
    isInDoubt: () => state.inDoubt,
    lost: () => {
      state.inDoubt = true
    },
    // A commit that nobody confirms.
    settle: () => {
      seen.commits += 1
      return Promise.reject(new Error('canceled'))
    },
    forget: () => {
      seen.forgotten += 1
    },
    cutBefore: (moment_ms) => cuts.push(moment_ms),
    close: async () => {},
  })
  heartbeat.onUnresponsive((reason) => reasons.push(reason))
  t.after(() => heartbeat.close())
  async function pass(ms: number): Promise<void> {
    for (let passed_ms = 0; passed_ms < ms; passed_ms += 50) {
      t.mock.timers.tick(50)
      for (let tick = 0; tick < 10; tick++) await Promise.resolve()
    }
  }
  return { heartbeat, state, seen, cuts, reasons, pass }
}

test('three seconds without an answer end all connections, once, until there is one', async (t) => {
  const { heartbeat, state, seen, cuts, reasons, pass } = startHeartbeat(t)
  Object.assign(state, { connected: true })
  heartbeat.watch()
  await pass(500)
  const began_ms = performance.now()
  state.answers = false
  await pass(3_450)
  assert.deepEqual([cuts.length, heartbeat.isUnresponsive()], [0, false])
  await pass(550)
  assert.deepEqual([cuts.length, reasons, heartbeat.isUnresponsive()], [1, ['silent'], true])
  assert.ok(cuts[0]! >= began_ms, 'those that were open when it was asked')
  state.connected = false
  await pass(4_000)
  assert.deepEqual([cuts.length, reasons.length], [2, 1], 'nobody is refused again')
  state.answers = true
  await pass(5_000)
  assert.equal(heartbeat.isUnresponsive(), false, 'it answers again')
  const { asked } = state
  await pass(10_000)
  assert.equal(state.asked, asked, 'and is left alone')
  assert.equal(seen.forgotten, 1, 'what comes back later may be another')
})

test('however long a statement takes, nothing is cut while the database answers', async (t) => {
  const { heartbeat, state, cuts, pass } = startHeartbeat(t)
  state.connected = true
  heartbeat.watch()
  await pass(HOUR_S * 100)
  assert.deepEqual([cuts, heartbeat.isUnresponsive()], [[], false])
  assert.ok(state.asked >= HOUR_S / 20, 'the database was asked all the while')
})

test('while there is no connection, nothing is asked', async (t) => {
  const { heartbeat, state, pass } = startHeartbeat(t)
  for (let i = 0; i < 10; i++) {
    heartbeat.watch()
    await pass(1_000)
  }
  assert.equal(state.asked, 0)
})

test('a process that gets little of the processor does not take the database for unresponsive', async (t) => {
  const { heartbeat, state, cuts, pass } = startHeartbeat(t)
  Object.assign(state, { answers: false, connected: true })
  heartbeat.watch()
  await pass(50)
  // A minute of real time passes, in which it runs only five times.
  for (let n = 0; n < 5; n++) {
    t.mock.timers.tick(12_000)
    for (let tick = 0; tick < 10; tick++) await Promise.resolve()
  }
  assert.deepEqual([cuts, heartbeat.isUnresponsive()], [[], false])
})

test('a doubt is asked about until it is over, and refuses nothing at first', async (t) => {
  const { heartbeat, state, seen, cuts, reasons, pass } = startHeartbeat(t)
  heartbeat.watch()
  state.inDoubt = true
  await pass(3_000)
  assert.equal(heartbeat.isUnresponsive(), false)
  assert.ok(state.asked > 1 && seen.commits > 1, 'a commit that fails is tried again')
  state.inDoubt = false
  await pass(3_000)
  const { commits } = seen
  await pass(3_000)
  assert.deepEqual([seen.commits, cuts, reasons], [commits, [], []])
})

test('commits that are late are a doubt, and refuse all requests until that is over', async (t) => {
  const { heartbeat, state, cuts, reasons, pass } = startHeartbeat(t)
  state.connected = true
  heartbeat.watch()
  await pass(2_000)
  state.isLate = true
  await pass(2_000)
  assert.deepEqual([heartbeat.isUnresponsive(), state.inDoubt], [true, true])
  assert.deepEqual([reasons, cuts], [['unconfirmed'], []], 'no connection is closed')
  state.isLate = false
  await pass(2_000)
  assert.equal(heartbeat.isUnresponsive(), true, 'nobody waits any more, and nothing is confirmed')
  state.inDoubt = false
  assert.equal(heartbeat.isUnresponsive(), false)
})

test('what waits is refused once when the database stops answering, and what is new at once', async () => {
  const state = { isUnresponsive: false }
  const acts: ((reason: Reason) => void)[] = []
  const orRefused = refuseWhileUnresponsive({
    isUnresponsive: () => state.isUnresponsive,
    onUnresponsive: (act) => acts.push(act),
  })
  let begun = 0
  const waitForEver = () => {
    begun += 1
    return new Promise<string>(() => {})
  }
  assert.equal(await orRefused(async () => 'done'), 'done')
  const waiting = [orRefused(waitForEver), orRefused(waitForEver)]
  state.isUnresponsive = true
  for (const act of acts) act('silent')
  for (const one of [...waiting, orRefused(waitForEver)]) {
    await assert.rejects(one, { code: 'service_unavailable', headers: { 'Retry-After': '5' } })
  }
  assert.equal(begun, 2, 'what is new is not begun')
  state.isUnresponsive = false
  assert.equal(await orRefused(async () => 'done'), 'done')
})
