import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachInTurns, takeTurn } from './turns.ts'

/** Counts the turns of the event loop while something is done. */
async function countTurns<T>(act: (turn: () => number) => Promise<T>): Promise<T> {
  let [turns, isDone] = [0, false]
  const count = () => {
    turns += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  try {
    return await act(() => turns)
  } finally {
    isDone = true
  }
}

test('each turn of the event loop has one piece of long work, and companies alternate', async () => {
  const served = await countTurns(async (turn) => {
    const order: { name: string; turn: number }[] = []
    const work = async (name: string) => {
      await takeTurn(name)
      order.push({ name, turn: turn() })
    }
    await Promise.all(['a', 'a', 'a', 'b', 'c', 'b'].map(work))
    return order
  })
  assert.deepEqual(
    served.map(({ name }) => name),
    ['a', 'a', 'b', 'c', 'a', 'b'],
  )
  assert.equal(new Set(served.map(({ turn }) => turn)).size, 6, JSON.stringify(served))
})

test('long lists of two companies are worked on by turns, each in its own order', async (t) => {
  let now_ms = 0
  t.mock.method(performance, 'now', () => now_ms)
  const done: string[] = []
  const work = (name: string) =>
    forEachInTurns(name, [1, 2, 3, 4], (n) => {
      now_ms += 0.5
      done.push(`${name}${n}`)
    })
  await Promise.all([work('a'), work('b')])
  // Two items take as long as a piece may.
  assert.deepEqual(done, ['a1', 'a2', 'b1', 'b2', 'a3', 'a4', 'b3', 'b4'])
})
