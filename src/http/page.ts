import { deliveryIdOf, readDeliveryId } from '../core/deliveries/view.ts'
import type { FeedEntry, FeedPosition } from '../core/feed/store.ts'
import { cursorOf as feedCursorOf, readRedeliveryCursor } from '../core/feed/view.ts'
import { PAGE_SIZE } from '../core/fields.ts'
import {
  fromPublic,
  idOfSuffix,
  isUuid,
  type Prefix,
  suffixOf,
  toPublic,
  type Uuid,
} from '../lib/ids.ts'
import { invalid } from '../lib/problems.ts'
import type { Call } from './route.ts'

/** The records to read: at most `limit` of those that follow `after`. */
export type Part<Cursor> = { limit: number; after: Cursor | null }

export type Page<Cursor, Row> = Part<Cursor> & {
  cursorOf(row: Row): Cursor
  /** The cursor as clients see it. */
  publicCursorOf(row: Row): string | number
  /** Whose records they are. */
  companyId: Uuid
}

type PageCall<Cursor> = Pick<Call<{ limit?: number; after?: Cursor }>, 'company' | 'query'>

/** One page of a list of records, which are ordered by their ids. */
export function page(
  call: PageCall<string>,
  prefix: Prefix | null,
  size = PAGE_SIZE,
): Page<Uuid, { id: Uuid }> {
  const { after } = call.query
  const publicCursorOf = ({ id }: { id: Uuid }) => (prefix ? toPublic(prefix, id) : id)
  const start = after === undefined ? null : cursor(prefix, after)
  return keyset(call, start, ({ id }) => id, publicCursorOf, size)
}

/** One page of the feed. The first cursor may be the id of an event. */
export function feedPage(call: PageCall<string>): Page<Uuid | FeedPosition, FeedEntry> {
  const { after } = call.query
  const start = after === undefined ? null : (readRedeliveryCursor(after) ?? cursor('evt', after))
  return keyset(call, start, ({ at }: FeedEntry) => at, feedCursorOf)
}

/** One page of the deliveries to a webhook, which are ordered by their events. */
export function deliveryPage(
  call: PageCall<string>,
  webhookId: Uuid,
): Page<Uuid, { webhookId: Uuid; eventId: Uuid }> {
  const { after } = call.query
  const start = after === undefined ? null : readDeliveryId(after)
  if (after !== undefined && start?.webhookId !== webhookId) throw notOfThisList()
  return keyset(call, start?.eventId ?? null, ({ eventId }) => eventId, deliveryIdOf)
}

/** One page of the request log, whose ids are those that answers have in X-Request-Id. */
export function requestPage(call: PageCall<string>): Page<Uuid, { id: Uuid }> {
  const { after } = call.query
  const start = after === undefined ? null : idOfSuffix(after)
  if (after !== undefined && start === null) throw notOfThisList()
  const idOf = ({ id }: { id: Uuid }) => id
  return keyset(call, start, idOf, (request) => suffixOf(request.id))
}

/** One page of a list whose entries are numbered. */
export function numberedPage(call: PageCall<number>): Page<number, { entry: number }> {
  const entryOf = ({ entry }: { entry: number }) => entry
  return keyset(call, call.query.after ?? null, entryOf, entryOf)
}

/**
 * One page of a list by keyset. Clients get the next cursor in the Link header, so that bodies stay
 * as they were published.
 */
function keyset<Cursor, Row>(
  call: PageCall<string | number>,
  after: Cursor | null,
  cursorOf: (row: Row) => Cursor,
  publicCursorOf: (row: Row) => string | number,
  size = PAGE_SIZE,
): Page<Cursor, Row> {
  const { limit = size } = call.query
  return { limit, after, cursorOf, publicCursorOf, companyId: call.company.id }
}

function cursor(prefix: Prefix | null, after: string): Uuid {
  const id = prefix ? fromPublic(prefix, after) : isUuid(after) ? after : null
  if (id === null) throw notOfThisList()
  return id
}

const notOfThisList = () =>
  invalid('after: must be an id of this list, as the Link header gives it')

/** The header that links to the next page of a list. */
export function nextLink(
  address: string,
  query: object,
  after: string | number,
): Record<string, string> {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...query, after })) search.set(name, String(value))
  return { Link: `<${address}?${search}>; rel="next"` }
}
