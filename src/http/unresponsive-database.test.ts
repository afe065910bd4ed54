import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { watchDatabase } from './unresponsive-database.ts'

function startWatch(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const acts: (() => void)[] = []
  const database = watchDatabase([
    { isUnresponsive: () => acts.length > 0, onUnresponsive: (act) => acts.push(act) },
  ])
  t.after(() => database.close())
  const refused: string[] = []
  const add = (name: string) => {
    const request = { isOver: false }
    database.add({ isAnswered: () => request.isOver, refuse: () => refused.push(name) })
    return request
  }
  const stopAnswering = () => {
    for (const act of acts) act()
  }
  return { refused, add, stopAnswering }
}

test('requests that wait are refused once when the database stops answering', (t) => {
  const { refused, add, stopAnswering } = startWatch(t)
  const answered = add('answered')
  add('waiting')
  t.mock.timers.tick(10_000)
  add('new')
  answered.isOver = true
  stopAnswering()
  assert.deepEqual(refused, ['waiting', 'new'])
  add('later')
  stopAnswering()
  assert.deepEqual(refused, ['waiting', 'new', 'later'])
})
