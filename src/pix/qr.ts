import { encodeQR } from 'qr'
import { assert } from '../lib/assert.ts'
import { drawPng, wordsPerRow } from './png.ts'

/*
 * QR images of BR Codes: byte mode, error correction M, one fixed mask.
 *
 * With these fixed, and for texts of one length, each module is an exclusive or of some bits of the
 * text and a constant: Reed-Solomon parity is linear, and placing and masking treat a bit alike
 * whatever its value. So flipping one bit of the text always flips the same modules. The `qr`
 * package owns the standard; from it we learn which modules those are, and then change the last
 * image of a length into the next one. Codes of one company differ only in a token and a checksum.
 */

/** The `qr` package finds this mask the best for four of five BR Codes. */
const MASK = 2
const TEXT_MAX = 512
const BITS = 7
/** Room for the 84 codewords of a block; the largest that a text of 512 characters meets has 81. */
const BLOCK_WORDS = 21

type Matrix = { size: number; modules: Uint32Array }

/** The last text of one length and its modules, where the next text of that length starts from. */
type Drawing = Matrix & { codes: Uint8Array }

/**
 * A set of modules that the same bits of the text flip; in fact, a block of the Reed-Solomon code.
 * Flips are gathered in its few words, and spread over the modules once.
 */
type Block = { places: Map<number, number>; modules: Uint16Array; flips: Uint32Array }

/** What each bit of each character flips: a block, and a set of its modules. */
type Lessons = {
  learned: Uint8Array
  blocks: Block[]
  blockOf: Uint8Array
  flipsOf: Uint32Array
}

// Memory is bounded by the 512 lengths (below 1 MB in all) and the 18 sizes of symbol that they
// come in (below 0.5 MB each), and a server uses only some of both.
const drawings: (Drawing | undefined)[] = []
const lessons: (Lessons | undefined)[] = []

export function qrDataUrl(text: string): string {
  return `data:image/png;base64,${qrPng(text).toString('base64')}`
}

export function qrPng(text: string): Buffer {
  const { size, modules } = draw(text)
  return drawPng(size, modules)
}

/** The modules are good until the next call. */
function draw(text: string): Matrix {
  const last = drawings[text.length]
  if (last && redraw(last, text)) return last
  const matrix = encode(text)
  // A bank's own code may hold anything. Only ASCII is kept, because only that can be redrawn.
  if (text.length <= TEXT_MAX && isAscii(text)) {
    drawings[text.length] = { ...matrix, codes: new TextEncoder().encode(text) }
  }
  return matrix
}

/** Changes a drawing into that of another text of the same length, unless too little is known. */
function redraw(drawing: Drawing, text: string): boolean {
  const { modules, codes } = drawing
  const known = lessonsFor(drawing.size)
  // A lesson takes as long as a hundred images, so no caller pays for more than one.
  let mayLearn = true
  for (let position = 0; position < text.length; position++) {
    const difference = text.charCodeAt(position) ^ codes[position]!
    if (difference >= 1 << BITS) return false
    if (difference === 0 || known.learned[position]) continue
    if (!mayLearn) return false
    learn(known, drawing, position)
    mayLearn = false
  }
  for (let position = 0; position < text.length; position++) {
    const code = text.charCodeAt(position)
    gather(known, position * BITS, code ^ codes[position]!)
    codes[position] = code
  }
  for (const block of known.blocks) spread(block, modules)
  return true
}

function gather({ blocks, blockOf, flipsOf }: Lessons, first: number, difference: number): void {
  for (let rest = difference; rest !== 0; rest &= rest - 1) {
    const bit = first + 31 - Math.clz32(rest & -rest)
    const { flips } = blocks[blockOf[bit]!]!
    const start = bit * BLOCK_WORDS
    for (let word = 0; word < BLOCK_WORDS; word++) flips[word]! ^= flipsOf[start + word]!
  }
}

function spread({ flips, modules: targets }: Block, modules: Uint32Array): void {
  for (let word = 0; word < BLOCK_WORDS; word++) {
    for (let rest = flips[word]! | 0; rest !== 0; rest &= rest - 1) {
      const target = targets[32 * word + 31 - Math.clz32(rest & -rest)]!
      modules[target >>> 5]! ^= 1 << (target & 31)
    }
    flips[word] = 0
  }
}

function lessonsFor(size: number): Lessons {
  lessons[size] ??= {
    learned: new Uint8Array(TEXT_MAX),
    blocks: [],
    blockOf: new Uint8Array(TEXT_MAX * BITS),
    flipsOf: new Uint32Array(TEXT_MAX * BITS * BLOCK_WORDS),
  }
  return lessons[size]
}

function learn(known: Lessons, { modules, codes }: Drawing, position: number): void {
  for (let bit = 0; bit < BITS; bit++) {
    const flipped = Buffer.from(codes)
    flipped[position]! ^= 1 << bit
    const other = encode(flipped.toString('latin1')).modules
    remember(known, position * BITS + bit, differingModules(modules, other))
  }
  known.learned[position] = 1
}

function remember({ blocks, blockOf, flipsOf }: Lessons, bit: number, touched: number[]): void {
  let index = blocks.findIndex(({ places }) => touched.some((module) => places.has(module)))
  if (index < 0) index = blocks.push(emptyBlock()) - 1
  blockOf[bit] = index
  for (const module of touched) {
    const place = placeOf(blocks[index]!, module)
    flipsOf[bit * BLOCK_WORDS + (place >>> 5)]! |= 1 << (place & 31)
  }
}

function placeOf({ places, modules }: Block, module: number): number {
  const known = places.get(module)
  if (known !== undefined) return known
  const place = places.size
  assert(place < modules.length, 'a block has room for all its modules')
  places.set(module, place)
  modules[place] = module
  return place
}

function emptyBlock(): Block {
  return {
    places: new Map(),
    modules: new Uint16Array(32 * BLOCK_WORDS),
    flips: new Uint32Array(BLOCK_WORDS),
  }
}

function differingModules(one: Uint32Array, other: Uint32Array): number[] {
  const differing: number[] = []
  for (let module = 0; module < 32 * one.length; module++) {
    if (((one[module >>> 5]! ^ other[module >>> 5]!) >>> (module & 31)) & 1) differing.push(module)
  }
  return differing
}

function encode(text: string): Matrix {
  // The package insists on a border, which is cut off again: the image has its own.
  const options = { ecc: 'medium', encoding: 'byte', mask: MASK, border: 1 } as const
  const rows = encodeQR(text, 'raw', options).slice(1, -1)
  const size = rows.length
  const words = wordsPerRow(size)
  const modules = new Uint32Array(size * words)
  for (const [y, row] of rows.entries()) {
    for (let x = 0; x < size; x++) {
      if (row[x + 1]) modules[y * words + (x >>> 5)]! |= 1 << (x & 31)
    }
  }
  return { size, modules }
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length
}
