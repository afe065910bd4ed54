import { fromPublic, isUuid, type Prefix, toPublic, type Uuid } from '../lib/ids.ts'
import { invalid } from '../lib/problems.ts'
import type { Call } from './route.ts'

const PAGE_LIMIT = 1000

export type Page = {
  filter: { limit: number; after: Uuid | null }
  /**
   * Drops the one row that was read only to know whether there is more, and links to what follows.
   */
  cut<T extends { id: Uuid }>(rows: T[]): T[]
}

type PageCall = Pick<Call<{ limit?: number; after?: string }>, 'app' | 'path' | 'query' | 'headers'>

/**
 * One page of a list by keyset; the next cursor goes into the Link header, so bodies stay as
 * published.
 */
export function page(call: PageCall, prefix: Prefix | null): Page {
  const { limit = PAGE_LIMIT, after } = call.query
  return {
    filter: { limit: limit + 1, after: after === undefined ? null : cursor(prefix, after) },
    cut(rows) {
      const shown = rows.slice(0, limit)
      const last = shown.at(-1)
      if (last && rows.length > limit) {
        call.headers.Link = nextLink(call, prefix ? toPublic(prefix, last.id) : last.id)
      }
      return shown
    },
  }
}

function cursor(prefix: Prefix | null, after: string): Uuid {
  const id = prefix ? fromPublic(prefix, after) : isUuid(after) ? after : null
  if (id === null) throw invalid('after: must be an id of this list, as the Link header gives it')
  return id
}

function nextLink({ app, path, query }: PageCall, after: string): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...query, after })) search.set(name, String(value))
  return `<${app.publicUrl}${path}?${search}>; rel="next"`
}
