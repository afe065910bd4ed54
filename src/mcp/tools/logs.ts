import Type, { type Static } from 'typebox'
import { eventPeriod, listNewest } from '../../core/feed/store.ts'
import { EventView, FeedQuery, showEvent } from '../../core/feed/view.ts'
import { RequestQuery, RequestView } from '../../core/request-log/view.ts'
import { showAll } from '../../http/lists.ts'
import { fromPublic, toPublic } from '../../lib/ids.ts'
import { invalid } from '../../lib/problems.ts'
import { endOfPeriod, startOfPeriod } from '../../pix/local-time.ts'
import { count, Next, omit, PAGE, PAGE_SIZE, PERIOD, queryOf, type Tool, tool } from '../tool.ts'

const AgentEvent = Type.Object({
  ...omit(EventView.properties, ['redelivery']),
  // The arguments have the names of all, and they are long.
  type: Type.String(),
})

const eventsTool = tool({
  name: 'list_events',
  title: 'List events',
  description:
    'What has happened, newest first, with the body that webhooks get: charges, payments, subscriptions, disputes, withdrawals. webhook_health says what has not arrived. If few are of a type, a page may be empty although there is a `next`.',
  scope: 'webhooks:read',
  input: Type.Object({ type: FeedQuery.properties.type, ...PERIOD, ...PAGE }),
  output: Type.Object({ events: Type.Array(AgentEvent), next: Next }),
  async run({ app, company }, { type = null, from, to, limit = PAGE_SIZE, after }) {
    const start = after === undefined ? null : fromPublic('evt', after)
    if (after !== undefined && start === null) throw invalid('after: must be the `next` of a page')
    const period = await eventPeriod(app.db, company.id, {
      from: from === undefined ? null : startOfPeriod(from),
      to: to === undefined ? null : endOfPeriod(to),
    })
    const wanted = { limit, after: start, type, period }
    const found = await listNewest(app.db, company.id, wanted)
    const events = await showAll(company.id, found.events, showEvent)
    const next = found.next && toPublic('evt', found.next)
    return { text: `${count(events.length, 'event')}.`, data: { events, next } }
  },
})

const { status, operation } = RequestQuery.properties

const AgentRequest = Type.Object({
  ...RequestView.properties,
  keyId: Type.String({ description: 'The id of the key that was sent' }),
})

const requestsTool = tool({
  name: 'list_requests',
  title: 'List the requests to the API',
  description:
    'The requests of the last 7 days with the status and the error code of each answer, newest first, without bodies. If few match, a page may be empty although there is a `next`.',
  scope: 'webhooks:read',
  input: Type.Object({ status, operation, ...PERIOD, ...PAGE }),
  output: Type.Object({ requests: Type.Array(AgentRequest), next: Next }),
  async run({ operate }, args) {
    const asked = { query: queryOf(args) }
    const { data, next } = await operate<Static<typeof RequestView>[]>('listRequests', asked)
    return { text: `${count(data.length, 'request')}.`, data: { requests: data, next } }
  },
})

export const logTools: Tool[] = [eventsTool, requestsTool]
