import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  hashPassword,
  isOutdated,
  isPassword,
  passwordFault,
} from '../../src/core/people/passwords.ts'
import { limitPasswords } from '../../src/core/people/sign-in.ts'
import { ownLimits } from '../../src/lib/limits.ts'

const app = { passwords: limitPasswords(ownLimits, { rateLimit: null }) }
const GOOD = 'trilho-abajur-quintal-47'

test('a password has 12 to 256 characters, counted as people count them', () => {
  assert.equal(passwordFault('xk7#pQ9!vLm', []), 'short')
  assert.equal(passwordFault('xk7#pQ9!vLm2', []), null)
  assert.equal(passwordFault('é🎻ñ7#pQ9!vLm', []), null)
  assert.equal(passwordFault(`${'xk7#pQ9!vLm2'.repeat(21)}abcde`, []), 'long')
})

test('a hash has its parameters, is salted, and is checked with them', async () => {
  const [one, other] = [
    await hashPassword(app, '127.0.0.1', GOOD),
    await hashPassword(app, '127.0.0.1', GOOD),
  ]
  assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
  assert.notEqual(one, other)
  assert.equal(await isPassword(app, '127.0.0.1', GOOD, one), true)
  assert.equal(await isPassword(app, '127.0.0.1', `${GOOD}x`, one), false)
  assert.equal(await isPassword(app, '127.0.0.1', GOOD, null), false)
  assert.equal(isOutdated(one), false)
  assert.equal(isOutdated(one.replace('m=19456', 'm=9728')), true)
})

test('a password typed in another form of Unicode is the same', async () => {
  const stored = await hashPassword(app, '127.0.0.1', 'co\u0301digo-penumbra')
  assert.equal(await isPassword(app, '127.0.0.1', 'c\u00f3digo-penumbra', stored), true)
})

test('a known result of argon2id', async () => {
  const stored =
    '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'
  assert.equal(await isPassword(app, '127.0.0.1', 'password', stored), true)
})

test('hashes are made one at a time for an address, and if many wait, the next is refused', async () => {
  const { hashing } = app.passwords
  const both = [isPassword(app, '127.0.0.1', GOOD, null), isPassword(app, '127.0.0.1', GOOD, null)]
  assert.equal(hashing.waiting(), 1)
  await Promise.all(both)
  const crowded = { passwords: { ...app.passwords, hashing: { ...hashing, waiting: () => 100 } } }
  await assert.rejects(isPassword(crowded, '127.0.0.2', GOOD, null), /Too many people/)
})
