/**
 * With HOSTILE=long figures are measured as they are promised, and have to hold. Without it they
 * are only reported: a machine that is slow, or busy with other tests, says nothing about them.
 */
export const isLong = process.env.HOSTILE === 'long'

/** How long a test may take that is longer in the long version. */
export const patience = { timeout: isLong ? 900_000 : 120_000 }

const sorted = (values: number[]): number[] => [...values].sort((a, b) => a - b)

export const median = (values: number[]): number => sorted(values)[values.length >> 1]!

/** The value that all but one in a hundred stay below. */
export const p99 = (values: number[]): number =>
  sorted(values)[Math.ceil(values.length * 0.99) - 1]!
