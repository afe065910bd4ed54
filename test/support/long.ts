import { type TestContext, test } from 'node:test'

/** Whether this is `npm run test:long`, or `test:pages` or `test:faults`, which are parts of it. */
export const isLong = process.env.TEST_LONG === '1'

/** A test that `npm test` has no time for. */
export const longTest = (name: string, run: (t: TestContext) => Promise<void>): void => {
  if (isLong) test(name, run)
}

/** The same test in several languages, sizes of window, and so on. `npm test` takes the first. */
export const variants = <const T>(all: readonly T[]): readonly T[] =>
  isLong ? all : all.slice(0, 1)
