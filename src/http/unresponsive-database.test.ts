import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { watchDatabase } from './unresponsive-database.ts'

const HOUR_S = 3600

/** A watch whose time the test moves, second by second. */
function startWatch(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const state = { answers: true, asked: 0, now_ms: 0 }
  const database = watchDatabase(
    async () => {
      state.asked++
      return state.answers
    },
    () => state.now_ms,
  )
  t.after(() => database.close())
  const refused: string[] = []
  const add = (name: string) => {
    const request = { isOver: false }
    database.add({ isAnswered: () => request.isOver, refuse: () => refused.push(name) })
    return request
  }
  async function pass(seconds: number): Promise<void> {
    for (let s = 0; s < seconds; s++) {
      state.now_ms += 1000
      t.mock.timers.tick(1000)
      for (let tick = 0; tick < 10; tick++) await Promise.resolve()
    }
  }
  return { database, state, refused, add, pass }
}

test('requests are refused within ten seconds of an unresponsive database, new ones at once', async (t) => {
  const { database, state, refused, add, pass } = startWatch(t)
  state.answers = false
  add('first')
  await pass(2)
  add('second')
  await pass(3)
  assert.deepEqual(refused, ['first', 'second'])
  assert.equal(database.isUnresponsive(), true)
  state.answers = true
  await pass(1)
  assert.equal(database.isUnresponsive(), false, 'it answers again')
})

test('however long a request waits, it is not refused while the database answers', async (t) => {
  const { database, state, refused, add, pass } = startWatch(t)
  add('export')
  await pass(HOUR_S)
  assert.deepEqual([refused, database.isUnresponsive()], [[], false])
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
