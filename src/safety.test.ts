import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { readConfig } from './config.ts'
import { findUnsafe, secretWeakness } from './safety.ts'

const DATA_DIR = mkdtempSync(join(tmpdir(), 'vintem-safety-'))
after(() => rmSync(DATA_DIR, { recursive: true }))
const unsafe = (environment: Record<string, string>) =>
  findUnsafe(readConfig({ DATA_DIR, ...environment }))

test('local mode that other machines can reach is refused, unless it is allowed by name', () => {
  for (const HOST of ['127.0.0.1', '127.1.2.3', '::1', 'localhost']) {
    assert.deepEqual(unsafe({ HOST }), [], HOST)
  }
  for (const HOST of [
    '0.0.0.0',
    '::',
    '0::0',
    '192.168.0.7',
    '10.0.0.1',
    'box.lan',
    '2001:db8::1',
  ]) {
    const PUBLIC_URL = 'http://localhost:3000'
    const [fault, ...others] = unsafe({ HOST, PUBLIC_URL })
    assert.match(fault!, /lets other machines connect.*HOST=127.0.0.1, set DATABASE_URL.*ALLOW=/)
    assert.deepEqual(others, [])
    assert.deepEqual(unsafe({ HOST, PUBLIC_URL, ALLOW: 'exposed-local-mode' }), [])
  }
  for (const PUBLIC_URL of ['https://pix.example.com', 'http://192.168.0.7:3000']) {
    assert.match(
      unsafe({ PUBLIC_URL })[0]!,
      /not an address of this machine alone.*shows its API key/,
    )
    assert.deepEqual(unsafe({ PUBLIC_URL, ALLOW: 'exposed-local-mode' }), [])
  }
})

test('a real installation needs a mail server, TLS and a secret that nobody guesses', () => {
  const good = {
    DATABASE_URL: 'postgres://someone@db.example.com/vintem',
    SECRET_KEY: randomBytes(32).toString('base64'),
    SMTP_URL: 'smtps://mail.example.com',
    PUBLIC_URL: 'https://pix.example.com',
  }
  assert.deepEqual(unsafe(good), [])
  const one = (changed: Record<string, string>, expected: RegExp) => {
    const found = unsafe({ ...good, ...changed })
    assert.equal(found.length, 1)
    assert.match(found[0]!, expected)
  }
  one({ PUBLIC_URL: '' }, /^PUBLIC_URL is missing.*https address.*ALLOW=http/)
  one({ PUBLIC_URL: '', HOST: '10.0.0.1' }, /^PUBLIC_URL is missing/)
  assert.deepEqual(unsafe({ ...good, PUBLIC_URL: '', ALLOW: 'http' }), [])
  one({ SMTP_URL: '' }, /^SMTP_URL is missing.*ALLOW=mail-files/)
  one({ PUBLIC_URL: 'http://pix.example.com' }, /^PUBLIC_URL .* has no TLS.*ALLOW=http/)
  one({ SECRET_KEY: Buffer.alloc(32, 7).toString('base64') }, /^SECRET_KEY repeats few bytes/)
  assert.deepEqual(unsafe({ ...good, SMTP_URL: '', ALLOW: 'mail-files' }), [])
  assert.deepEqual(unsafe({ ...good, PUBLIC_URL: 'http://pix.example.com', ALLOW: 'http' }), [])
  for (const PUBLIC_URL of [
    'http://localhost',
    'http://127.0.0.1:3000',
    'http://127.9.9.9',
    'http://[::1]:3000',
    'https://localhost',
    'https://LOCALHOST.:8443',
  ]) {
    one({ PUBLIC_URL }, /^PUBLIC_URL .* is the payer’s own machine.*ALLOW=http/)
    assert.deepEqual(unsafe({ ...good, PUBLIC_URL, ALLOW: 'http' }), [], PUBLIC_URL)
  }
})

test('a secret that is not base64, and a name that allows nothing, are faults', () => {
  const DATABASE_URL = 'postgres://someone@db.example.com/vintem'
  const SECRET_KEY = 'not base64, but long enough to be taken for 32 bytes of it!'
  assert.throws(
    () => unsafe({ DATABASE_URL, SECRET_KEY }),
    /SECRET_KEY must be at least 32 bytes in/,
  )
  assert.throws(() => unsafe({ ALLOW: 'everything' }), /ALLOW must list names among/)
  assert.throws(() => unsafe({ OPERATOR_PORT: '3000' }), /OPERATOR_PORT must be another port/)
})

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
