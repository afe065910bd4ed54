import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { createRequestSlots, divideLimits, type RequestSlot } from './request-slots.ts'

/** Lets what was promised by now be done. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

function openSlots({ waiting, inAll = 10 }: { waiting: number; inAll?: number }) {
  const enter = createRequestSlots(divideLimits({ running: 1, waiting, inAll }, 1))
  return (company: string) => {
    const response = Object.assign(new EventEmitter(), { destroyed: false })
    const request = {
      slot: null as RequestSlot | null,
      close() {
        response.destroyed = true
        response.emit('close')
      },
    }
    enter(company, response as unknown as ServerResponse, (slot) => {
      request.slot = slot
    })
    return request
  }
}

test('a request keeps its slot until its work has ended, also when its client is gone', async () => {
  const enter = openSlots({ waiting: 0 })
  const first = enter('one')
  const work = Promise.withResolvers<void>()
  const done = first.slot!.during(() => work.promise)
  first.close()
  assert.throws(() => enter('one'), { code: 'rate_limited' })
  work.resolve()
  await done
  assert.ok(enter('one').slot)
})

test('a request whose work has ended keeps its slot until its answer is sent', async () => {
  const enter = openSlots({ waiting: 0, inAll: 3 })
  const first = enter('one')
  await first.slot!.during(async () => {})
  assert.throws(() => enter('one'), { code: 'rate_limited' })
  first.close()
  for (const name of ['one', 'two', 'three']) enter(name)
  assert.throws(() => enter('four'), { code: 'service_unavailable' })
})

test('requests that wait begin in order, and one whose client has left is skipped', async () => {
  const enter = openSlots({ waiting: 3 })
  const [running, gone, second, third] = [enter('x'), enter('x'), enter('x'), enter('x')]
  gone.close()
  assert.deepEqual([second.slot, third.slot], [null, null])
  running.close()
  await settled()
  assert.ok(second.slot)
  assert.equal(third.slot, null)
  second.close()
  await settled()
  assert.ok(third.slot)
  assert.equal(gone.slot, null)
})

test('several processes together let in no more than one would', () => {
  const limits = { running: 64, waiting: 192, inAll: 1000 }
  const whole = { perOwner: 64, waiting: 192, size: 1000, inAll: 1000 }
  assert.deepEqual(divideLimits(limits, 1), whole)
  assert.deepEqual(divideLimits(limits, 3), { perOwner: 21, waiting: 64, size: 333, inAll: 333 })
  const few = { running: 2, waiting: 0, inAll: 3 }
  assert.deepEqual(divideLimits(few, 4), { perOwner: 1, waiting: 0, size: 1, inAll: 1 })
})

test('a request that rests gives up its slot, and then takes the next that is free', async () => {
  const enter = openSlots({ waiting: 0 })
  const resting = enter('one')
  const there = Promise.withResolvers<string>()
  const rested = resting.slot!.during(() => resting.slot!.rest(() => there.promise))
  const other = enter('one')
  there.resolve('there')
  await settled()
  assert.throws(() => enter('one'), { code: 'rate_limited' }, 'the one that comes back waits')
  other.close()
  assert.equal(await rested, 'there')
  assert.throws(() => enter('one'), { code: 'rate_limited' })
  resting.close()
  assert.ok(enter('one').slot)
})

test('a request whose client leaves while it rests takes no slot any more', async () => {
  const enter = openSlots({ waiting: 0 })
  const resting = enter('one')
  const rested = resting.slot!.during(() =>
    resting.slot!.rest(
      (closed) => new Promise<void>((resolve) => closed.addEventListener('abort', () => resolve())),
    ),
  )
  resting.close()
  await rested
  assert.ok(enter('one').slot)
  assert.throws(() => enter('one'), { code: 'rate_limited' }, 'it gives back nothing twice')
})
