const sorted = (values: number[]): number[] => [...values].sort((a, b) => a - b)

export const median = (values: number[]): number => sorted(values)[values.length >> 1]!

/** The value that all but one in a hundred stay below. */
export const p99 = (values: number[]): number =>
  sorted(values)[Math.ceil(values.length * 0.99) - 1]!
