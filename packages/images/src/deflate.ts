import assert from 'node:assert/strict'

/** Bits in the order of the stream. The first one is the lowest bit. */
export type Code = { value: number; length: number }

export type Block = { header: Code[]; literals: Code[]; matches: Code[]; end: Code }

const MATCH_MIN = 3
const END_OF_BLOCK = 256
const LITERAL_SYMBOLS = 286
const CODE_LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
const ZERO_RUN = 18
const ZERO_RUN_MIN = 11
const ZERO_RUN_MAX = 138

/**
 * Plans a DEFLATE block (RFC 1951) with its own Huffman trees. The data has a few literals, of
 * which the most frequent is given first, and a few matches at one distance.
 */
export function planBlock(bytes: number[], matchLengths: number[], distance: number): Block {
  const lengths = matchLengths.map((length) => bucket(length - MATCH_MIN, 2, END_OF_BLOCK + 1))
  const distanceBucket = bucket(distance - 1, 1, 0)
  const literalTree = unbalancedTree([...bytes, ...lengths.map((l) => l.symbol), END_OF_BLOCK])
  // One distance is enough, but some decoders refuse a tree with only one branch.
  const distanceTree = new Array<number>(distanceBucket.symbol).fill(0).concat(1, 1)
  const literals = huffmanCodes(literalTree)
  const distanceCode = join([
    huffmanCodes(distanceTree)[distanceBucket.symbol]!,
    distanceBucket.extra,
  ])
  return {
    header: blockHeader(literalTree, distanceTree),
    literals: bytes.map((byte) => literals[byte]!),
    matches: lengths.map(({ symbol, extra }) => join([literals[symbol]!, extra, distanceCode])),
    end: literals[END_OF_BLOCK]!,
  }
}

/** DEFLATE's scale for lengths and distances: 2 ** precision symbols for each power of two. */
function bucket(value: number, precision: number, first: number) {
  const length = Math.max(0, 31 - Math.clz32(value) - precision)
  const symbol = first + (length << precision) + (value >>> length)
  return { symbol, extra: { value: value & ((1 << length) - 1), length } }
}

/** Code lengths 1, 2, 3 … by rank. The last two are equal, so that no branch is missing. */
function unbalancedTree(ranked: number[]): number[] {
  const symbols = [...new Set(ranked)]
  const tree = new Array<number>(LITERAL_SYMBOLS).fill(0)
  for (const [rank, symbol] of symbols.entries()) {
    tree[symbol] = Math.min(rank + 1, symbols.length - 1)
  }
  return tree
}

/** Canonical codes, by symbol, for the code lengths of a tree. */
function huffmanCodes(tree: number[]): Code[] {
  const codes: Code[] = []
  let code = 0
  for (let length = 1; length <= Math.max(...tree); length++, code <<= 1) {
    for (const [symbol, ownLength] of tree.entries()) {
      if (ownLength === length) codes[symbol] = { value: reverse(code++, length), length }
    }
  }
  return codes
}

function blockHeader(literalTree: number[], distanceTree: number[]): Code[] {
  const trees = [...literalTree, ...distanceTree]
  // The trees' own lengths are coded with three bits each, of 0 to 6 and the run of zeros.
  const lengthTree = CODE_LENGTH_ORDER.map((_, symbol) => (symbol <= 6 || symbol === 18 ? 3 : 0))
  assert(Math.max(...trees) <= 6, 'the header can hold every code length')
  return [
    { value: 1, length: 1 }, // the last block
    { value: 2, length: 2 }, // with its own trees
    { value: literalTree.length - 257, length: 5 },
    { value: distanceTree.length - 1, length: 5 },
    { value: CODE_LENGTH_ORDER.length - 4, length: 4 },
    ...CODE_LENGTH_ORDER.map((symbol) => ({ value: lengthTree[symbol]!, length: 3 })),
    ...describe(trees, huffmanCodes(lengthTree)),
  ]
}

function describe(trees: number[], codes: Code[]): Code[] {
  const parts: Code[] = []
  for (let at = 0; at < trees.length; ) {
    const zeros = Math.min(zerosFrom(trees, at), ZERO_RUN_MAX)
    const isRun = zeros >= ZERO_RUN_MIN
    parts.push(codes[isRun ? ZERO_RUN : trees[at]!]!)
    if (isRun) parts.push({ value: zeros - ZERO_RUN_MIN, length: 7 })
    at += isRun ? zeros : 1
  }
  return parts
}

function zerosFrom(trees: number[], start: number): number {
  const end = trees.findIndex((length, at) => at >= start && length !== 0)
  return (end === -1 ? trees.length : end) - start
}

function join(parts: Code[]): Code {
  return parts.reduce((whole, part) => ({
    value: whole.value | (part.value << whole.length),
    length: whole.length + part.length,
  }))
}

function reverse(value: number, length: number): number {
  let reversed = 0
  for (let bit = 0; bit < length; bit++) reversed |= ((value >>> bit) & 1) << (length - 1 - bit)
  return reversed
}
