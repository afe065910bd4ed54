import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FREE, spending } from './loop-shares.ts'
import { isOver, nextSlice } from './slices.ts'

/** Uses the event loop for longer than a slice. */
function useSlice(): void {
  isOver()
  while (!isOver());
}

/** Lets requests of these companies wait for a slice together, and each use one. */
async function waitTogether(companies: string[]) {
  let ticks = 0
  let isDone = false
  const count = () => {
    ticks += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const served: { name: string; tick: number }[] = []
  const request = async (name: string) => {
    await nextSlice()
    served.push({ name, tick: ticks })
    await null
    useSlice()
  }
  useSlice()
  await Promise.all(companies.map((name) => spending.run({ ...FREE, name }, () => request(name))))
  isDone = true
  return served
}

test('requests that wait for a slice get one each, and others are served in between', async () => {
  const served = await waitTogether(['a', 'a', 'a', 'a'])
  assert.equal(new Set(served.map(({ tick }) => tick)).size, 4, JSON.stringify(served))
})

test('companies whose requests wait for a slice alternate', async () => {
  const served = await waitTogether(['a', 'a', 'a', 'b', 'c', 'b'])
  assert.deepEqual(
    served.map(({ name }) => name),
    ['a', 'b', 'c', 'a', 'b', 'a'],
  )
})

test('requests are resumed in their order, and who waits later is resumed too', async () => {
  const order: number[] = []
  await Promise.all([1, 2, 3].map((n) => nextSlice().then(() => order.push(n))))
  await nextSlice()
  assert.deepEqual(order, [1, 2, 3])
})
