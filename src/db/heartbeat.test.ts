import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createHeartbeat, refuseWhileUnresponsive } from './heartbeat.ts'

const HOUR_S = 3600

/** A heartbeat whose time the test moves, second by second. */
function startHeartbeat(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const state = { answers: true, asked: 0, connected: false, inDoubt: false, commits: 0 }
  const cuts: number[] = []
  let called = 0
  const heartbeat = createHeartbeat({
    answers: () => {
      state.asked += 1
      return state.answers ? Promise.resolve(true) : new Promise<boolean>(() => {})
    },
    isConnected: () => state.connected,
    isInDoubt: () => state.inDoubt,
    // A commit that nobody confirms.
    confirm: () => {
      state.commits += 1
      return new Promise(() => {})
    },
    cutBefore: (moment_ms) => cuts.push(moment_ms),
    close: async () => {},
  })
  heartbeat.onUnresponsive(() => {
    called += 1
  })
  t.after(() => heartbeat.close())
  async function pass(ms: number): Promise<void> {
    for (let passed_ms = 0; passed_ms < ms; passed_ms += 50) {
      t.mock.timers.tick(50)
      for (let tick = 0; tick < 10; tick++) await Promise.resolve()
    }
  }
  return { heartbeat, state, cuts, called: () => called, pass }
}

test('three seconds without an answer end all connections, once, until there is one', async (t) => {
  const { heartbeat, state, cuts, called, pass } = startHeartbeat(t)
  Object.assign(state, { answers: false, connected: true })
  const began_ms = performance.now()
  heartbeat.watch()
  await pass(3_900)
  assert.deepEqual([cuts.length, heartbeat.isUnresponsive()], [0, false])
  await pass(100)
  assert.deepEqual([cuts.length, called(), heartbeat.isUnresponsive()], [1, 1, true])
  assert.ok(cuts[0]! >= began_ms, 'those that were open when it was asked')
  state.connected = false
  await pass(4_000)
  assert.deepEqual([cuts.length, called()], [2, 1], 'it is asked on, and nobody is refused again')
  state.answers = true
  await pass(5_000)
  assert.equal(heartbeat.isUnresponsive(), false, 'it answers again')
  const { asked } = state
  await pass(10_000)
  assert.equal(state.asked, asked, 'and is left alone')
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
  await pass(1_000)
  // A minute of real time passes, in which it runs only five times.
  for (let n = 0; n < 5; n++) {
    t.mock.timers.tick(12_000)
    for (let tick = 0; tick < 10; tick++) await Promise.resolve()
  }
  assert.deepEqual([cuts, heartbeat.isUnresponsive()], [[], false])
})

test('a commit that no standby has confirmed keeps requests out, until one is', async (t) => {
  const { heartbeat, state, cuts, pass } = startHeartbeat(t)
  heartbeat.watch()
  state.inDoubt = true
  assert.equal(heartbeat.isUnresponsive(), true)
  await pass(3_000)
  assert.ok(state.asked > 1, 'it is asked whether it answers')
  assert.equal(state.commits, 1, 'one commit at a time waits to be confirmed')
  state.inDoubt = false
  assert.deepEqual([heartbeat.isUnresponsive(), cuts], [false, []])
})

test('what waits is refused once when the database stops answering, and what is new at once', async () => {
  const state = { isUnresponsive: false }
  const acts: (() => void)[] = []
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
  for (const act of acts) act()
  for (const one of [...waiting, orRefused(waitForEver)]) {
    await assert.rejects(one, { code: 'service_unavailable', headers: { 'Retry-After': '5' } })
  }
  assert.equal(begun, 2, 'what is new is not begun')
  state.isUnresponsive = false
  assert.equal(await orRefused(async () => 'done'), 'done')
})
