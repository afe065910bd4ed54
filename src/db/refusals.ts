import { cannotWrite, codeOf, isAway } from './away.ts'

/** How long a refused write is remembered. */
const REMEMBERED_MS = 10_000

/** Remembers a write that the server has refused: a full disk still takes some, but not all. */
export function noteRefusals() {
  let last = { code: '', at_ms: Number.NEGATIVE_INFINITY }
  return {
    async noting<R>(work: Promise<R>): Promise<R> {
      try {
        return await work
      } catch (error) {
        const { cause } = error as Error
        // Who is read-only says so whenever it is asked, and after a failover nobody is.
        if (cannotWrite(cause) && !isAway(cause))
          last = { code: codeOf(cause), at_ms: performance.now() }
        throw error
      }
    },
    refusedWrite: () => (performance.now() - last.at_ms < REMEMBERED_MS ? last.code : null),
  }
}
