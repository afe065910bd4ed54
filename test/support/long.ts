import { type TestContext, type TestOptions, test } from 'node:test'

/** Whether this is `npm run test:long`, or `test:pages` or `test:faults`, which are parts of it. */
export const isLong = process.env.TEST_LONG === '1'

type Run = (t: TestContext) => void | Promise<void>

/** A test that `npm test` has no time for. */
export function longTest(name: string, run: Run, options: TestOptions = {}): void {
  if (isLong) test(name, options, run)
}

/** The same test in several languages, sizes of window, and so on. `npm test` takes the first. */
export const variants = <const T>(all: readonly T[]): readonly T[] =>
  isLong ? all : all.slice(0, 1)
