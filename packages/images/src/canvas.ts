import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import type { Font, Glyph, Point } from './font.ts'
import { chunk, SIGNATURE } from './png.ts'

const pack = promisify(deflate)

/** A picture of two colors, ink and ground. Each pixel has from 0 to 255 of ink. */
export type Canvas = { width: number; height: number; ink: Uint8Array }

export const createCanvas = (width: number, height: number): Canvas => ({
  width,
  height,
  ink: new Uint8Array(width * height),
})

/** The color of text: ink (255) or ground (0). */
export type Shade = 255 | 0

function blend({ ink }: Canvas, at: number, shade: Shade, cover: number): void {
  ink[at] = Math.round(ink[at]! + (shade - ink[at]!) * cover)
}

export function fillBox(
  canvas: Canvas,
  box: { left: number; top: number; width: number; height: number },
): void {
  for (let y = box.top; y < box.top + box.height; y++) {
    const start = y * canvas.width + box.left
    canvas.ink.fill(255, start, start + box.width)
  }
}

export function widthOf(font: Font, text: string, size: number): number {
  let width = 0
  for (const character of text) width += font.glyphOf(character.codePointAt(0)!)?.advance ?? 0
  return width * size
}

export function drawText(
  canvas: Canvas,
  font: Font,
  text: string,
  position: { left: number; baseline: number; size: number; shade?: Shade },
): void {
  let { left } = position
  for (const character of text) {
    const glyph = font.glyphOf(character.codePointAt(0)!)
    if (!glyph) continue
    drawGlyph(canvas, glyph, { shade: 255, ...position, left })
    left += glyph.advance * position.size
  }
}

type TextPosition = { left: number; baseline: number; size: number; shade: Shade }

/** Computes which part of each pixel is inside the outlines, and draws it. */
function drawGlyph(canvas: Canvas, { contours }: Glyph, spot: TextPosition): void {
  const lines = contours.flatMap((points) => flatten(points, spot))
  if (lines.length === 0) return
  const xs = lines.flatMap(([a, b]) => [a.x, b.x])
  const ys = lines.flatMap(([a, b]) => [a.y, b.y])
  const [left, top] = [Math.floor(Math.min(...xs)), Math.floor(Math.min(...ys))]
  const width = Math.ceil(Math.max(...xs)) - left + 2
  const height = Math.ceil(Math.max(...ys)) - top + 1
  const areas = new Float32Array(width * height)
  for (const [a, b] of lines) {
    addLine(areas, width, { x: a.x - left, y: a.y - top }, { x: b.x - left, y: b.y - top })
  }
  for (let y = 0; y < height; y++) {
    let sum = 0
    for (let x = 0; x < width; x++) {
      sum += areas[y * width + x]!
      const cover = Math.min(1, Math.abs(sum))
      const isInside = left + x >= 0 && left + x < canvas.width && top + y < canvas.height
      if (cover < 0.002 || !isInside || top + y < 0) continue
      blend(canvas, (top + y) * canvas.width + left + x, spot.shade, cover)
    }
  }
}

type Position = { x: number; y: number }
const STEPS = 6

/** An outline as straight lines. Between two points off the curve there is a point on it. */
function flatten(points: Point[], { left, baseline, size }: TextPosition): [Position, Position][] {
  const placed = points.map(({ x, y, isOn }) => ({
    x: left + x * size,
    y: baseline - y * size,
    isOn,
  }))
  const all = placed.flatMap((point, i) => {
    const next = placed[(i + 1) % placed.length]!
    return point.isOn || next.isOn ? [point] : [point, { ...middle(point, next), isOn: true }]
  })
  const first = all.findIndex(({ isOn }) => isOn)
  const corners: Position[] = []
  for (let i = 0; i < all.length; i++) {
    const point = all[(first + i) % all.length]!
    if (point.isOn) corners.push(point)
    else corners.push(...curvePoints(corners.at(-1)!, point, all[(first + i + 1) % all.length]!))
  }
  return corners.map((corner, i) => [corner, corners[(i + 1) % corners.length]!])
}

const middle = (a: Position, b: Position): Position => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 })

/** Points of a curve between its two ends. */
const curvePoints = (from: Position, by: Position, to: Position): Position[] =>
  Array.from({ length: STEPS - 1 }, (_, i) => {
    const t = (i + 1) / STEPS
    const along = (a: number, b: number, c: number) =>
      (1 - t) ** 2 * a + 2 * t * (1 - t) * b + t * t * c
    return { x: along(from.x, by.x, to.x), y: along(from.y, by.y, to.y) }
  })

/**
 * Adds the area to the right of a line, as differences from pixel to pixel. The running sum of the
 * differences is the part of each pixel that is inside.
 */
function addLine(areas: Float32Array, width: number, a: Position, b: Position): void {
  if (a.y === b.y) return
  const direction = a.y < b.y ? 1 : -1
  const [top, bottom] = a.y < b.y ? [a, b] : [b, a]
  const slope = (bottom.x - top.x) / (bottom.y - top.y)
  for (let y = Math.floor(top.y); y < bottom.y; y++) {
    const [from, to] = [Math.max(y, top.y), Math.min(y + 1, bottom.y)]
    const [x1, x2] = [top.x + (from - top.y) * slope, top.x + (to - top.y) * slope]
    addSpan(areas, y * width, Math.min(x1, x2), Math.max(x1, x2), (to - from) * direction)
  }
}

/** Adds the part of a line in one row of pixels. `high` is the height of that part. */
function addSpan(areas: Float32Array, row: number, from: number, to: number, high: number): void {
  const first = Math.floor(from)
  const last = Math.max(first, Math.ceil(to) - 1)
  let before = 0
  for (let x = first; x <= last; x++) {
    // The average part of the line's height that is left of the right edge of this pixel.
    const right = insideOf(from, to, x + 1)
    areas[row + x]! += (right - before) * high
    before = right
  }
  areas[row + last + 1]! += (1 - before) * high
}

/** The part of the pixel left of `edge` that is to the right of the line. */
function insideOf(from: number, to: number, edge: number): number {
  const [left, right] = [edge - 1, edge]
  if (to - from < 1e-6) return Math.min(1, Math.max(0, right - from))
  const areaUpTo = (x: number): number => {
    if (x <= from) return 0
    if (x >= to) return x - (from + to) / 2
    return (x - from) ** 2 / (2 * (to - from))
  }
  return areaUpTo(right) - areaUpTo(left)
}

/** The canvas as a PNG with a palette from the ground's color to the ink's. */
export async function encode(
  { width, height, ink }: Canvas,
  ground: string,
  color: string,
): Promise<Buffer> {
  const lines = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y++) {
    lines.set(ink.subarray(y * width, (y + 1) * width), y * (width + 1) + 1)
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // Eight bits per pixel, which are the number of a color in the palette.
  header.set([8, 3], 8)
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', palette(ground, color)),
    // Compressed on another thread, so that requests are served at the same time.
    chunk('IDAT', await pack(lines, { level: 6 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function palette(ground: string, ink: string): Buffer {
  const [from, to] = [ground, ink].map((color) => Buffer.from(color.slice(1), 'hex'))
  const colors = Buffer.alloc(256 * 3)
  for (let i = 0; i < colors.length; i++) {
    const part = i % 3
    colors[i] = Math.round(from![part]! + ((to![part]! - from![part]!) * Math.floor(i / 3)) / 255)
  }
  return colors
}
