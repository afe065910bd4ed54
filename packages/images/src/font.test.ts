import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readInter } from './font.ts'

test('Portuguese is complete in the font', () => {
  const font = readInter()
  const letters = 'áàâãäçéêëíïóôõöúüñ'
  for (const letter of `${letters}${letters.toUpperCase()}ºª&.,-–’“”…0123456789R$`) {
    const glyph = font.glyphOf(letter.codePointAt(0)!)
    assert.ok(glyph && glyph.contours.length > 0, letter)
  }
})
