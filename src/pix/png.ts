import { crc32 } from 'node:zlib'
import { assert } from '../lib/assert.ts'
import { type Code, planBlock } from './deflate.ts'

/*
 * A PNG of a QR code, one bit per pixel and eight pixels per module, so that a module is exactly
 * one byte of a scan line and a row of modules is one scan line repeated eight times.
 *
 * The compressed stream is written by hand because everything in it is known beforehand: a light
 * byte, a dark byte, a match that repeats a scan line, the end. A general compressor spends longer
 * on setting itself up than this spends on the whole image, to find out the same.
 * docs/decisions/0002-qr-images.md has the figures.
 */

const PIXELS = 8
const QUIET = 4
// A scan line starts with the byte that names its filter, 0 for none, then comes the quiet zone.
const LEAD = 1 + QUIET
const LIGHT = 0xff
const DARK = 0x00
// One less than DEFLATE allows, which spares the special case that its longest match is.
const MATCH_MAX = 257
const ADLER_MODULUS = 65521
export const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')
const END = chunk('IEND', Buffer.alloc(0))

/** What all images of one size share. */
type Layout = {
  rowBytes: number
  /** Everything before the first scan line, but for the bits that do not fill a byte yet. */
  head: Buffer
  pending: Code
  dataStart: number
  repeats: Code[]
  end: Code
  /** The checksum contributions of a scan line without any dark module. */
  lightSum: number
  lightWeight: number
}

// Indexed by size, so at most one layout of 200 bytes for each of the 40 QR versions.
const layouts: (Layout | undefined)[] = []

// One image is drawn at a time, so one buffer serves all; the largest symbol needs 11 KB.
const out = { bytes: Buffer.alloc(16_384), at: 0, bits: 0, bitCount: 0, sum: 1, weight: 0 }
const NO_MODULES = new Uint32Array(6)

// By eight modules, the first one lowest and dark ones set: their literals (light is the bit 0,
// dark the bits 1 and 0), how many are dark, and the sum of the dark ones' places.
const LITERALS = new Uint16Array(256)
const DARK_COUNT = new Uint8Array(256)
const DARK_PLACES = new Uint8Array(256)
for (let eight = 0; eight < 256; eight++) {
  for (let place = 0; place < 8; place++) {
    const dark = (eight >>> place) & 1
    LITERALS[eight]! |= dark << (place + DARK_COUNT[eight]!)
    DARK_COUNT[eight]! += dark
    DARK_PLACES[eight]! += dark * place
  }
}

/**
 * Draws a square of modules with its quiet zone around. Each row of modules starts a new word, the
 * first module lowest, dark ones set, and the bits after the last module clear.
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
    // The last group is the rest of the row and the quiet zone: a light module is a 0 bit, so it
    // takes no more than another number of bits.
    push(LITERALS[eight]!, count + (group < last ? 8 : (size & 7) + QUIET))
    dark += count
    darkWeight += count * (layout.rowBytes - LEAD - 8 * group) - DARK_PLACES[eight]!
  }
  for (const match of layout.repeats) push(match.value, match.length)
  addToChecksum(layout, dark, darkWeight)
}

// At most 16 bits at a time: fewer than 16 are waiting, and a number has 32.
function push(value: number, length: number): void {
  out.bits |= value << out.bitCount
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
  // One bit of gray; the zeros that follow are the only compression, filter and order there are.
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
