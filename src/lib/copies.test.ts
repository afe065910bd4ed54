import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { answerWith, makeCopy, piecesOf } from './copies.ts'

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

test('pieces are the text, and each is encoded to the same bytes as in the whole', () => {
  const text = fc.string({ unit: 'binary', maxLength: 40 })
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 7 }), (text, length) => {
      const pieces = [...piecesOf(text, length)]
      assert.equal(pieces.join(''), text)
      assert.ok(pieces.every((piece) => piece.length >= 1 && piece.length <= length + 1))
      const encoded = Buffer.concat(pieces.map((piece) => Buffer.from(piece)))
      assert.ok(encoded.equals(Buffer.from(text)))
    }),
  )
})
