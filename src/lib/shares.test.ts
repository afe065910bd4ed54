import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createShares } from './shares.ts'

const late = () => new Error('late')
const LONG_MS = 60_000

/** Takes places without waiting, and returns how many were free to this name. */
function takeAll(shares: ReturnType<typeof createShares>, name: string | null): number {
  let taken = 0
  while (taken < 100) {
    const waiting = shares.take(name, 1, late)
    if (waiting) {
      waiting.catch(() => {})
      return taken
    }
    taken += 1
  }
  return taken
}

test('a company alone gets half of the places, others a quarter of the rest and one at least', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const shares = createShares(12)
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((name) => takeAll(shares, name)),
    [6, 2, 1, 1],
  )
})

test('if one place at a time is the rule, a company has one, however many are free', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const shares = createShares(3, 1)
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => takeAll(shares, name)),
    [1, 1, 1],
  )
})

test('a place is given back also by who fails', async () => {
  const shares = createShares(1)
  const failing = () => Promise.reject(new Error('failed'))
  await assert.rejects(shares.during('a', LONG_MS, late, failing), { message: 'failed' })
  assert.equal(await shares.during('a', LONG_MS, late, async () => 'done'), 'done')
})

test('who works for all companies may take every free place', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const shares = createShares(10)
  assert.equal(takeAll(shares, null), 10)
})

test('those that wait are served one company after another, each in its own order', async () => {
  const shares = createShares(1)
  shares.take('first', LONG_MS, late)
  const served: string[] = []
  const ask = (name: string, n: number) =>
    shares.take(name, LONG_MS, late)!.then(() => {
      served.push(`${name}${n}`)
      shares.give(name)
    })
  const all = [ask('a', 1), ask('a', 2), ask('a', 3), ask('b', 1), ask('c', 1), ask('b', 2)]
  shares.give('first')
  await Promise.all(all)
  assert.deepEqual(served, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
})

test('who has waited too long is refused and no longer in the way of others', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const shares = createShares(1)
  shares.take('a', LONG_MS, late)
  const waiting = shares.take('b', 50, late)!
  t.mock.timers.tick(50)
  await assert.rejects(waiting, { message: 'late' })
  shares.give('a')
  assert.equal(shares.take('c', LONG_MS, late), undefined, 'the place is free')
})

/** What a company does next: it takes a place, or gives back the one that it has longest. */
type Step = { name: string; gives: boolean }
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), gives: fc.boolean() }),
  { maxLength: 80 },
)

test('no place is given twice or lost, and none stays free while somebody may have it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 9 }), steps, async (size, plan) => {
      const shares = createShares(size)
      const held = new Map<string, number>()
      const waiting = new Map<string, number>()
      const add = (map: Map<string, number>, name: string, n: number) =>
        map.set(name, (map.get(name) ?? 0) + n)
      const sum = () => [...held.values()].reduce((a, b) => a + b, 0)
      for (const { name, gives } of plan) {
        if (gives) {
          if (!held.get(name)) continue
          add(held, name, -1)
          shares.give(name)
        } else {
          const taken = shares.take(name, LONG_MS, late)
          if (taken) add(waiting, name, 1)
          else add(held, name, 1)
          taken?.then(() => {
            add(waiting, name, -1)
            add(held, name, 1)
          })
        }
        await Promise.resolve()
        assert.ok(sum() <= size)
        const free = size - sum()
        for (const [one, count] of waiting) {
          const own = held.get(one) ?? 0
          if (count > 0) assert.ok(own * 4 >= free, `${one} waits for a free place`)
        }
      }
      // In the end everything is given back, and everybody who waited has had a place.
      for (let some = [...held]; some.some(([, n]) => n > 0); some = [...held]) {
        for (const [name, n] of some) {
          for (let i = 0; i < n; i += 1) {
            add(held, name, -1)
            shares.give(name)
          }
        }
        await Promise.resolve()
      }
      assert.ok([...waiting.values()].every((n) => n === 0))
    }),
  )
})

test('if somebody waits, a place rests after use as often as was asked for', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let now_ms = 0
  t.mock.method(performance, 'now', () => now_ms)
  const shares = createShares(1, 1, 2)
  const begun: string[] = []
  const use = (name: string, ms: number) =>
    shares.during(name, LONG_MS, late, async () => {
      begun.push(name)
      now_ms += ms
    })
  const all = [use('a', 10), use('b', 400), use('c', 1)]
  await all[0]
  assert.deepEqual(begun, ['a'])
  t.mock.timers.tick(19)
  await Promise.resolve()
  assert.deepEqual(begun, ['a'])
  t.mock.timers.tick(1)
  await all[1]
  t.mock.timers.tick(299)
  await Promise.resolve()
  assert.deepEqual(begun, ['a', 'b'], '0.3 s at most')
  t.mock.timers.tick(1)
  await all[2]
  await use('d', 1)
  assert.deepEqual(begun, ['a', 'b', 'c', 'd'], 'without a rest if nobody waits')
})

test('it is forgotten after a second that another company was there', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let now_ms = 0
  t.mock.method(performance, 'now', () => now_ms)
  const shares = createShares(12)
  shares.take('a', LONG_MS, late)
  shares.give('a')
  shares.take('b', LONG_MS, late)
  now_ms += 999
  assert.equal(takeAll(shares, 'b'), 2, 'three of twelve')
  now_ms += 1
  shares.give('b')
  assert.equal(shares.waiting(), 0, 'who waited has the place')
  assert.equal(takeAll(shares, 'b'), 3, 'six of twelve')
})
