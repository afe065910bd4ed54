import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createFairQueue, type FairQueue, inSlot, type Owner, type Release } from './fair-queue.ts'

const late = () => new Error('late')
const LONG = { most_ms: 60_000, late }

/** Takes all slots that are free to this owner, and gives what gives them back. */
function takeAll(queue: FairQueue, owner: Owner): Release[] {
  const taken: Release[] = []
  for (;;) {
    const release = queue.tryTake(owner) as Release | null
    if (!release || taken.length === 100) return taken
    taken.push(release)
  }
}

const takenBy = (queue: FairQueue, owners: Owner[]) =>
  owners.map((owner) => takeAll(queue, owner).length)

test('an owner alone gets half of the slots, and each that comes later half of the rest', () => {
  assert.deepEqual(
    takenBy(createFairQueue({ size: 12 }), ['a', 'b', 'c', 'd', 'e']),
    [6, 3, 2, 1, 0],
  )
  assert.deepEqual(takenBy(createFairQueue({ size: 2 }), ['a', 'b']), [1, 1])
  assert.deepEqual(takenBy(createFairQueue({ size: 1 }), ['a', 'b']), [1, 0])
})

test('an owner has no more slots than it may have, however many are free', () => {
  assert.deepEqual(takenBy(createFairQueue({ size: 3, perOwner: 1 }), ['a', 'b', 'c']), [1, 1, 1])
  assert.deepEqual(takenBy(createFairQueue({ perOwner: 2 }), ['a', 'b']), [2, 2])
})

test('what is done for all owners may take every free slot', () => {
  assert.deepEqual(takenBy(createFairQueue({ size: 10 }), [null]), [10])
})

test('a slot is given back also by who fails, and only once', async () => {
  const queue = createFairQueue({ size: 1 })
  const failing = () => Promise.reject(new Error('failed'))
  await assert.rejects(inSlot(queue, 'a', LONG, failing), { message: 'failed' })
  assert.equal(await inSlot(queue, 'a', LONG, async () => 'done'), 'done')
  const first = queue.tryTake('a') as Release
  first()
  first()
  assert.deepEqual(takenBy(queue, ['a', 'b']), [1, 0])
})

test('those that wait are served one owner after the other, each in its own order', async () => {
  const queue = createFairQueue({ size: 1 })
  const first = queue.tryTake('first') as Release
  const served: string[] = []
  const ask = async (owner: string, n: number) => {
    const release = await queue.take(owner)
    served.push(`${owner}${n}`)
    release()
  }
  const all = [ask('a', 1), ask('a', 2), ask('a', 3), ask('b', 1), ask('c', 1), ask('b', 2)]
  assert.equal(queue.waiting(), 6)
  first()
  await Promise.all(all)
  assert.deepEqual(served, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  assert.equal(queue.waiting(), 0)
})

test('nobody overtakes those of the same owner that wait', async () => {
  const queue = createFairQueue({ size: 2, perOwner: 1 })
  const first = queue.tryTake('a') as Release
  const waiting = queue.take('a')
  assert.equal(queue.tryTake('a'), null)
  first()
  assert.equal(typeof (await waiting), 'function')
})

test('who has waited too long is refused and no longer in the way of others', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const queue = createFairQueue({ size: 1 })
  const first = queue.tryTake('a') as Release
  const waiting = inSlot(queue, 'b', { most_ms: 50, late }, async () => {})
  t.mock.timers.tick(50)
  await assert.rejects(waiting, { message: 'late' })
  first()
  assert.ok(queue.tryTake('c'), 'the slot is free')
})

test('too many that wait are refused: of one owner, and of all', () => {
  const queue = createFairQueue({ size: 4, perOwner: 1, waiting: 1, inAll: 3 })
  queue.tryTake('a')
  queue.take('a')
  assert.throws(() => queue.take('a'), { of: 'owner' })
  assert.equal(typeof queue.take('b'), 'function')
  assert.throws(() => queue.take('c'), { of: 'all' })
  assert.ok(queue.take('a', { evenIfFull: true }) instanceof Promise)
})

/** What an owner does next: it takes a slot, or gives back the one that it has longest. */
type Step = { owner: string; gives: boolean }
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({ owner: fc.constantFrom('a', 'b', 'c', 'd'), gives: fc.boolean() }),
  { maxLength: 80 },
)

test('no slot is given twice or lost, and none stays free while somebody may have it', async () => {
  const limits = fc.record({
    size: fc.integer({ min: 1, max: 9 }),
    perOwner: fc.integer({ min: 1, max: 4 }),
  })
  await fc.assert(
    fc.asyncProperty(limits, steps, async ({ size, perOwner }, plan) => {
      const queue = createFairQueue({ size, perOwner })
      const held = new Map<string, Release[]>('abcd'.split('').map((owner) => [owner, []]))
      const waiting = new Map<string, number>()
      const sum = () => [...held.values()].reduce((all, { length }) => all + length, 0)
      const ask = (owner: string) => {
        const taken = queue.take(owner)
        if (!(taken instanceof Promise)) return held.get(owner)!.push(taken)
        waiting.set(owner, (waiting.get(owner) ?? 0) + 1)
        return taken.then((release) => {
          waiting.set(owner, waiting.get(owner)! - 1)
          held.get(owner)!.push(release)
        })
      }
      for (const { owner, gives } of plan) {
        if (gives) held.get(owner)!.shift()?.()
        else ask(owner)
        await Promise.resolve()
        assert.ok(sum() <= size)
        for (const [one, count] of waiting) {
          const own = held.get(one)!.length
          if (count > 0) assert.ok(own >= Math.min(size - sum(), perOwner), `${one} waits in vain`)
        }
      }
      // In the end everything is given back, and everybody who waited has had a slot.
      while (sum() > 0) {
        for (const releases of held.values()) for (const release of releases.splice(0)) release()
        await Promise.resolve()
      }
      assert.ok([...waiting.values()].every((count) => count === 0))
      assert.equal(queue.waiting(), 0)
    }),
  )
})
