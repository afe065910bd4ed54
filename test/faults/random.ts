/** Choices that the same seed makes again. */
export type Random = {
  /** A whole number from 0 on and below `end`. */
  below(end: number): number
  /** From 0 on and below 1. */
  part(): number
  /** True once in so many times. */
  onceIn(times: number): boolean
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0
  // Mulberry32: small, and even enough to choose with.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const part = () => next() / 2 ** 32
  const below = (end: number): number => Math.floor(part() * end)
  return { below, part, onceIn: (times) => below(times) === 0 }
}

/**
 * The choices of something that is numbered, such as the 12th operation of the third client. They
 * depend on the seed and on its numbers alone, and so stay when others are left out.
 */
export function numbered(seed: number, ...numbers: number[]): Random {
  const mixed = numbers.reduce((sum, one) => Math.imul(sum ^ one, 0x9e3779b1) + 0x7f4a7c15, seed)
  return createRandom(mixed)
}
