import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { inflateSync } from 'node:zlib'

/** A point on an outline, or a control point off the curve. Positive y is up. */
export type Point = { x: number; y: number; isOn: boolean }

/** The outlines of a character and the distance to the next one, in units of the font size. */
export type Glyph = { advance: number; contours: Point[][] }

export type Font = {
  /** Null when the font has no such character. */
  glyphOf(codePoint: number): Glyph | null
}

/**
 * Reads a font file (WOFF 1.0 with TrueType outlines): its characters, their widths and their
 * outlines. Everything else in it, such as kerning and hints, is not read.
 */
export function readFont(file: Buffer): Font {
  const table = readTables(file)
  const [head, loca, glyf, hmtx] = [table('head'), table('loca'), table('glyf'), table('hmtx')]
  const unitsPerEm = head.readUInt16BE(18)
  const hasLongOffsets = head.readInt16BE(50) === 1
  const widths = table('hhea').readUInt16BE(34)
  const find = readCharacters(table('cmap'))
  const offsetOf = (index: number): number =>
    hasLongOffsets ? loca.readUInt32BE(index * 4) : loca.readUInt16BE(index * 2) * 2
  const outlineOf = (index: number): Point[][] => {
    const data = glyf.subarray(offsetOf(index), offsetOf(index + 1))
    return data.length === 0 ? [] : readOutline(data, outlineOf)
  }
  const glyphs = new Map<number, Glyph | null>()

  function read(codePoint: number): Glyph | null {
    const index = find(codePoint)
    if (index === 0) return null
    const advance = hmtx.readUInt16BE(Math.min(index, widths - 1) * 4) / unitsPerEm
    const contours = outlineOf(index).map((points) =>
      points.map(({ x, y, isOn }) => ({ x: x / unitsPerEm, y: y / unitsPerEm, isOn })),
    )
    return { advance, contours }
  }
  return {
    glyphOf(codePoint) {
      const known = glyphs.get(codePoint)
      if (known !== undefined) return known
      const glyph = read(codePoint)
      // Cache only characters that the font has, because there is no limit to the others.
      if (glyph) glyphs.set(codePoint, glyph)
      return glyph
    },
  }
}

function readTables(file: Buffer): (name: string) => Buffer {
  assert(file.toString('latin1', 0, 4) === 'wOFF', 'a font is a WOFF file')
  const tables = new Map<string, Buffer>()
  for (let i = 0; i < file.readUInt16BE(12); i++) {
    const entry = 44 + i * 20
    const [start, packed, size] = [4, 8, 12].map((at) => file.readUInt32BE(entry + at))
    const data = file.subarray(start!, start! + packed!)
    const plain = packed! < size! ? inflateSync(data) : data
    tables.set(file.toString('latin1', entry, entry + 4), plain)
  }
  return (name) => {
    const found = tables.get(name)
    assert(found, 'a font has the tables that outlines need')
    return found
  }
}

/** The index of the glyph of a character, 0 for none, from a table of segments (format 4). */
function readCharacters(cmap: Buffer): (codePoint: number) => number {
  const starts = Array.from({ length: cmap.readUInt16BE(2) }, (_, i) =>
    cmap.readUInt32BE(8 + i * 8),
  )
  const start = starts.find((at) => cmap.readUInt16BE(at) === 4)
  assert(start !== undefined, 'a font has characters by segments')
  const segments = cmap.readUInt16BE(start + 6) / 2
  const ends = start + 14
  const [from, deltas, ranges] = [1, 2, 3].map((part) => ends + part * segments * 2 + 2)
  return (codePoint) => {
    for (let i = 0; i < segments; i++) {
      if (codePoint > cmap.readUInt16BE(ends + i * 2)) continue
      const first = cmap.readUInt16BE(from! + i * 2)
      if (codePoint < first) return 0
      const delta = cmap.readUInt16BE(deltas! + i * 2)
      const range = cmap.readUInt16BE(ranges! + i * 2)
      if (range === 0) return (codePoint + delta) & 0xffff
      const index = cmap.readUInt16BE(ranges! + i * 2 + range + (codePoint - first) * 2)
      return index === 0 ? 0 : (index + delta) & 0xffff
    }
    return 0
  }
}

function readOutline(data: Buffer, outlineOf: (index: number) => Point[][]): Point[][] {
  const count = data.readInt16BE(0)
  return count < 0 ? readParts(data, outlineOf) : readContours(data, count)
}

const [ON_CURVE, X_BYTE, Y_BYTE, REPEAT, X_SAME, Y_SAME] = [1, 2, 4, 8, 16, 32] as const

function readContours(data: Buffer, count: number): Point[][] {
  const ends = Array.from({ length: count }, (_, i) => data.readUInt16BE(10 + i * 2))
  const total = (ends.at(-1) ?? -1) + 1
  let at = 10 + count * 2
  at += 2 + data.readUInt16BE(at)
  const flags: number[] = []
  while (flags.length < total) {
    const flag = data[at++]!
    const repeats = flag & REPEAT ? data[at++]! : 0
    for (let i = 0; i <= repeats; i++) flags.push(flag)
  }
  const xs = readCoordinates(data, at, flags, X_BYTE, X_SAME)
  const ys = readCoordinates(data, xs.end, flags, Y_BYTE, Y_SAME)
  const points = flags.map((flag, i) => ({
    x: xs.coordinates[i]!,
    y: ys.coordinates[i]!,
    isOn: (flag & ON_CURVE) !== 0,
  }))
  return ends.map((end, i) => points.slice(i === 0 ? 0 : ends[i - 1]! + 1, end + 1))
}

/** Coordinates on one axis. Each is stored as the difference from the one before. */
function readCoordinates(data: Buffer, start: number, flags: number[], byte: number, same: number) {
  let at = start
  let coordinate = 0
  const coordinates = flags.map((flag) => {
    if (flag & byte) coordinate += flag & same ? data[at++]! : -data[at++]!
    else if (!(flag & same)) {
      coordinate += data.readInt16BE(at)
      at += 2
    }
    return coordinate
  })
  return { coordinates, end: at }
}

const [WORDS, OFFSETS, SCALE, MORE, TWO_SCALES, MATRIX] = [1, 2, 8, 32, 64, 128] as const

/** Reads a character that is made of others, such as a letter with an accent. */
function readParts(data: Buffer, outlineOf: (index: number) => Point[][]): Point[][] {
  const contours: Point[][] = []
  let at = 10
  for (let flags: number = MORE; flags & MORE; ) {
    flags = data.readUInt16BE(at)
    const part = outlineOf(data.readUInt16BE(at + 2))
    assert(flags & OFFSETS && !(flags & (SCALE | TWO_SCALES | MATRIX)), 'parts are only moved')
    const [dx, dy] =
      flags & WORDS
        ? [4, 6].map((i) => data.readInt16BE(at + i))
        : [4, 5].map((i) => data.readInt8(at + i))
    at += flags & WORDS ? 8 : 6
    contours.push(
      ...part.map((points) => points.map((p) => ({ ...p, x: p.x + dx!, y: p.y + dy! }))),
    )
  }
  return contours
}

/** Inter Bold, for Latin letters. Its license is in the same folder. */
export const readInter = (): Font =>
  readFont(readFileSync(fileURLToPath(import.meta.resolve('#inter-bold-latin.woff'))))
