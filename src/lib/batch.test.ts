import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createBatcher, interleaveByOwner } from './batch.ts'

test('items that arrive while a flush is on its way share the next one', async () => {
  const groups: number[][] = []
  const gates: (() => void)[] = []
  const batch = createBatcher<number, number>(
    async (items) => {
      groups.push(items)
      await new Promise<void>((resolve) => gates.push(resolve))
      return items.map((item) => item * 10)
    },
    { max: 3 },
  )
  async function finishNext(): Promise<void> {
    while (gates.length === 0) await new Promise(setImmediate)
    gates.shift()!()
  }
  const first = batch(1)
  while (gates.length === 0) await new Promise(setImmediate)
  const later = [2, 3, 4, 5].map(batch)
  for (let group = 0; group < 3; group++) await finishNext()
  assert.equal(await first, 10)
  assert.deepEqual(await Promise.all(later), [20, 30, 40, 50])
  assert.deepEqual(groups, [[1], [2, 3, 4], [5]])
  await batch.idle()
})

test('who has many items waiting keeps those of others waiting for one group at most', async () => {
  const groups: string[][] = []
  const gates: (() => void)[] = []
  const batch = createBatcher<string, null>(
    async (items) => {
      groups.push(items)
      await new Promise<void>((resolve) => gates.push(resolve))
      return items.map(() => null)
    },
    { max: 4, ownerOf: (item) => item[0]! },
  )
  const items = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7', 'b1', 'a8', 'c1', 'b2']
  const all = items.map(batch)
  while (groups.length < 3 || gates.length > 0) {
    await new Promise(setImmediate)
    gates.shift()?.()
  }
  await Promise.all(all)
  assert.deepEqual(groups, [
    ['a1', 'b1', 'c1', 'a2'],
    ['b2', 'a3', 'a4', 'a5'],
    ['a6', 'a7', 'a8'],
  ])
})

test('interleaving leaves out no owner, and each keeps its own order', () => {
  const owned = fc.array(fc.record({ owner: fc.constantFrom('a', 'b', 'c'), n: fc.nat() }))
  fc.assert(
    fc.property(owned, (all) => {
      const ordered = interleaveByOwner(all, ({ owner }) => owner)
      assert.equal(ordered.length, all.length)
      for (const name of ['a', 'b', 'c']) {
        const of = (some: typeof all) => some.filter(({ owner }) => owner === name)
        assert.deepEqual(of(ordered), of(all))
        const positions = ordered.flatMap(({ owner }, i) => (owner === name ? [i] : []))
        positions.forEach((position, round) => {
          assert.ok(position < (round + 1) * 3, 'others have at most as many before it')
        })
      }
    }),
  )
})

test('whatever items are bad, they alone fail, and every good one has its own result', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 60 }), async (goods) => {
      const done: number[] = []
      const batch = createBatcher<number, number>(
        async (items) => {
          if (items.some((item) => !goods[item])) throw new Error('a bad row')
          done.push(...items)
          return items.map((item) => -item)
        },
        { max: 16, concurrency: 2 },
      )
      const settled = await Promise.allSettled(goods.map((_, i) => batch(i)))
      settled.forEach((result, i) => {
        assert.equal(result.status === 'fulfilled', goods[i])
        if (result.status === 'fulfilled') assert.equal(result.value, -i)
      })
      assert.deepEqual(
        done.sort((a, b) => a - b),
        goods.flatMap((good, i) => (good ? [i] : [])),
        'each good item is done once',
      )
      await batch.idle()
    }),
  )
})

test('a failure that is not of an item meets the whole group at once, and is not tried again', async () => {
  let tries = 0
  const batch = createBatcher<number, number>(
    async () => {
      tries += 1
      throw new Error('the database is away')
    },
    { max: 100, isItemError: () => false },
  )
  const settled = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => batch(i)))
  assert.ok(settled.every(({ status }) => status === 'rejected'))
  assert.equal(tries, 1)
})
