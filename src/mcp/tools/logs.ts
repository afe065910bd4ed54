import Type, { type Static } from 'typebox'
import { EventView, FeedQuery } from '../../core/feed/view.ts'
import { RequestQuery, RequestView } from '../../core/request-log/view.ts'
import { count, Next, omit, PAGE, PERIOD, queryOf, type Tool, tool } from '../tool.ts'

type Event = Static<typeof EventView>

const AgentEvent = Type.Object({
  ...omit(EventView.properties, ['redelivery']),
  // The arguments have the names of all, and they are long.
  type: Type.String(),
})

const eventsTool = tool({
  name: 'list_events',
  title: 'List events',
  description:
    'What has happened, newest first, with the body that webhooks get: charges, payments, subscriptions, disputes, withdrawals. webhook_health says what has not arrived.',
  scope: 'webhooks:read',
  input: Type.Object({ type: FeedQuery.properties.type, ...PAGE }),
  output: Type.Object({ events: Type.Array(AgentEvent), next: Next }),
  async run({ operate }, args) {
    const asked = { query: queryOf({ ...args, order: 'newest' }) }
    const { data: events, next } = await operate<Event[]>('listEvents', asked)
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
