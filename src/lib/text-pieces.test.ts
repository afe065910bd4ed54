import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { piecesOf } from './text-pieces.ts'

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
