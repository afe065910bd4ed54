import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { test } from 'node:test'
import { hookOf, type Lookup } from './lookup.ts'

const addresses = (count: number): LookupAddress[] =>
  Array.from({ length: count }, (_, i) => ({ address: `93.184.216.${i}`, family: 4 }))

const named =
  (found: LookupAddress[]): Lookup =>
  async () =>
    found

/** What a socket that asks for all addresses of a name is given. */
const given = (lookup: Lookup, guarded = true): Promise<LookupAddress[]> =>
  new Promise((resolve, reject) => {
    hookOf(lookup, guarded)('loja.example', { all: true }, (error, found) =>
      error ? reject(error) : resolve(found as LookupAddress[]),
    )
  })

test('a name with many addresses lets us try eight of them, the first ones', async () => {
  assert.deepEqual(await given(named(addresses(8))), addresses(8))
  assert.deepEqual(await given(named(addresses(9))), addresses(8))
  assert.deepEqual(await given(named(addresses(200))), addresses(8))
})

test('a name with one address that is not public is refused, wherever it is among others', async () => {
  const inside = { address: '10.0.0.1', family: 4 }
  for (const at of [0, 4, 8, 20]) {
    const found = addresses(20).toSpliced(at, 0, inside)
    await assert.rejects(given(named(found)), /address not allowed/, String(at))
  }
  assert.deepEqual(await given(named([inside]), false), [inside])
})

test('a name without addresses, or whose servers do not answer, is reported as such', async () => {
  const failing = (code: string) => () => Promise.reject(Object.assign(new Error(), { code }))
  await assert.rejects(given(named([])), /name not found/)
  await assert.rejects(given(failing('ENODATA')), /name not found/)
  await assert.rejects(given(failing('ETIMEOUT')), /name server did not answer/)
})
