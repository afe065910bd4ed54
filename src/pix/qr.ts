import { encodeQR } from 'qr'
import { drawPng, wordsPerRow } from '../../packages/images/src/png.ts'
import { assert } from '../lib/assert.ts'

/*
 * QR images of BR Codes: byte mode, error correction M, one fixed mask.
 *
 * With these fixed, and for texts of one length, each module is an exclusive or of some bits of the
 * text and a constant, because Reed-Solomon parity is linear, and placing and masking do not depend
 * on the value of a bit. So if one bit of the text changes, always the same modules change. The
 * `qr` package implements the standard. It shows which modules these are, and then the last image
 * of a length is changed into the next one. Codes of one company differ only in a token and a
 * checksum.
 */

/** The `qr` package chooses this mask for four of five BR Codes. */
const MASK = 2
const TEXT_MAX = 512
const BITS = 7
/** Space for 84 codewords of a block. The largest block of a text of 512 characters has 81. */
const BLOCK_WORDS = 21

type Matrix = { size: number; modules: Uint32Array }

/** The last text of one length and its modules, from which the next image is made. */
type Drawing = Matrix & { codes: Uint8Array }

/**
 * A set of modules that the same bits of the text flip, which is a block of the Reed-Solomon code.
 * Its flips are collected in a few words, and then applied to the modules once.
 */
type Block = { positions: Map<number, number>; modules: Uint16Array; flips: Uint32Array }

/** For each bit of each character: the block that it flips, and which modules of the block. */
type FlipTable = {
  isKnown: Uint8Array
  blocks: Block[]
  blockOf: Uint8Array
  flipsOf: Uint32Array
}

// The memory is limited: there are 512 lengths (below 1 MB together) and 18 sizes (below 0.5 MB
// each), and a server uses only some of both.
const drawings: (Drawing | undefined)[] = []
const flipTables: (FlipTable | undefined)[] = []

export function qrDataUrl(text: string): string {
  return `data:image/png;base64,${qrPng(text).toString('base64')}`
}

export function qrPng(text: string): Buffer {
  const { size, modules } = draw(text)
  return drawPng(size, modules)
}

/** The modules are valid until the next call. */
function draw(text: string): Matrix {
  const last = drawings[text.length]
  if (last && redraw(last, text)) return last
  const matrix = encode(text)
  // A bank's own code may hold any character. Only ASCII is stored, because `redraw` needs it.
  if (text.length <= TEXT_MAX && isAscii(text)) {
    drawings[text.length] = { ...matrix, codes: new TextEncoder().encode(text) }
  }
  return matrix
}

/** Changes a drawing into that of another text of the same length. False: too little is known. */
function redraw(drawing: Drawing, text: string): boolean {
  const { modules, codes } = drawing
  const table = flipTableFor(drawing.size)
  // One position takes as long as a hundred images, so at most one is computed in a call.
  let mayCompute = true
  for (let position = 0; position < text.length; position++) {
    const difference = text.charCodeAt(position) ^ codes[position]!
    if (difference >= 1 << BITS) return false
    if (difference === 0 || table.isKnown[position]) continue
    if (!mayCompute) return false
    computeFlips(table, drawing, position)
    mayCompute = false
  }
  for (let position = 0; position < text.length; position++) {
    const code = text.charCodeAt(position)
    collectFlips(table, position * BITS, code ^ codes[position]!)
    codes[position] = code
  }
  for (const block of table.blocks) applyFlips(block, modules)
  return true
}

function collectFlips(
  { blocks, blockOf, flipsOf }: FlipTable,
  first: number,
  difference: number,
): void {
  for (let rest = difference; rest !== 0; rest &= rest - 1) {
    const bit = first + 31 - Math.clz32(rest & -rest)
    const { flips } = blocks[blockOf[bit]!]!
    const start = bit * BLOCK_WORDS
    for (let word = 0; word < BLOCK_WORDS; word++) flips[word]! ^= flipsOf[start + word]!
  }
}

function applyFlips({ flips, modules: targets }: Block, modules: Uint32Array): void {
  for (let word = 0; word < BLOCK_WORDS; word++) {
    for (let rest = flips[word]! | 0; rest !== 0; rest &= rest - 1) {
      const target = targets[32 * word + 31 - Math.clz32(rest & -rest)]!
      modules[target >>> 5]! ^= 1 << (target & 31)
    }
    flips[word] = 0
  }
}

function flipTableFor(size: number): FlipTable {
  flipTables[size] ??= {
    isKnown: new Uint8Array(TEXT_MAX),
    blocks: [],
    blockOf: new Uint8Array(TEXT_MAX * BITS),
    flipsOf: new Uint32Array(TEXT_MAX * BITS * BLOCK_WORDS),
  }
  return flipTables[size]
}

function computeFlips(table: FlipTable, { modules, codes }: Drawing, position: number): void {
  for (let bit = 0; bit < BITS; bit++) {
    const flipped = Buffer.from(codes)
    flipped[position]! ^= 1 << bit
    const other = encode(flipped.toString('latin1')).modules
    storeFlips(table, position * BITS + bit, differingModules(modules, other))
  }
  table.isKnown[position] = 1
}

function storeFlips({ blocks, blockOf, flipsOf }: FlipTable, bit: number, touched: number[]): void {
  let index = blocks.findIndex(({ positions }) => touched.some((module) => positions.has(module)))
  if (index < 0) index = blocks.push(emptyBlock()) - 1
  blockOf[bit] = index
  for (const module of touched) {
    const position = positionOf(blocks[index]!, module)
    flipsOf[bit * BLOCK_WORDS + (position >>> 5)]! |= 1 << (position & 31)
  }
}

function positionOf({ positions, modules }: Block, module: number): number {
  const known = positions.get(module)
  if (known !== undefined) return known
  const position = positions.size
  assert(position < modules.length, 'a block has room for all its modules')
  positions.set(module, position)
  modules[position] = module
  return position
}

function emptyBlock(): Block {
  return {
    positions: new Map(),
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
  // The package requires a border. It is removed here, because the image has its own.
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
