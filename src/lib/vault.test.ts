import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createVault, type Hashes, isWrappedBy, keyIdOf, keysOf, type Vault } from './vault.ts'

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

const secrets = [1, 2, 3, 4].map((byte) => Buffer.alloc(32, byte))
const idOf = (secret: Buffer): string => keysOf(secret).keyId

/** The vault of a server that has one secret or two, after others were replaced. */
function vaultAfter(former: Buffer[], own: Buffer[], presentId: string): Vault {
  const found = createVault(own[0]!, own[1])
  const formers = former.map((secret, i) => ({
    keyId: idOf(secret),
    hashing: keysOf(secret).hashing(),
    replacedAt: new Date(i * 86_400_000),
  }))
  found.learn(presentId, formers)
  return found
}

test('either secret opens what it has sealed, and only the present one seals', () => {
  const [old, next] = secrets as [Buffer, Buffer]
  const both = vaultAfter([], [old, next], idOf(old))
  const before = both.seal('x', 'here')
  assert.equal(keyIdOf(before), idOf(old))
  both.use(idOf(next))
  const after = both.seal('x', 'here')
  assert.equal(keyIdOf(after), idOf(next))
  for (const one of [before, after]) assert.equal(both.open(one, 'here'), 'x')
  const onlyNew = vaultAfter([old], [next], idOf(next))
  assert.equal(onlyNew.open(after, 'here'), 'x')
  assert.throws(() => onlyNew.open(before, 'here'))
  assert.throws(() => both.use('00000000'))
})

test('a hash is found by its forms after any number of replacements, whenever it was made', () => {
  const hash = (of: Hashes) => of.hashCode('code', 'here')
  // What is stored. When a secret is replaced, it is hashed again, or is not yet.
  let stored = [hash(keysOf(secrets[0]!))]
  for (const [i, next] of secrets.slice(1).entries()) {
    const [former, old] = [secrets.slice(0, i), secrets[i]!]
    const during = vaultAfter([...former, old], [old, next], idOf(next))
    const now = [...stored, hash(during)]
    const again = now.map((one) => during.wrap(one))
    for (const one of [...now, ...again]) {
      assert.ok(during.forms(hash).some((form) => form.equals(one)))
    }
    assert.ok(again.every((one) => isWrappedBy(idOf(next), one)))
    stored = [...again, hash(during)]
    const after = vaultAfter([...former, old], [next], idOf(next))
    for (const one of stored) assert.ok(after.forms(hash).some((form) => form.equals(one)))
  }
})

test('with one secret a hash has one form', () => {
  assert.deepEqual(
    vault.forms((of) => of.hashKey('x')),
    [vault.hashKey('x')],
  )
  const made = vault.fingerprint(['x'])
  assert.deepEqual(vault.formsOf(made), [made])
})

test('a request is recognised across a replacement, and another one is not', () => {
  const [old, next] = secrets as [Buffer, Buffer]
  const stored = keysOf(old).fingerprint(['POST', 'body'])
  const after = vaultAfter([old], [next], idOf(next))
  const [same, other] = [after.fingerprint(['POST', 'body']), after.fingerprint(['POST', 'other'])]
  for (const one of [stored, after.wrap(stored), same]) {
    assert.ok(after.isSameRequest(one, same))
    assert.ok(!after.isSameRequest(one, other))
  }
  assert.deepEqual(after.firstFormOf(same), stored)
})

test('the first secret stays the first, before, during and after a replacement', () => {
  const [old, next] = secrets as [Buffer, Buffer]
  const all = [
    vaultAfter([], [old], idOf(old)),
    vaultAfter([], [old, next], idOf(old)),
    vaultAfter([], [next, old], idOf(old)),
    vaultAfter([old], [old, next], idOf(next)),
    vaultAfter([old], [next], idOf(next)),
  ]
  for (const one of all) assert.equal(one.first.keyId, idOf(old))
  all[1]!.use(idOf(next))
  assert.equal(all[1]!.first.keyId, idOf(old))
})

test('an address of before a replacement works on, and none of later can be made of the former secret', () => {
  const [old, next] = secrets as [Buffer, Buffer]
  const after = vaultAfter([old], [next], idOf(next))
  const [before, later] = [new Date(-1), new Date(3_600_000)]
  assert.ok(after.isTag(keysOf(old).tag('page'), 'page', before))
  assert.ok(!after.isTag(keysOf(old).tag('page'), 'page', later))
  for (const at of [before, later]) assert.ok(after.isTag(after.tag('page'), 'page', at))
  assert.ok(!after.isTag(after.tag('other'), 'page', before))
})
