import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32, deflateSync, inflateSync } from 'node:zlib'
import fc from 'fast-check'
import { cleanImage } from './clean-image.ts'

const MAX_SIDE = 64
const clean = (bytes: Buffer) => cleanImage(bytes, MAX_SIDE)
const PNG = Buffer.from('89504e470d0a1a0a', 'hex')
const HIDDEN = '<?php hidden <script>hidden</script>'

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  const numbers = Buffer.alloc(8)
  numbers.writeUInt32BE(data.length)
  numbers.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([numbers.subarray(0, 4), body, numbers.subarray(4)])
}

function ihdr(width: number, height: number, depth = 8, colors = 2, interlaced = 0): Buffer {
  const data = Buffer.alloc(13)
  data.writeUInt32BE(width)
  data.writeUInt32BE(height, 4)
  data.set([depth, colors, 0, 0, interlaced], 8)
  return chunk('IHDR', data)
}

const iend = chunk('IEND', Buffer.alloc(0))

type Sample = { width: number; height: number; lines: Buffer; file: Buffer }

/** An RGB image with texts, other frames and something behind its end. */
const pngs: fc.Arbitrary<Sample> = fc
  .record({
    width: fc.integer({ min: 1, max: 8 }),
    height: fc.integer({ min: 1, max: 8 }),
    filter: fc.integer({ min: 0, max: 4 }),
    seed: fc.uint8Array({ minLength: 192, maxLength: 192 }),
    cut: fc.integer({ min: 0, max: 100 }),
  })
  .map(({ width, height, filter, seed, cut }) => {
    const line = 1 + width * 3
    const lines = Buffer.alloc(line * height)
    for (let i = 0; i < lines.length; i++) lines[i] = i % line === 0 ? filter : seed[i % 192]!
    const packed = deflateSync(lines)
    const at = Math.floor((packed.length * cut) / 100)
    const file = Buffer.concat([
      PNG,
      ihdr(width, height),
      chunk('tEXt', Buffer.from(`Comment\0${HIDDEN}`)),
      chunk('eXIf', Buffer.from(HIDDEN)),
      chunk('IDAT', packed.subarray(0, at)),
      chunk('IDAT', Buffer.concat([packed.subarray(at), Buffer.from(HIDDEN)])),
      chunk('zzZz', Buffer.from(HIDDEN)),
      iend,
      Buffer.from(HIDDEN),
    ])
    return { width, height, lines, file }
  })

const segment = (marker: number, data: Buffer | string): Buffer => {
  const bytes = Buffer.from(data as string, 'latin1')
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(bytes.length + 2, 2)
  return Buffer.concat([head, bytes])
}

const frame = (width: number, height: number, colors = 3, marker = 0xc0): Buffer => {
  const data = Buffer.alloc(6 + 3 * colors)
  data[0] = 8
  data.writeUInt16BE(height, 1)
  data.writeUInt16BE(width, 3)
  data[5] = colors
  return segment(marker, data)
}

const TABLES = [segment(0xdb, '\0'.repeat(65)), segment(0xc4, '\0'.repeat(20))]
const SCAN = Buffer.concat([
  segment(0xda, '\x01\x01\0\0\x3f\0'),
  Buffer.from([1, 2, 0xff, 0, 3, 0xff, 0xd0, 4]),
])
const jpegOf = (...parts: Buffer[]): Buffer =>
  Buffer.concat([Buffer.from([0xff, 0xd8]), ...parts, Buffer.from([0xff, 0xd9])])

test('a PNG is rebuilt from its pixels, and nothing hidden is left', async () => {
  await fc.assert(
    fc.asyncProperty(pngs, async ({ width, height, lines, file }) => {
      const cleaned = await clean(file)
      assert.ok(cleaned)
      assert.deepEqual([cleaned.type, cleaned.width, cleaned.height], ['image/png', width, height])
      assert.ok(!cleaned.bytes.includes('hidden'))
      const length = cleaned.bytes.readUInt32BE(33)
      const packed = cleaned.bytes.subarray(41, 41 + length)
      assert.deepEqual(inflateSync(packed), lines)
      assert.deepEqual((await clean(cleaned.bytes))?.bytes, cleaned.bytes, 'the same again')
    }),
    { numRuns: 100 },
  )
})

test('a PNG that is cut off or has a changed byte is refused', async () => {
  await fc.assert(
    fc.asyncProperty(pngs, fc.nat(), fc.integer({ min: 1, max: 255 }), async (png, n, change) => {
      const end = png.file.length - HIDDEN.length
      assert.equal(await clean(png.file.subarray(0, n % end)), null)
      const changed = Buffer.from(png.file)
      changed[n % end]! ^= change
      assert.equal(await clean(changed), null)
    }),
    { numRuns: 100 },
  )
})

test('any bytes are refused or cleaned, and never fail', async () => {
  const starts = [Buffer.alloc(0), PNG, Buffer.from([0xff, 0xd8, 0xff])]
  const parts = fc.array(
    fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      fc.constantFrom(...TABLES, SCAN, frame(9, 9), ihdr(3, 3), iend),
    ),
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...starts), parts, async (start, others) => {
      const cleaned = await clean(Buffer.concat([start, ...others]))
      if (cleaned) assert.deepEqual((await clean(cleaned.bytes))?.bytes, cleaned.bytes)
    }),
    { numRuns: 500 },
  )
})

test('images that would need much more memory than they have bytes are refused', async () => {
  const zeros = chunk('IDAT', deflateSync(Buffer.alloc(1_000_000)))
  assert.equal(await clean(Buffer.concat([PNG, ihdr(8, 8), zeros, iend])), null)
  assert.equal(await clean(Buffer.concat([PNG, ihdr(65, 1), zeros, iend])), null)
  assert.equal(await clean(Buffer.concat([PNG, ihdr(2 ** 31, 2 ** 31), zeros, iend])), null)
  assert.equal(await clean(jpegOf(frame(65, 1), ...TABLES, SCAN)), null)
  const scans = Array.from({ length: 51 }, () => SCAN)
  assert.equal(await clean(jpegOf(frame(8, 8, 3, 0xc2), ...TABLES, ...scans)), null)
})

test('interlaced images and palettes are kept as they are', async () => {
  // 3 × 3 gray pixels have five passes, of lines with 2, 2, 3, 2 and 2, and 4 bytes.
  const size = 15
  const interlaced = (bytes: number) =>
    Buffer.concat([PNG, ihdr(3, 3, 8, 0, 1), chunk('IDAT', deflateSync(Buffer.alloc(bytes))), iend])
  assert.ok(await clean(interlaced(size)))
  assert.equal(await clean(interlaced(size + 1)), null)
  const palette = chunk('PLTE', Buffer.from([1, 2, 3, 4, 5, 6]))
  const transparency = chunk('tRNS', Buffer.from([0, 255]))
  const data = chunk('IDAT', deflateSync(Buffer.from([0, 0b10000000])))
  const indexed = Buffer.concat([PNG, ihdr(2, 1, 1, 3), palette, transparency, data, iend])
  assert.deepEqual((await clean(indexed))?.bytes.includes(palette), true)
  assert.equal(await clean(Buffer.concat([PNG, ihdr(2, 1, 1, 3), data, iend])), null)
})

test('a JPEG is rebuilt from its tables and scans, and nothing hidden is left', async () => {
  const essential = [...TABLES, frame(8, 4), segment(0xdd, '\0\x01'), SCAN]
  const file = Buffer.concat([
    jpegOf(
      segment(0xe0, 'JFIF\0'),
      segment(0xe1, `Exif\0\0${HIDDEN}`),
      segment(0xfe, HIDDEN),
      Buffer.from([0xff, 0xff]),
      ...essential,
    ),
    Buffer.from(HIDDEN),
  ])
  const cleaned = await clean(file)
  assert.deepEqual([cleaned?.type, cleaned?.width, cleaned?.height], ['image/jpeg', 8, 4])
  assert.deepEqual(cleaned?.bytes, jpegOf(...essential))
})

test('a JPEG that browsers do not show, or show in other colors, is refused', async () => {
  const right = [...TABLES, frame(8, 8), SCAN]
  assert.ok(await clean(jpegOf(...right)))
  const wrong = [
    [...TABLES, SCAN],
    [...TABLES, frame(8, 8)],
    [...TABLES, frame(8, 8, 4), SCAN],
    [...TABLES, frame(8, 8, 3, 0xc9), SCAN],
    [...TABLES, frame(8, 8), frame(8, 8), SCAN],
    [segment(0xee, 'Adobe\0\0\0\0\0\0\0'), ...right],
    [segment(0xdc, '\0\x08'), ...right],
  ]
  for (const parts of wrong) assert.equal(await clean(jpegOf(...parts)), null)
  assert.equal(await clean(jpegOf(...right).subarray(0, -2)), null)
})

test('other kinds of files are refused', async () => {
  const others = ['GIF89a', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'RIFF0000WEBP', '%PDF-1.7']
  for (const text of others) assert.equal(await clean(Buffer.from(text)), null)
})
