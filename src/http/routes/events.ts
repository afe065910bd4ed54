import type { Static } from 'typebox'
import Type from 'typebox'
import { listOfEvent } from '../../core/deliveries/log-store.ts'
import { DeliveryView, showDelivery } from '../../core/deliveries/view.ts'
import { requirePosition } from '../../core/feed/cursors.ts'
import {
  type FeedPosition,
  findEvent,
  listNewest,
  readFeed,
  START,
  type WrittenEvent,
} from '../../core/feed/store.ts'
import { EventView, FeedQuery, showEntry, showEvent } from '../../core/feed/view.ts'
import { fromPublic, suffixOf, type Uuid } from '../../lib/ids.ts'
import { invalid, problem } from '../../lib/problems.ts'
import { type PageResult, readPage, showAll } from '../lists.ts'
import { feedPage, type Part, page } from '../page.ts'
import { type Call, route } from '../route.ts'
import { asList, delivered, newestEvent } from '../samples.ts'

const ALL_TIME = { from: null, to: null, firstId: null, beforeId: null }

type FeedCall = Call<Static<typeof FeedQuery>, undefined, Static<typeof EventView>[]>

/** The latest events first, for people who look at them. */
async function listNewestEvents(call: FeedCall): Promise<PageResult<Static<typeof EventView>>> {
  const { app, company, query } = call
  if (query.wait) throw invalid('wait: must not be sent with order=newest')
  const { limit, after, publicCursorOf } = page(call, 'evt')
  const wanted = { limit, after, type: query.type ?? null, period: ALL_TIME }
  const { events, next } = await listNewest(app.db, company.id, wanted)
  const data = await showAll(company.id, events, showEvent)
  return { data, next: next === null ? null : publicCursorOf({ id: next }) }
}

type Named = Pick<Call, 'app' | 'company' | 'params'>

async function requireEvent({ app, company, params }: Named): Promise<WrittenEvent> {
  const id = fromPublic('evt', params.id ?? '')
  const event = id && (await findEvent(app.db, company.id, id))
  if (!event) throw problem('event_not_found')
  return event
}

const get = route({
  method: 'GET',
  path: '/event/{id}',
  operationId: 'getEvent',
  client: ['events', 'get'],
  sample: newestEvent,
  tag: 'Events',
  summary: 'Get an event',
  scope: 'webhooks:read',
  data: EventView,
  status: 200,
  message: 'Event found.',
  problems: ['event_not_found'],
  handle: async (call) => ({ data: showEvent(await requireEvent(call)) }),
})

const deliveries = route({
  method: 'GET',
  path: '/event/{id}/deliveries',
  operationId: 'listEventDeliveries',
  client: ['events', 'deliveries'],
  sample: asList(delivered),
  tag: 'Events',
  summary: 'List the deliveries of an event, newest webhook first',
  description:
    'To every webhook that still exists and was to get it. Finished deliveries are kept for 30 days, unless the server is configured otherwise.',
  scope: 'webhooks:read',
  data: Type.Array(DeliveryView),
  status: 200,
  message: 'Deliveries listed.',
  problems: ['event_not_found'],
  async handle(call) {
    const { app, company } = call
    const { id } = await requireEvent(call)
    return { data: (await listOfEvent(app.db, company.id, id)).map(showDelivery) }
  },
})

const list = route({
  method: 'GET',
  path: '/event',
  operationId: 'listEvents',
  client: ['events', 'list'],
  sample: asList(newestEvent),
  tag: 'Events',
  summary: 'Read the feed of events, oldest first',
  description:
    'All events in one order that never changes. If you always send the id of the last event as `after`, you get every event once, and miss none; an empty list means that there is nothing new yet. With `wait` the answer comes as soon as there is something new, so you need not ask again and again. At most 100 requests of a company wait at once. With `order=newest` the latest come first, to be looked at; a page of one type may then have fewer events than `limit`, and the Link header leads on.',
  scope: 'webhooks:read',
  query: FeedQuery,
  data: Type.Array(EventView),
  status: 200,
  message: 'Events listed.',
  problems: [],
  async handle(call) {
    const { wait, order } = call.query
    if (wait && order === 'newest') throw invalid('wait: only with the oldest events first')
    if (order === 'newest') return listNewestEvents(call)
    const feed = feedOf(call)
    if (!wait) return feed.list()
    const deadline_ms = performance.now() + wait * 1000
    const seat = await call.app.feedWaits.take(call.company.id)
    try {
      for (;;) {
        const events = await feed.list()
        if (events.data.length > 0) return events
        const wanted = { ...feed.wanted(), deadline_ms }
        const ended = await call.rest((closed) => seat.next({ ...wanted, closed }))
        if (ended === 'left') return { data: [] }
        // Whoever wrote an event may not have notified.
        if (ended === 'late') return await feed.list()
      }
    } finally {
      seat.leave()
    }
  },
})

/** The page of the feed that a request asks for. It may be read again while it is empty. */
function feedOf(call: FeedCall) {
  const { app, company, query } = call
  const { type = null } = query
  const redeliveries = query.include === 'redeliveries'
  const known = new Map<Uuid, FeedPosition>()
  let next = 0
  let isFirst = true

  async function positionOf(after: Uuid | FeedPosition | null): Promise<FeedPosition> {
    if (after === null) return START
    const id = typeof after === 'string' ? after : after.id
    // What follows the first part continues after a row that was just read.
    if (typeof after !== 'string' && !query.after?.endsWith(suffixOf(id))) return after
    const position = known.get(id) ?? (await requirePosition(app.db, company.id, after))
    known.set(id, position)
    return position
  }
  async function read({ limit, after }: Part<Uuid | FeedPosition>) {
    const position = await positionOf(after)
    const filter = { limit, after: position, type, redeliveries }
    const readOnce = () => readFeed(app.db, company.id, filter)
    // Those who waited for the same read it together.
    const name = [company.id, position.position, position.id, type, limit, redeliveries].join()
    const part = await (isFirst ? readOnce() : app.feedWaits.share(name, readOnce))
    next = part.next
    return part.entries
  }
  return {
    async list() {
      const shown = await readPage(feedPage(call), read, showEntry)
      isFirst = false
      return shown
    },
    /** What to wait for, if nothing was there. */
    wanted: () => ({ from: next, type, redeliveries }),
  }
}

export const eventRoutes = [list, get, deliveries]
