import type { Cleaned } from './cleaned-image.ts'

const [START, END, SCAN, SEPARATOR] = [0xd8, 0xd9, 0xda, 0xff]
const [QUANTIZATION, HUFFMAN, RESTART_INTERVAL, ADOBE] = [0xdb, 0xc4, 0xdd, 0xee]
/** Baseline, extended and progressive, with Huffman codes: what browsers show. */
const FRAMES = [0xc0, 0xc1, 0xc2]
/** A progressive image has about ten scans. Many more only cost time to show. */
const MAX_SCANS = 50

export const isJpeg = (bytes: Buffer): boolean =>
  bytes[0] === SEPARATOR && bytes[1] === START && bytes[2] === SEPARATOR

const isRestart = (marker: number): boolean => marker >= 0xd0 && marker <= 0xd7
/** Applications' data and comments: locations, previews, profiles. */
const isMetadata = (marker: number): boolean =>
  (marker >= 0xe0 && marker <= 0xef) || marker === 0xfe

/**
 * Rebuilds a JPEG from its tables, its frame and its scans. All metadata and what follows the end
 * are left out. Null if anything is not as the specification says, or is not shown by browsers.
 */
export function cleanJpeg(bytes: Buffer, maxSide: number): Cleaned | null {
  const kept: Buffer[] = [bytes.subarray(0, 2)]
  let size: { width: number; height: number } | null = null
  let scans = 0
  let at = 2
  for (;;) {
    if (bytes[at] !== SEPARATOR) return null
    // Any number of these bytes may be before a marker.
    while (bytes[at + 1] === SEPARATOR) at += 1
    const marker = bytes[at + 1]
    if (marker === undefined) return null
    if (marker === END) break
    if (at + 4 > bytes.length) return null
    const end = at + 2 + bytes.readUInt16BE(at + 2)
    if (end < at + 4 || end > bytes.length) return null
    const data = bytes.subarray(at + 4, end)
    if (FRAMES.includes(marker)) {
      if (size) return null
      size = readFrame(data, maxSide)
      if (!size) return null
    } else if (marker === SCAN) {
      scans += 1
      if (!size || scans > MAX_SCANS) return null
    } else if (isMetadata(marker)) {
      if (marker === ADOBE && !isOrdinaryColor(data)) return null
    } else if (![QUANTIZATION, HUFFMAN, RESTART_INTERVAL].includes(marker)) return null
    const next = marker === SCAN ? endOfScan(bytes, end) : end
    if (!isMetadata(marker)) kept.push(bytes.subarray(at, next))
    at = next
  }
  if (!size || scans === 0) return null
  kept.push(Buffer.from([SEPARATOR, END]))
  return { type: 'image/jpeg', bytes: Buffer.concat(kept), ...size }
}

/** The size of the image. It must have 8 bits, and be gray or have three colors. */
function readFrame(data: Buffer, maxSide: number): { width: number; height: number } | null {
  if (data.length < 6) return null
  const [height, width, colors] = [data.readUInt16BE(1), data.readUInt16BE(3), data[5]!]
  const isRight =
    data[0] === 8 &&
    (colors === 1 || colors === 3) &&
    data.length === 6 + 3 * colors &&
    width >= 1 &&
    height >= 1 &&
    width <= maxSide &&
    height <= maxSide
  return isRight ? { width, height } : null
}

/** Without this segment colors are read in the ordinary way, so no other way is accepted. */
const isOrdinaryColor = (data: Buffer): boolean =>
  data.toString('latin1', 0, 5) !== 'Adobe' || data[11] === 1

/** Where the next marker is, after the codes of a scan. */
function endOfScan(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(SEPARATOR, start); at !== -1; ) {
    const next = bytes[at + 1]
    if (next !== 0 && next !== undefined && !isRestart(next)) return at
    at = bytes.indexOf(SEPARATOR, at + 2)
  }
  return bytes.length
}
