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

test('no two envelopes have the same nonce, however many are sealed', () => {
  const heads = Array.from({ length: 2000 }, () => vault.seal('a', '').toString('hex', 4, 16))
  const others = Array.from({ length: 10 }, () => createVault(Buffer.alloc(32, 1)))
  heads.push(...others.map((one) => one.seal('a', '').toString('hex', 4, 16)))
  assert.equal(new Set(heads).size, heads.length)
})

test('another secret has other keys for everything', () => {
  const other = createVault(Buffer.alloc(32, 2))
  assert.notEqual(other.keyId, vault.keyId)
  assert.notDeepEqual(other.index('one', 'x'), vault.index('one', 'x'))
  assert.notDeepEqual(other.hashKey('x'), vault.hashKey('x'))
  assert.throws(() => other.open(vault.seal('x', ''), ''))
  assert.throws(() => createVault(Buffer.alloc(31)))
})

test('the hash of a one-time code is good for one withdrawal of one company', () => {
  const hash = vault.hashCode('123456', 'company:first')
  assert.deepEqual(vault.hashCode('123456', 'company:first'), hash)
  assert.notDeepEqual(vault.hashCode('123456', 'company:second'), hash)
  assert.notDeepEqual(vault.hashCode('123456', 'other:first'), hash)
  assert.notDeepEqual(vault.hashCode('123457', 'company:first'), hash)
})

test('a fingerprint changes with each part of a request, and with where a part ends', () => {
  const parts = ['POST', '/charge/pix', '2026-08-16', '{"amount":1}']
  const whole = vault.fingerprint(parts)
  assert.deepEqual(vault.fingerprint([...parts]), whole)
  for (const [i, part] of parts.entries()) {
    assert.notDeepEqual(vault.fingerprint(parts.with(i, `${part}x`)), whole, part)
    assert.notDeepEqual(vault.fingerprint(parts.toSpliced(i, 1)), whole, `without ${part}`)
  }
  assert.notDeepEqual(vault.fingerprint(['a', 'bc']), vault.fingerprint(['ab', 'c']))
})

test('a value in an index of one company is not found where company and value are cut elsewhere', () => {
  assert.notDeepEqual(vault.index('a', 'bc'), vault.index('ab', 'c'))
})

test('keys for each use differ: no stored form of a text equals another', () => {
  const text = '123456'
  const forms = [
    vault.index('', text),
    vault.fingerprint(['', text]),
    vault.fingerprint([`:${text}`]),
    vault.hashKey(`:${text}`),
    vault.hashCode(text, ''),
  ].map((form) => form.subarray(0, 16).toString('hex'))
  assert.equal(new Set(forms).size, forms.length)
})

test('a context is good to its last character, however long', () => {
  const context = '0198c8a0-0000-7000-8000-000000000001:answer:order '
  const sealed = vault.seal('x', `${context}1`)
  assert.equal(vault.open(sealed, `${context}1`), 'x')
  assert.throws(() => vault.open(sealed, `${context}2`))
})
