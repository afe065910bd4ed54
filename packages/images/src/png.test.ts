import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { drawPng, wordsPerRow } from './png.ts'
import { pixelsOf, readPng } from './read-png.test-support.ts'

const QUIET = 4

const sizes = Array.from({ length: 40 }, (_, version) => 21 + 4 * version)

function draw(size: number, isDark: (x: number, y: number) => boolean): Buffer {
  const modules = new Uint32Array(size * wordsPerRow(size))
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      if (isDark(x, y)) modules[y * wordsPerRow(size) + (x >>> 5)]! |= 1 << (x & 31)
    }
  }
  return drawPng(size, modules)
}

function expected(size: number, isDark: (x: number, y: number) => boolean): Buffer {
  const side = Array.from({ length: size + 2 * QUIET }, (_, at) => at - QUIET)
  const isInside = (at: number) => at >= 0 && at < size
  return pixelsOf(side.map((y) => side.map((x) => isInside(x) && isInside(y) && isDark(x, y))))
}

test('all light, all dark and stripes come out right in every size of QR code', () => {
  const patterns = [
    () => false,
    () => true,
    (x: number) => x % 2 === 0,
    (_: number, y: number) => y % 2 === 0,
  ]
  for (const size of sizes) {
    for (const isDark of patterns) {
      assert.ok(readPng(draw(size, isDark)).equals(expected(size, isDark)), `${size} modules`)
    }
  }
})

test('any modules inflate to exactly their pixels', () => {
  // A seed rather than the modules themselves, so that a failure is short to report.
  fc.assert(
    fc.property(fc.constantFrom(...sizes), fc.integer(), (size, seed) => {
      const isDark = (x: number, y: number) => crc32(`${x},${y}`, seed >>> 0) % 2 === 0
      assert.ok(readPng(draw(size, isDark)).equals(expected(size, isDark)))
    }),
    { numRuns: 60 },
  )
})

test('an image stays as it was when the next one is drawn', () => {
  const dark = draw(57, () => true)
  const copy = Buffer.from(dark)
  draw(57, () => false)
  assert.deepEqual(dark, copy)
})

test('modules that are no QR code are a bug', () => {
  assert.throws(() => drawPng(22, new Uint32Array(22)), /the modules are those of a QR code/)
  assert.throws(() => drawPng(21, new Uint32Array(20)), /the modules are those of a QR code/)
})
