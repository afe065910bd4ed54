import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Uuid } from '../lib/ids.ts'
import { type Claimant, createPlaces, type Standing } from './places.ts'

const STANDINGS: Standing[] = ['proven', 'unproven', 'troubled']

const claimant = (company: number, host: number, standing: Standing): Claimant => ({
  ...{ companyId: `company-${company}` as Uuid, host: `host-${host}`, standing },
})

/** Lets all that may go, and gives who went. */
function fill(places: ReturnType<typeof createPlaces>): Claimant[] {
  const gone: Claimant[] = []
  for (let next = places.next(); next; next = places.next()) {
    places.take(next)
    gone.push(next)
  }
  return gone
}

test('slow receivers of many companies and hosts leave a quarter to those that answer', () => {
  const places = createPlaces()
  for (const standing of ['unproven', 'troubled'] as const) {
    for (let n = 0; n < 2000; n++) places.wait(claimant(n % 40, n % 100, standing))
  }
  assert.equal(fill(places).length, 512 + 256)
  for (let n = 0; n < 600; n++) places.wait(claimant(100 + (n % 10), 200 + n, 'proven'))
  const proven = fill(places).length
  assert.ok(proven > 200 && proven < 256, `${proven}: all but what is left to newcomers`)
})

test('receivers that have proven themselves and then hang leave places to whoever comes next', () => {
  for (const hanging of [1, 4, 12, 100]) {
    const places = createPlaces()
    for (let n = 0; n < 40 * 256; n++) places.wait(claimant(n % hanging, n, 'proven'))
    const held = Map.groupBy(fill(places), ({ companyId }) => companyId)
    assert.ok(
      [...held.values()].every(({ length }) => length >= Math.min(256, 1024 / (hanging + 1)) - 1),
    )
    for (let newcomer = 1000; newcomer < 1005; newcomer++) {
      const first = claimant(newcomer, 1, 'unproven')
      places.wait(first)
      assert.equal(places.next(), first, `${hanging} companies hang`)
      places.take(first)
    }
  }
})

test('a company that has nothing under way gets a place, whoever holds the others', () => {
  for (const standing of STANDINGS) {
    const places = createPlaces()
    for (let n = 0; n < 900; n++) places.wait(claimant(n % 3, 1, standing))
    fill(places)
    const newcomer = claimant(99, 1, standing)
    places.wait(newcomer)
    assert.equal(places.next(), newcomer, standing)
  }
})

test('neither a company nor a host has more than its share of a standing', () => {
  for (const [standing, most] of [
    ['proven', 256],
    ['unproven', 64],
    ['troubled', 32],
  ] as const) {
    const [ofOne, atOne] = [createPlaces(), createPlaces()]
    for (let n = 0; n < 500; n++) {
      ofOne.wait(claimant(1, n, standing))
      atOne.wait(claimant(n % 5, 1, standing))
    }
    assert.equal(fill(ofOne).length, most, standing)
    assert.equal(fill(atOne).length, most, standing)
  }
})

test('companies that wait take turns, however much each has', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 2, maxLength: 6 }),
      (counts) => {
        const places = createPlaces()
        for (const [company, count] of counts.entries()) {
          for (let n = 0; n < count; n++) places.wait(claimant(company, n, 'unproven'))
        }
        const served = counts.map(() => 0)
        for (let next = places.next(); next; next = places.next()) {
          // It ends at once: nobody waits for a place, only for its turn.
          places.take(next)()
          served[Number(next.companyId.split('-')[1])]! += 1
          const waiting = served.filter((count, company) => count < counts[company]!)
          assert.ok(waiting.length < 2 || Math.max(...waiting) - Math.min(...waiting) <= 1)
        }
        assert.deepEqual(served, counts)
      },
    ),
  )
})

test('what is freed is there for the next, and who has left is not served', () => {
  const places = createPlaces()
  for (let n = 0; n < 65; n++) places.wait(claimant(1, n, 'unproven'))
  const frees = []
  for (let next = places.next(); next; next = places.next()) frees.push(places.take(next))
  assert.equal(places.used(), 64)
  frees[0]!()
  const last = places.next()
  assert.ok(last)
  places.wait(last)
  places.leave(last)
  assert.equal(places.next(), null)
})
