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
    const reply = { sent: false, raw: { destroyed: false }, send: () => refused.push(name) }
    database.add(reply)
    return reply
  }
  const stopAnswering = () => {
    for (const act of acts) act()
  }
  return { refused, add, remove: database.remove, stopAnswering }
}

test('requests that wait are refused once when the database stops answering', (t) => {
  const { refused, add, remove, stopAnswering } = startWatch(t)
  const answered = add('answered')
  remove(add('removed'))
  add('waiting')
  t.mock.timers.tick(10_000)
  add('new')
  answered.sent = true
  stopAnswering()
  assert.deepEqual(refused, ['waiting', 'new'])
  add('later')
  stopAnswering()
  assert.deepEqual(refused, ['waiting', 'new', 'later'])
})
