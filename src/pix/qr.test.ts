import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { encodeQR } from 'qr'
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader'
import { pixelsOf, readPng } from '../../packages/images/src/read-png.test-support.ts'
import { isLong } from '../../test/support/long.ts'
import { dynamicCode } from './brcode.ts'
import { qrDataUrl, qrPng } from './qr.ts'
import vectors from './vectors.test-data.json' with { type: 'json' }

// From the file system, because the package would fetch it from the network.
const wasm = fileURLToPath(import.meta.resolve('zxing-wasm/reader/zxing_reader.wasm'))
prepareZXingModule({ overrides: { wasmBinary: new Uint8Array(readFileSync(wasm)).buffer } })

async function decode(png: Buffer) {
  const found = await readBarcodes(png, { formats: ['QRCode'], maxNumberOfSymbols: 1 })
  assert.equal(found.length, 1, 'the decoder finds one QR code')
  return found[0]!
}

function assertSameAsLibrary(text: string): void {
  const options = { ecc: 'medium', encoding: 'byte', mask: 2, border: 4 } as const
  // Not deepEqual, which would take minutes to print how two pictures differ.
  assert.ok(readPng(qrPng(text)).equals(pixelsOf(encodeQR(text, 'raw', options))), text)
}

/** Texts of one length whose bits all differ sooner or later. */
function randomText(length: number): string {
  return fc.sample(
    fc.string({ unit: 'grapheme-ascii', minLength: length, maxLength: length }),
    1,
  )[0]!
}

// First, because it needs a size of which no flips are known yet.
test('a text beyond ASCII does not change the images of ASCII texts', () => {
  for (const text of [`${'a'.repeat(99)}é`, `b${'a'.repeat(99)}`, 'a'.repeat(100)]) {
    assertSameAsLibrary(text)
  }
})

test('an independent decoder reads every published code, at correction level M', async () => {
  for (const code of Object.values(vectors.goodCodes)) {
    const read = await decode(qrPng(code))
    assert.equal(read.text, code)
    assert.equal(read.ecLevel, 'M')
  }
})

/** How many lengths and sizes are tried: all, or one of so many. */
const STEP = isLong ? 1 : 9

test('an independent decoder reads codes of lengths from 60 to 512', async () => {
  for (let length = 60; length <= 512; length += STEP) {
    // The second image of a length is drawn by differences as far as they are known.
    qrPng(randomText(length))
    const text = randomText(length)
    assert.equal((await decode(qrPng(text))).text, text)
  }
})

test('an independent decoder reads charge after charge of one company', async () => {
  const token = fc.stringMatching(/^[a-z0-9]{45}$/)
  const merchant = { name: 'Padaria Pão', city: 'São Paulo' }
  for (const unique of fc.sample(token, isLong ? 200 : 40)) {
    const code = dynamicCode({ location: `pix.example.com/qr/v2/cob/${unique}`, ...merchant })
    assert.equal((await decode(qrPng(code))).text, code)
  }
})

test('every module is the one that the library draws, for any text in any order', () => {
  const code = fc
    .integer({ min: 1, max: 512 })
    .chain((length) => fc.string({ unit: 'grapheme-ascii', minLength: length, maxLength: length }))
  fc.assert(
    fc.property(fc.array(code, { minLength: 1, maxLength: 4 }), (texts) => {
      for (const text of texts) assertSameAsLibrary(text)
    }),
    { numRuns: 50 },
  )
})

test('every module is right after all flips of a size are known', () => {
  // The longest text of each size, so that all positions and all blocks of it are used.
  const lengths = [
    14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412, 450, 504, 512,
  ]
  for (const length of lengths.filter((_, i) => i % STEP === STEP - 1)) {
    const one = '\0'.repeat(length)
    const other = '\x7f'.repeat(length)
    for (let image = 0; image <= length; image++) qrPng(image % 2 ? one : other)
    for (const text of [one, other, randomText(length), randomText(length)])
      assertSameAsLibrary(text)
  }
})

test('the image of a text does not depend on the texts before it', () => {
  const code = vectors.goodCodes['bcb-manual-dynamic']
  const first = qrDataUrl(code)
  for (let other = 0; other < 20; other++) qrDataUrl(randomText(code.length))
  assert.equal(qrDataUrl(code), first)
})

test('texts beyond ASCII or 512 characters are drawn too', async () => {
  for (const text of [
    'Pão de Açúcar '.repeat(10),
    '東京'.repeat(20),
    'x'.repeat(513),
    'y'.repeat(2331),
  ]) {
    // Texts of the same length, before or after, must not change the image.
    qrPng('a'.repeat(text.length))
    assertSameAsLibrary(text)
    assert.equal((await decode(qrPng(text))).text, text)
    assertSameAsLibrary('b'.repeat(text.length))
  }
})

test('a data URL holds the same PNG', () => {
  const code = vectors.goodCodes['bcb-manual-static']
  const [head, body] = qrDataUrl(code).split(',')
  assert.equal(head, 'data:image/png;base64')
  assert.deepEqual(Buffer.from(body!, 'base64'), qrPng(code))
})

test('an image of a typical code stays below 1.5 KB', () => {
  const location = `pix.example.com/qr/v2/cob/${'a1b2c3d4e'.repeat(5)}`
  const size = qrPng(dynamicCode({ location, name: 'Fulano de Tal', city: 'BRASILIA' })).length
  assert.ok(size < 1500, `${size} bytes`)
})
