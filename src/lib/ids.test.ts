import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  fromPublic,
  idOfSuffix,
  lowestIdAt,
  newId,
  packPair,
  suffixOf,
  timeOf,
  toPublic,
  unpackPair,
} from './ids.ts'

test('ids are UUIDv7, unique, and sort in the order they were made', () => {
  const ids = Array.from({ length: 20_000 }, newId)
  assert.equal(new Set(ids).size, ids.length)
  assert.deepEqual([...ids].sort(), ids)
  for (const id of ids.slice(0, 100)) {
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  }
  const at = Number.parseInt(ids[0]!.slice(0, 13).replace('-', ''), 16)
  assert.ok(Math.abs(at - Date.now()) < 5_000, 'the time comes first')
})

test('an id has its time, and is not before the lowest id of that time', () => {
  const id = newId()
  const at = timeOf(id)
  assert.ok(Math.abs(at.getTime() - Date.now()) < 5_000)
  assert.ok(lowestIdAt(at) <= id && id < lowestIdAt(new Date(at.getTime() + 1)))
  assert.deepEqual(timeOf(lowestIdAt(at)), at)
  assert.equal(lowestIdAt(new Date('1969-12-31')), lowestIdAt(new Date(0)), 'no id is older')
})

test('a TypeID is the published encoding of its UUID', () => {
  // The example of the TypeID specification.
  assert.equal(suffixOf('01890a5d-ac96-774b-bcce-b302099a8057'), '01h455vb4pex5vsknk084sn02q')
  assert.equal(suffixOf('00000000-0000-0000-0000-000000000000'), '0'.repeat(26))
  assert.equal(suffixOf('ffffffff-ffff-ffff-ffff-ffffffffffff'), `7${'z'.repeat(25)}`)
})

test('every UUID comes back from its public form, sorted alike', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.uuid(), (a, b) => {
      assert.equal(fromPublic('charge', toPublic('charge', a)), a)
      assert.equal(a < b, suffixOf(a) < suffixOf(b))
      assert.deepEqual(unpackPair(packPair(a, b)), { companyId: a, id: b })
    }),
  )
})

test('what is not an id of the kind is no id', () => {
  const id = newId()
  assert.equal(fromPublic('clnt', toPublic('charge', id)), null)
  assert.equal(idOfSuffix(`8${'0'.repeat(25)}`), null, 'more than 128 bits')
  for (const text of ['', 'charge_', id, 'charge_il', `charge_${suffixOf(id)}0`, 'charge_\0']) {
    assert.equal(fromPublic('charge', text), null)
  }
  fc.assert(
    fc.property(fc.string(), (text) => {
      const found = fromPublic('charge', text)
      return found === null || toPublic('charge', found) === text
    }),
  )
  assert.equal(unpackPair('x'.repeat(42)), null)
})
