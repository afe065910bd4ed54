import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { answerWith, makeCopy } from './copies.ts'

test('a long text is encoded whole', async () => {
  const text = '💸 olá '.repeat(100_000)
  const { plain, packed } = await makeCopy(text)
  assert.ok(plain.equals(Buffer.from(text)))
  assert.ok(gunzipSync(packed).equals(plain))
  assert.equal((await makeCopy('')).plain.length, 0)
})

test('bytes and their text have one tag, and other bytes another', async () => {
  const [text, bytes, other] = await Promise.all(['olá', Buffer.from('olá'), 'ola'].map(makeCopy))
  assert.equal(text!.tag, bytes!.tag)
  assert.notEqual(text!.tag, other!.tag)
})

test('who has the same copy gets no body, and only who reads gzip gets gzip', async () => {
  const copy = await makeCopy('olá')
  assert.deepEqual(answerWith(copy, { 'if-none-match': `"x", ${copy.tag}` }).body, null)
  assert.equal(answerWith(copy, { 'accept-encoding': 'br, gzip' }).body, copy.packed)
  assert.equal(answerWith(copy, { 'accept-encoding': 'br' }).body, copy.plain)
})
