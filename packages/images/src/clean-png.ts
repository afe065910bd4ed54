import { promisify } from 'node:util'
import { crc32, deflate, inflate } from 'node:zlib'
import type { Cleaned } from './cleaned-image.ts'
import { chunk, SIGNATURE } from './png.ts'

/** The bit depths that each color type allows, and how many values a pixel has. */
const COLOR_TYPES: Record<number, { depths: number[]; values: number }> = {
  0: { depths: [1, 2, 4, 8, 16], values: 1 },
  2: { depths: [8, 16], values: 3 },
  3: { depths: [1, 2, 4, 8], values: 1 },
  4: { depths: [8, 16], values: 2 },
  6: { depths: [8, 16], values: 4 },
}
const INDEXED = 3
/** The passes of an interlaced image: where each begins, and the steps to its next pixel. */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const
const MAX_FILTER = 4

export const isPng = (bytes: Buffer): boolean => bytes.subarray(0, 8).equals(SIGNATURE)

type Chunk = { type: string; data: Buffer }
type Header = { width: number; height: number; bits: number; colors: number; isInterlaced: boolean }

/**
 * Rebuilds a PNG from its pixels, its palette and its transparency. Everything else, such as texts,
 * profiles, other frames and what follows the end, is left out. Null if anything is not as the
 * specification says.
 */
export async function cleanPng(bytes: Buffer, maxSide: number): Promise<Cleaned | null> {
  const chunks = readChunks(bytes)
  if (!chunks) return null
  const [first, ...others] = chunks
  const header = first?.type === 'IHDR' ? readHeader(first.data, maxSide) : null
  const parts = header && partsOf(others, header)
  if (!header || !parts) return null
  const lines = linesOf(header)
  const pixels = await unpack(parts.data, sizeOf(lines))
  if (!pixels || !hasFilters(pixels, lines)) return null
  const packed = await promisify(deflate)(pixels)
  const file = [
    SIGNATURE,
    chunk('IHDR', first!.data),
    ...(parts.palette ? [chunk('PLTE', parts.palette)] : []),
    ...(parts.transparency ? [chunk('tRNS', parts.transparency)] : []),
    chunk('IDAT', packed),
    chunk('IEND', Buffer.alloc(0)),
  ]
  const { width, height } = header
  return { type: 'image/png', bytes: Buffer.concat(file), width, height }
}

/** The chunks up to the end of the image. Null if one is cut off or has a wrong checksum. */
function readChunks(bytes: Buffer): Chunk[] | null {
  const chunks: Chunk[] = []
  for (let at = SIGNATURE.length; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    const end = at + 8 + length
    if (end + 4 > bytes.length) return null
    const body = bytes.subarray(at + 4, end)
    if (crc32(body) !== bytes.readUInt32BE(end)) return null
    const type = body.toString('latin1', 0, 4)
    if (type === 'IEND') return length === 0 ? chunks : null
    chunks.push({ type, data: body.subarray(4) })
    at = end + 4
  }
  return null
}

function readHeader(data: Buffer, maxSide: number): Header | null {
  if (data.length !== 13) return null
  const [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)]
  const [depth, colors, packing, filtering, interlacing] = data.subarray(8) as Iterable<number>
  const type = COLOR_TYPES[colors!]
  const isRight =
    width >= 1 &&
    height >= 1 &&
    width <= maxSide &&
    height <= maxSide &&
    type?.depths.includes(depth!) &&
    packing === 0 &&
    filtering === 0 &&
    interlacing! <= 1
  if (!isRight) return null
  const bits = depth! * type!.values
  return { width, height, bits, colors: colors!, isInterlaced: interlacing === 1 }
}

type Parts = { data: Buffer; palette: Buffer | null; transparency: Buffer | null }

/** The chunks without which the image is another one. A critical one of another kind is refused. */
function partsOf(chunks: Chunk[], { colors }: Header): Parts | null {
  const all = (type: string) => chunks.filter((one) => one.type === type).map(({ data }) => data)
  const isCritical = (type: string) => /^[A-Z]/.test(type)
  if (chunks.some(({ type }) => isCritical(type) && type !== 'PLTE' && type !== 'IDAT')) return null
  const [palettes, transparencies, data] = [all('PLTE'), all('tRNS'), all('IDAT')]
  const [palette = null, transparency = null] = [palettes[0], transparencies[0]]
  const isRight =
    palettes.length <= 1 &&
    transparencies.length <= 1 &&
    data.length > 0 &&
    (palette === null || (palette.length % 3 === 0 && palette.length / 3 <= 256)) &&
    (colors !== INDEXED || (palette?.length ?? 0) > 0) &&
    (transparency === null || transparency.length <= 256)
  if (!isRight) return null
  const own = colors === INDEXED ? palette : null
  return { data: Buffer.concat(data), palette: own, transparency }
}

/** How many bytes each scan line has, its filter included, and how many there are. */
type ScanLines = { bytes: number; count: number }[]

function linesOf({ width, height, bits, isInterlaced }: Header): ScanLines {
  const bytesOf = (pixels: number) => 1 + Math.ceil((pixels * bits) / 8)
  if (!isInterlaced) return [{ bytes: bytesOf(width), count: height }]
  return PASSES.flatMap(([left, top, across, down]) => {
    const columns = Math.ceil(Math.max(0, width - left) / across)
    const rows = Math.ceil(Math.max(0, height - top) / down)
    return columns > 0 && rows > 0 ? [{ bytes: bytesOf(columns), count: rows }] : []
  })
}

const sizeOf = (lines: ScanLines): number =>
  lines.reduce((size, { bytes, count }) => size + bytes * count, 0)

/** The scan lines, if there are exactly as many bytes as the image needs. */
async function unpack(data: Buffer, size: number): Promise<Buffer | null> {
  try {
    const pixels = await promisify(inflate)(data, { maxOutputLength: size })
    return pixels.length === size ? pixels : null
  } catch {
    return null
  }
}

function hasFilters(pixels: Buffer, lines: ScanLines): boolean {
  let at = 0
  for (const { bytes, count } of lines) {
    for (let line = 0; line < count; line++, at += bytes) {
      if (pixels[at]! > MAX_FILTER) return false
    }
  }
  return true
}
