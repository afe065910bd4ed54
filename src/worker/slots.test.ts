import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Uuid } from '../lib/ids.ts'
import { createSlots, type Health, type SlotUser } from './slots.ts'

const HEALTHS: Health[] = ['healthy', 'unknown', 'unhealthy']

const userOf = (company: number, host: number, health: Health): SlotUser => ({
  companyId: `company-${company}` as Uuid,
  host: `host-${host}`,
  health,
})

/** Gives slots to all users that may have one, and returns these users. */
function fill(slots: ReturnType<typeof createSlots>): SlotUser[] {
  const served: SlotUser[] = []
  for (let next = slots.next(); next; next = slots.next()) {
    slots.take(next)
    served.push(next)
  }
  return served
}

test('slow receivers of many companies and hosts leave a quarter of the slots to healthy ones', () => {
  const slots = createSlots()
  for (const health of ['unknown', 'unhealthy'] as const) {
    for (let n = 0; n < 2000; n++) slots.wait(userOf(n % 40, n % 100, health))
  }
  assert.equal(fill(slots).length, 512 + 256)
  for (let n = 0; n < 600; n++) slots.wait(userOf(100 + (n % 10), 200 + n, 'healthy'))
  const healthy = fill(slots).length
  assert.ok(healthy > 200 && healthy < 256, `${healthy}: some stay free for the next company`)
})

test('healthy receivers that stop answering leave slots to the next company', () => {
  for (const hanging of [1, 4, 12, 100]) {
    const slots = createSlots()
    for (let n = 0; n < 40 * 256; n++) slots.wait(userOf(n % hanging, n, 'healthy'))
    const held = Map.groupBy(fill(slots), ({ companyId }) => companyId)
    assert.ok(
      [...held.values()].every(({ length }) => length >= Math.min(256, 1024 / (hanging + 1)) - 1),
    )
    for (let newcomer = 1000; newcomer < 1005; newcomer++) {
      const first = userOf(newcomer, 1, 'unknown')
      slots.wait(first)
      assert.equal(slots.next(), first, `${hanging} companies hang`)
      slots.take(first)
    }
  }
})

test('a company that uses no slot gets one, whoever uses the others', () => {
  for (const health of HEALTHS) {
    const slots = createSlots()
    for (let n = 0; n < 900; n++) slots.wait(userOf(n % 3, 1, health))
    fill(slots)
    const newcomer = userOf(99, 1, health)
    slots.wait(newcomer)
    assert.equal(slots.next(), newcomer, health)
  }
})

test('no company and no host has more slots than its limit', () => {
  for (const [health, max] of [
    ['healthy', 256],
    ['unknown', 64],
    ['unhealthy', 32],
  ] as const) {
    const [ofOne, atOne] = [createSlots(), createSlots()]
    for (let n = 0; n < 500; n++) {
      ofOne.wait(userOf(1, n, health))
      atOne.wait(userOf(n % 5, 1, health))
    }
    assert.equal(fill(ofOne).length, max, health)
    assert.equal(fill(atOne).length, max, health)
  }
})

test('waiting companies get slots one after the other, however many each wants', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 2, maxLength: 6 }),
      (counts) => {
        const slots = createSlots()
        for (const [company, count] of counts.entries()) {
          for (let n = 0; n < count; n++) slots.wait(userOf(company, n, 'unknown'))
        }
        const served = counts.map(() => 0)
        for (let next = slots.next(); next; next = slots.next()) {
          // Each slot is freed at once, so only the order matters.
          slots.take(next)()
          served[Number(next.companyId.split('-')[1])]! += 1
          const waiting = served.filter((count, company) => count < counts[company]!)
          assert.ok(waiting.length < 2 || Math.max(...waiting) - Math.min(...waiting) <= 1)
        }
        assert.deepEqual(served, counts)
      },
    ),
  )
})

test('a freed slot goes to the next user, and a user that no longer waits gets none', () => {
  const slots = createSlots()
  for (let n = 0; n < 65; n++) slots.wait(userOf(1, n, 'unknown'))
  const frees = []
  for (let next = slots.next(); next; next = slots.next()) frees.push(slots.take(next))
  assert.equal(slots.used(), 64)
  frees[0]!()
  const last = slots.next()
  assert.ok(last)
  slots.wait(last)
  slots.cancelWait(last)
  assert.equal(slots.next(), null)
})

test('nobody who waits for a full host is looked at, however many do', () => {
  const slots = createSlots()
  for (let n = 0; n < 32; n++) slots.take(userOf(2, 1, 'unhealthy'))
  slots.take(userOf(1, 2, 'unhealthy'))
  let looks = 0
  for (let n = 0; n < 1000; n++) {
    const user = userOf(1, 1, 'unhealthy')
    const look = () => {
      looks += 1
      return 'host-1'
    }
    slots.wait(Object.defineProperty(user, 'host', { get: look }))
  }
  looks = 0
  assert.equal(slots.next(), null)
  assert.equal(looks, 0)
})

test('whoever waits for a full host is served before others that came later, once it is free', () => {
  const slots = createSlots()
  const [full, other] = [userOf(1, 1, 'unhealthy'), userOf(1, 2, 'unhealthy')]
  const frees = Array.from({ length: 32 }, () => slots.take(userOf(2, 1, 'unhealthy')))
  slots.take(userOf(1, 3, 'unhealthy'))
  slots.wait(full)
  slots.wait(other)
  assert.equal(slots.next(), other)
  assert.equal(slots.next(), null)
  frees[0]!()
  slots.wait(userOf(1, 2, 'unhealthy'))
  assert.equal(slots.next(), full)
})
