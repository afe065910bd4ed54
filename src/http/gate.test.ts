import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { createGate, divideLimits, type GateLimits, type Ticket } from './gate.ts'

function openGate(limits: Partial<GateLimits> = {}) {
  const gate = createGate({ running: 1, waiting: 1, inAll: 10, ...limits })
  return (company: string) => {
    const response = new EventEmitter()
    const request = { ticket: null as Ticket | null, close: () => response.emit('close') }
    gate.enter(company, response as unknown as ServerResponse, (ticket) => {
      request.ticket = ticket
    })
    return request
  }
}

test('a request keeps its slot until its work has ended, also when its client is gone', () => {
  const enter = openGate({ waiting: 0 })
  const first = enter('one')
  first.ticket!.begin()
  first.close()
  assert.throws(() => enter('one'), { code: 'rate_limited' })
  first.ticket!.end()
  assert.ok(enter('one').ticket)
})

test('a request that leaves twice gives back one slot', () => {
  const enter = openGate({ waiting: 0, inAll: 2 })
  const first = enter('one')
  first.ticket!.begin()
  first.ticket!.end()
  first.close()
  first.ticket!.end()
  enter('one')
  assert.throws(() => enter('one'), { code: 'rate_limited' })
  enter('two')
  assert.throws(() => enter('three'), { code: 'service_unavailable' })
})

test('requests that wait begin in order, and one whose client has left is skipped', () => {
  const enter = openGate({ waiting: 3 })
  const [running, gone, second, third] = [enter('x'), enter('x'), enter('x'), enter('x')]
  gone.close()
  assert.deepEqual([second.ticket, third.ticket], [null, null])
  running.close()
  assert.ok(second.ticket)
  assert.equal(third.ticket, null)
  second.close()
  assert.ok(third.ticket)
  assert.equal(gone.ticket, null)
})

test('several processes together let in no more than one would', () => {
  const limits = { running: 64, waiting: 192, inAll: 1000 }
  assert.deepEqual(divideLimits(limits, 1), limits)
  assert.deepEqual(divideLimits(limits, 3), { running: 21, waiting: 64, inAll: 333 })
  const few = { running: 2, waiting: 0, inAll: 3 }
  assert.deepEqual(divideLimits(few, 4), { running: 1, waiting: 0, inAll: 1 })
})

test('a request that rests gives up its slot, and then takes the next that is free', async () => {
  const enter = openGate({ waiting: 0 })
  const resting = enter('one')
  resting.ticket!.begin()
  const { promise, resolve } = Promise.withResolvers<string>()
  const rested = resting.ticket!.rest(() => promise)
  const other = enter('one')
  other.ticket!.begin()
  resolve('there')
  assert.throws(() => enter('one'), { code: 'rate_limited' }, 'the one that comes back waits')
  other.ticket!.end()
  other.close()
  assert.equal(await rested, 'there')
  assert.throws(() => enter('one'), { code: 'rate_limited' })
  resting.ticket!.end()
  resting.close()
  assert.ok(enter('one').ticket)
})

test('a request whose client leaves while it rests takes no slot any more', async () => {
  const enter = openGate({ waiting: 0 })
  const resting = enter('one')
  resting.ticket!.begin()
  const rested = resting.ticket!.rest(
    (closed) => new Promise<void>((resolve) => closed.addEventListener('abort', () => resolve())),
  )
  resting.close()
  await rested
  const other = enter('one')
  assert.ok(other.ticket)
  resting.ticket!.end()
  assert.throws(() => enter('one'), { code: 'rate_limited' }, 'it gives back nothing twice')
})
