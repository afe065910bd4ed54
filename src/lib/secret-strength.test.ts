import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { secretWeakness } from './secret-strength.ts'

test('random bytes are strong, in binary and in hexadecimal digits', () => {
  for (let n = 0; n < 1_000; n += 1) {
    const secret = randomBytes(32 + (n % 64))
    assert.equal(secretWeakness(secret), null, secret.toString('hex'))
    const digits = Buffer.from(secret.toString('hex'))
    assert.equal(secretWeakness(digits), null, digits.toString())
  }
})

test('one byte, a pattern that repeats, a count and a sentence are weak', () => {
  const count = (step: number) =>
    Buffer.from(Array.from({ length: 32 }, (_, i) => (i * step) % 256))
  const sentence = Buffer.from('My dog is called Rex & I live in Recife!')
  for (const secret of [Buffer.alloc(32), count(1), count(7), count(255), sentence]) {
    assert.notEqual(secretWeakness(secret), null, secret.toString('hex'))
  }
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 8 }), fc.nat(64), (pattern, more) => {
      assert.notEqual(secretWeakness(Buffer.alloc(32 + more, pattern)), null)
    }),
  )
})
