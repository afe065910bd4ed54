import type { Company } from '../core/companies/rules.ts'
import type { Page } from '../http/page.ts'
import type { Uuid } from '../lib/ids.ts'

/** One page of records, and the last one of it if there are more. */
export function createPage(
  { id: companyId }: Pick<Company, 'id'>,
  limit: number,
  after: Uuid | null,
): Page<Uuid, { id: Uuid }> & { next(): Uuid | null } {
  let next: Uuid | null = null
  return {
    limit,
    after,
    cursorOf: (row) => row.id,
    companyId,
    linkAfter(row) {
      next = row.id
    },
    next: () => next,
  }
}
