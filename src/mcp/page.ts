import type { Company } from '../core/companies/rules.ts'
import { longPageOf } from '../http/long-pages.ts'
import type { Page } from '../http/page.ts'
import type { Uuid } from '../lib/ids.ts'

/** One page of records, and the last one of it if there are more. */
export function createPage(
  { id }: Pick<Company, 'id'>,
  limit: number,
  after: Uuid | null,
): Page<Uuid, { id: Uuid }> & { next(): Uuid | null } {
  let next: Uuid | null = null
  return {
    limit,
    after,
    cursorOf: (row) => row.id,
    // A page of an agent is never a long one by its number, but large records may make it one.
    long: longPageOf(id),
    linkAfter(row) {
      next = row.id
    },
    next: () => next,
  }
}
