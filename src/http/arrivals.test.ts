import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as endOfTick } from 'node:timers/promises'
import fc from 'fast-check'
import { createArrivals } from './arrivals.ts'

/** Slices in which a number of requests are begun. */
function withSlices(most: number) {
  let left = most
  const begun: string[] = []
  const arrivals = createArrivals(() => left <= 0)
  const add = (sender: string, name: string) =>
    arrivals.add(sender, () => {
      left -= 1
      begun.push(name)
    })
  const nextSlice = async () => {
    left = most
    await endOfTick()
  }
  return { begun, add, nextSlice }
}

test('what fits into a slice is begun at once', () => {
  const { begun, add } = withSlices(3)
  for (const name of ['a1', 'a2', 'a3']) add('a', name)
  assert.deepEqual(begun, ['a1', 'a2', 'a3'])
})

test('a sender of one request waits for one request of each other sender only', async () => {
  const { begun, add, nextSlice } = withSlices(2)
  for (let n = 1; n <= 400; n++) add('crowd', `crowd ${n}`)
  add('one', 'one')
  assert.deepEqual(begun, ['crowd 1', 'crowd 2'])
  await nextSlice()
  assert.deepEqual(begun.slice(2), ['crowd 3', 'one'])
})

test('every request is begun once, those of a sender in their order', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 20 }), { maxLength: 5 }),
      fc.integer({ min: 1, max: 5 }),
      async (ticks, most) => {
        const { begun, add, nextSlice } = withSlices(most)
        const sent: string[] = []
        for (const senders of ticks) {
          for (const sender of senders) {
            sent.push(`${sender}${sent.length}`)
            add(sender, sent.at(-1)!)
          }
          await nextSlice()
        }
        while (begun.length < sent.length) await nextSlice()
        assert.deepEqual([...begun].sort(), [...sent].sort())
        for (const sender of ['a', 'b', 'c']) {
          const of = (names: string[]) => names.filter((name) => name.startsWith(sender))
          assert.deepEqual(of(begun), of(sent))
        }
      },
    ),
  ))
