import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { watchSilence } from './silence.ts'

const HOUR_S = 3600

/** A watch whose time the test moves, second by second. */
function startWatch(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const state = { answers: true, asked: 0, now_ms: 0 }
  const silence = watchSilence(
    async () => {
      state.asked++
      return state.answers
    },
    () => state.now_ms,
  )
  t.after(() => silence.close())
  const refused: string[] = []
  const add = (name: string) => {
    const request = { isOver: false }
    silence.add({ isAnswered: () => request.isOver, refuse: () => refused.push(name) })
    return request
  }
  async function pass(seconds: number): Promise<void> {
    for (let s = 0; s < seconds; s++) {
      state.now_ms += 1000
      t.mock.timers.tick(1000)
      for (let tick = 0; tick < 10; tick++) await Promise.resolve()
    }
  }
  return { silence, state, refused, add, pass }
}

test('requests are refused within ten seconds of a silent database, new ones at once', async (t) => {
  const { silence, state, refused, add, pass } = startWatch(t)
  state.answers = false
  add('first')
  await pass(2)
  add('second')
  await pass(3)
  assert.deepEqual(refused, ['first', 'second'])
  assert.equal(silence.isSilent(), true)
  state.answers = true
  await pass(1)
  assert.equal(silence.isSilent(), false, 'it answers again')
})

test('however long a request waits, it is not refused while the database answers', async (t) => {
  const { silence, state, refused, add, pass } = startWatch(t)
  add('export')
  await pass(HOUR_S)
  assert.deepEqual([refused, silence.isSilent()], [[], false])
  assert.ok(state.asked > HOUR_S / 2, 'the database was asked all the while')
})

test('one missed answer refuses nobody', async (t) => {
  const { state, refused, add, pass } = startWatch(t)
  add('first')
  await pass(2)
  for (let i = 0; i < 10; i++) {
    state.answers = i % 2 === 0
    await pass(1)
  }
  assert.deepEqual(refused, [])
})

test('while requests are answered soon, and when none waits, nothing is asked', async (t) => {
  const { state, add, pass } = startWatch(t)
  for (let i = 0; i < 10; i++) {
    const request = add(`${i}`)
    await pass(1)
    request.isOver = true
  }
  await pass(10)
  assert.equal(state.asked, 0)
})
