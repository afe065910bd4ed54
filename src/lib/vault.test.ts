import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createVault } from './vault.ts'

const vault = createVault(Buffer.alloc(32, 1))

test('what is sealed opens again in its context and nowhere else', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), fc.string(), (text, here, there) => {
      const envelope = vault.seal(text, here)
      assert.equal(vault.open(envelope, here), text)
      if (here !== there) assert.throws(() => vault.open(envelope, there))
    }),
  )
})

test('a flipped bit anywhere keeps an envelope shut', () => {
  const envelope = vault.seal('52998224725', 'company')
  for (let byte = 0; byte < envelope.length; byte++) {
    const changed = Buffer.from(envelope)
    changed[byte]! ^= 1
    assert.throws(() => vault.open(changed, 'company'))
  }
})

test('the same text is never sealed to the same bytes, but always found by its index', () => {
  assert.notDeepEqual(vault.seal('a', ''), vault.seal('a', ''))
  assert.deepEqual(vault.index('one', '52998224725'), vault.index('one', '52998224725'))
  assert.notDeepEqual(vault.index('one', '52998224725'), vault.index('two', '52998224725'))
})

test('another secret has other keys for everything', () => {
  const other = createVault(Buffer.alloc(32, 2))
  assert.notEqual(other.keyId, vault.keyId)
  assert.notDeepEqual(other.index('one', 'x'), vault.index('one', 'x'))
  assert.notDeepEqual(other.hashKey('x'), vault.hashKey('x'))
  assert.throws(() => other.open(vault.seal('x', ''), ''))
  assert.throws(() => createVault(Buffer.alloc(31)))
})
