import { problem } from '../lib/problems.ts'
import { createShares } from '../lib/shares.ts'

/** A page with more records is a long one. */
export const LONG_PAGE = 100
/** How many long pages are read and written at the same time. */
const AT_ONCE = 2
const MAX_WAIT_MS = 30_000

const slots = createShares(AT_ONCE, 1)
const tooMany = () =>
  problem('service_unavailable', 'Too many long pages are asked for. Ask for one at a time.', {
    'Retry-After': '1',
  })

export type LongPage = {
  /** Waits until a long page may be read. */
  begin(): Promise<void>
  /** The page is written. */
  end(): void
}

/**
 * Each company reads one long page at a time, because many at the same time slow down all requests.
 * Short pages never wait for long ones.
 */
export function longPageOf(companyId: string): LongPage {
  let hasSlot = false
  return {
    async begin() {
      if (hasSlot) return
      await slots.take(companyId, MAX_WAIT_MS, tooMany)
      hasSlot = true
    },
    end() {
      if (hasSlot) slots.give(companyId)
      hasSlot = false
    },
  }
}
