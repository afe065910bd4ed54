import { deliveryIdOf, readDeliveryId } from '../core/deliveries/view.ts'
import { PAGE_SIZE } from '../core/fields.ts'
import { fromPublic, isUuid, type Prefix, toPublic, type Uuid } from '../lib/ids.ts'
import { invalid } from '../lib/problems.ts'
import type { Call } from './route.ts'

export type Page<Cursor, Row> = {
  filter: { limit: number; after: Cursor | null }
  /**
   * Drops the one row that was read only to know whether there is more, and links to what follows.
   */
  cut<T extends Row>(rows: T[]): T[]
  /** Ends the page before its limit: what follows is linked from the last record that is shown. */
  endAfter(row: Row): void
}

type PageCall<Cursor> = Pick<
  Call<{ limit?: number; after?: Cursor }>,
  'app' | 'path' | 'query' | 'headers'
>

/** One page of a list of records, which are ordered by their ids. */
export function page(
  call: PageCall<string>,
  prefix: Prefix | null,
  size = PAGE_SIZE,
): Page<Uuid, { id: Uuid }> {
  const { after } = call.query
  const place = ({ id }: { id: Uuid }) => (prefix ? toPublic(prefix, id) : id)
  return keyset(call, after === undefined ? null : cursor(prefix, after), place, size)
}

/** One page of the deliveries to a webhook, which are ordered by their events. */
export function deliveryPage(
  call: PageCall<string>,
  webhookId: Uuid,
): Page<Uuid, { webhookId: Uuid; eventId: Uuid }> {
  const { after } = call.query
  const place = after === undefined ? null : readDeliveryId(after)
  if (after !== undefined && place?.webhookId !== webhookId) throw notOfThisList()
  return keyset(call, place?.eventId ?? null, deliveryIdOf)
}

/** One page of a list whose entries are numbered. */
export const numberedPage = (call: PageCall<number>): Page<number, { entry: number }> =>
  keyset(call, call.query.after ?? null, ({ entry }) => entry)

/**
 * One page of a list by keyset; the next cursor goes into the Link header, so bodies stay as
 * published.
 */
function keyset<Cursor, Row>(
  call: PageCall<string | number>,
  after: Cursor | null,
  place: (row: Row) => string | number,
  size = PAGE_SIZE,
): Page<Cursor, Row> {
  const { limit = size } = call.query
  return {
    filter: { limit: limit + 1, after },
    cut(rows) {
      const shown = rows.slice(0, limit)
      const last = shown.at(-1)
      if (last && rows.length > limit) call.headers.Link = nextLink(call, place(last))
      return shown
    },
    endAfter(row) {
      call.headers.Link = nextLink(call, place(row))
    },
  }
}

function cursor(prefix: Prefix | null, after: string): Uuid {
  const id = prefix ? fromPublic(prefix, after) : isUuid(after) ? after : null
  if (id === null) throw notOfThisList()
  return id
}

const notOfThisList = () =>
  invalid('after: must be an id of this list, as the Link header gives it')

function nextLink({ app, path, query }: PageCall<string | number>, after: string | number): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...query, after })) search.set(name, String(value))
  return `<${app.publicUrl}${path}?${search}>; rel="next"`
}
