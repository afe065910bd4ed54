import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import type { TestContext } from 'node:test'

/** What is compared in constant time until the test ends: the first of each two, as hex. */
export function watchComparisons(t: TestContext): string[] {
  const compared: string[] = []
  const { timingSafeEqual } = crypto
  const replace = (by: typeof timingSafeEqual) => {
    crypto.timingSafeEqual = by
    syncBuiltinESMExports()
  }
  t.after(() => replace(timingSafeEqual))
  replace((a, b) => {
    compared.push(Buffer.from(a as Uint8Array).toString('hex'))
    return timingSafeEqual(a, b)
  })
  return compared
}
