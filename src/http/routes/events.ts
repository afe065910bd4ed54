import Type from 'typebox'
import { findPosition, readFeed, START } from '../../core/feed/store.ts'
import { EventView, FeedQuery, showEvent } from '../../core/feed/view.ts'
import type { Uuid } from '../../lib/ids.ts'
import { invalid } from '../../lib/problems.ts'
import { type Part, page } from '../page.ts'
import { route } from '../route.ts'
import { readPage } from '../slices.ts'

const list = route({
  method: 'GET',
  path: '/event',
  operationId: 'listEvents',
  tag: 'Events',
  summary: 'Read the feed of events, oldest first',
  description:
    'All events in one order that never changes. If you always send the id of the last event as `after`, you get every event once, and miss none; an empty list means that there is nothing new yet.',
  scope: 'webhooks:read',
  query: FeedQuery,
  data: Type.Array(EventView),
  status: 200,
  message: 'Events listed.',
  problems: [],
  async handle(call) {
    const { app, company, query } = call
    const type = query.type ?? null
    const read = async ({ limit, after }: Part<Uuid>) => {
      const position = after ? await findPosition(app.db, company.id, after) : START
      if (!position) throw invalid('after: must be the id of an event of this company')
      return readFeed(app.db, company.id, { limit, after: position, type })
    }
    return readPage(page(call, 'evt'), read, showEvent)
  },
})

export const eventRoutes = [list]
