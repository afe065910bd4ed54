import Type, { type Static } from 'typebox'
import { listOfEvent } from '../../core/deliveries/browse-store.ts'
import { DeliveryView, showDelivery } from '../../core/deliveries/view.ts'
import { findEvent, listNewest } from '../../core/feed/browse-store.ts'
import type { WrittenEvent } from '../../core/feed/store.ts'
import { EventView, type FeedQuery, showEvent } from '../../core/feed/view.ts'
import { fromPublic } from '../../lib/ids.ts'
import { invalid, problem } from '../../lib/problems.ts'
import { type PageResult, showAll } from '../lists.ts'
import { page } from '../page.ts'
import { type Call, route } from '../route.ts'
import { asList, delivered, newestEvent } from '../samples.ts'

const ALL_TIME = { from: null, to: null, firstId: null, beforeId: null }

export type FeedCall = Call<Static<typeof FeedQuery>, undefined, Static<typeof EventView>[]>

/** The latest events first, for people who look at them. */
export async function listNewestEvents(
  call: FeedCall,
): Promise<PageResult<Static<typeof EventView>>> {
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

export const browseEventRoutes = [get, deliveries]
