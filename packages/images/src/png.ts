import assert from 'node:assert/strict'
import { crc32 } from 'node:zlib'
import { type Code, planBlock } from './deflate.ts'

/*
 * A PNG of a QR code, with one bit per pixel and eight pixels per module. So a module is one byte
 * of a scan line, and a row of modules is one scan line eight times.
 *
 * This code writes the compressed stream itself, because all its parts are known: a light byte, a
 * dark byte, a match that repeats a scan line, the end. The setup of a general compressor takes
 * longer than this whole image. docs/decisions/0002-qr-images.md has the figures.
 */

const PIXELS = 8
const QUIET = 4
// A scan line starts with a byte for its filter, which is 0 for none. The quiet zone follows.
const LEAD = 1 + QUIET
const LIGHT = 0xff
const DARK = 0x00
// One less than DEFLATE allows, because its longest match is a special case.
const MATCH_MAX = 257
const ADLER_MODULUS = 65521
export const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')
const END = chunk('IEND', Buffer.alloc(0))

/** The parts that are equal in all images of one size. */
type Layout = {
  rowBytes: number
  /** All bytes before the first scan line. `pending` has the bits that do not fill a byte yet. */
  head: Buffer
  pending: Code
  dataStart: number
  repeats: Code[]
  end: Code
  /** The checksum contributions of a scan line without any dark module. */
  lightSum: number
  lightWeight: number
}

// By size. There is at most one layout of 200 bytes for each of the 40 QR versions.
const layouts: (Layout | undefined)[] = []

// One image is drawn at a time, so all use one buffer. The largest QR code needs 11 KB.
const out = { bytes: Buffer.alloc(16_384), at: 0, bits: 0, bitCount: 0, sum: 1, weight: 0 }
const NO_MODULES = new Uint32Array(6)

// For each group of eight modules, of which the first is the lowest bit and dark ones are 1: their
// literals (light is the bit 0, dark the bits 1 and 0), how many are dark, and the sum of the
// positions of the dark ones.
const LITERALS = new Uint16Array(256)
const DARK_COUNT = new Uint8Array(256)
const DARK_POSITIONS = new Uint8Array(256)
for (let eight = 0; eight < 256; eight++) {
  for (let position = 0; position < 8; position++) {
    const dark = (eight >>> position) & 1
    LITERALS[eight]! |= dark << (position + DARK_COUNT[eight]!)
    DARK_COUNT[eight]! += dark
    DARK_POSITIONS[eight]! += dark * position
  }
}

/**
 * Draws a square of modules with the quiet zone around it. Each row of modules starts a new word.
 * The first module is the lowest bit, dark modules are 1, and the bits after the last module are 0.
 */
export function drawPng(size: number, modules: Uint32Array): Buffer {
  const words = wordsPerRow(size)
  assert(size % 4 === 1 && modules.length === size * words, 'the modules are those of a QR code')
  const layout = layoutFor(size)
  begin(layout)
  for (let row = 0; row < QUIET; row++) drawRow(layout, size, NO_MODULES, 0)
  for (let row = 0; row < size; row++) drawRow(layout, size, modules, row * words)
  for (let row = 0; row < QUIET; row++) drawRow(layout, size, NO_MODULES, 0)
  return finish(layout)
}

export function wordsPerRow(size: number): number {
  return (size + 31) >>> 5
}

function begin(layout: Layout): void {
  out.bytes.set(layout.head)
  out.at = layout.head.length
  out.bits = layout.pending.value
  out.bitCount = layout.pending.length
  out.sum = 1
  out.weight = 0
}

function drawRow(layout: Layout, size: number, modules: Uint32Array, start: number): void {
  push(1, 2 + QUIET)
  const last = size >>> 3
  let dark = 0
  let darkWeight = 0
  for (let group = 0; group <= last; group++) {
    const eight = (modules[start + (group >>> 2)]! >>> ((group & 3) << 3)) & 0xff
    const count = DARK_COUNT[eight]!
    // The last group is the rest of the row and the quiet zone. A light module is a 0 bit, so only
    // the number of bits differs.
    push(LITERALS[eight]!, count + (group < last ? 8 : (size & 7) + QUIET))
    dark += count
    darkWeight += count * (layout.rowBytes - LEAD - 8 * group) - DARK_POSITIONS[eight]!
  }
  for (const match of layout.repeats) push(match.value, match.length)
  addToChecksum(layout, dark, darkWeight)
}

// Takes at most 16 bits, because up to 15 are pending and a number has 32.
function push(value: number, length: number): void {
  const { bitCount } = out
  out.bits |= value << bitCount
  out.bitCount += length
  if (out.bitCount < 16) return
  out.bytes[out.at++] = out.bits
  out.bytes[out.at++] = out.bits >>> 8
  out.bits >>>= 16
  out.bitCount -= 16
}

/**
 * Adler-32 is two running sums, one of the bytes and one of the first sum after each byte, so the
 * k-th byte from the end counts k times in the second. Eight equal scan lines have a closed form.
 */
function addToChecksum(layout: Layout, dark: number, darkWeight: number): void {
  const sum = layout.lightSum - LIGHT * dark
  const weight = layout.lightWeight - LIGHT * darkWeight
  const firstSums = PIXELS * out.sum + ((PIXELS * (PIXELS - 1)) / 2) * sum
  out.weight = (out.weight + layout.rowBytes * firstSums + PIXELS * weight) % ADLER_MODULUS
  out.sum = (out.sum + PIXELS * sum) % ADLER_MODULUS
}

function finish(layout: Layout): Buffer {
  const { bytes } = out
  push(layout.end.value, layout.end.length)
  for (; out.bitCount > 0; out.bitCount -= 8, out.bits >>>= 8) bytes[out.at++] = out.bits
  const checksumAt = bytes.writeUInt32BE(out.weight * 0x10000 + out.sum, out.at)
  const typeAt = layout.dataStart - 4
  bytes.writeUInt32BE(checksumAt - layout.dataStart, typeAt - 4)
  const endAt = bytes.writeUInt32BE(crc32(bytes.subarray(typeAt, checksumAt)), checksumAt)
  bytes.set(END, endAt)
  return Buffer.from(bytes.subarray(0, endAt + END.length))
}

function layoutFor(size: number): Layout {
  layouts[size] ??= planLayout(size)
  return layouts[size]
}

function planLayout(size: number): Layout {
  const side = size + 2 * QUIET
  const rowBytes = 1 + side
  const block = planBlock([LIGHT, DARK], split((PIXELS - 1) * rowBytes, MATCH_MAX), rowBytes)
  assert(block.literals[0]!.length === 1 && block.literals[0]!.value === 0, 'light is the bit 0')
  assert(
    block.matches.every((match) => match.length <= 16),
    'a match fits one push',
  )
  const start = Buffer.concat([SIGNATURE, imageHeader(side * PIXELS), Buffer.from('\0\0\0\0IDAT')])
  const pending = writeHead(Buffer.concat([start, Buffer.from([0x78, 0x01])]), block.header)
  return {
    rowBytes,
    head: Buffer.from(out.bytes.subarray(0, out.at)),
    pending,
    dataStart: start.length,
    repeats: block.matches,
    end: block.end,
    lightSum: LIGHT * side,
    lightWeight: (LIGHT * side * (side + 1)) / 2,
  }
}

function writeHead(start: Buffer, blockHeader: Code[]): Code {
  out.bytes.set(start)
  out.at = start.length
  out.bits = 0
  out.bitCount = 0
  for (const { value, length } of blockHeader) push(value, length)
  return { value: out.bits, length: out.bitCount }
}

/** As few parts as possible, and as equal as possible, so that none is too short for a match. */
function split(whole: number, max: number): number[] {
  const parts = Math.ceil(whole / max)
  return Array.from({ length: parts }, (_, part) => Math.floor((whole + part) / parts))
}

function imageHeader(side: number): Buffer {
  const data = Buffer.alloc(13)
  data.writeUInt32BE(side, 0)
  data.writeUInt32BE(side, 4)
  // One bit of gray. The zeros that follow choose the ordinary compression, filter and order.
  data[8] = 1
  return chunk('IHDR', data)
}

export function chunk(type: string, data: Buffer): Buffer {
  const bytes = Buffer.alloc(data.length + 12)
  bytes.writeUInt32BE(data.length, 0)
  bytes.write(type, 4, 'latin1')
  bytes.set(data, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length)
  return bytes
}
