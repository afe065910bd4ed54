import Type, { type Static } from 'typebox'
import { CLASS_NAMES, oldestKept } from '../../core/request-log/rules.ts'
import { listRequests, type RequestFilter } from '../../core/request-log/store.ts'
import { RequestQuery, RequestView, showRequest } from '../../core/request-log/view.ts'
import { lowestIdAt } from '../../lib/ids.ts'
import { endOfPeriod, startOfPeriod } from '../../pix/local-time.ts'
import { showAll } from '../lists.ts'
import { requestPage } from '../page.ts'
import { type Call, type Route, route } from '../route.ts'
import { listed } from '../samples.ts'

/** What is no operation is a tool that an agent has used. */
const AGENT = { method: 'POST', path: '/mcp' }

type Query = Static<typeof RequestQuery>
type Wanted = Omit<RequestFilter, 'before'> & { end: string | null }

function wantedOf({ app, query }: Pick<Call<Query>, 'app' | 'query'>): Wanted {
  const { status, operation = null, keyId = null, from, to } = query
  const oldest = oldestKept(app.systemClock.now())
  const kept = (at: Date) => lowestIdAt(at > oldest ? at : oldest)
  return {
    status: status === undefined ? null : CLASS_NAMES[status],
    operation,
    keyId,
    from: from === undefined ? lowestIdAt(oldest) : kept(startOfPeriod(from)),
    end: to === undefined ? null : kept(endOfPeriod(to)),
  }
}

/** `find` knows the operations of the whole table, which these belong to. */
export const requestRoutes = (find: (operationId: string) => Route | undefined): Route[] => [
  route({
    method: 'GET',
    path: '/request-log',
    operationId: 'listRequests',
    client: ['requests', 'list'],
    sample: listed,
    tag: 'Requests',
    summary: 'List the requests of the last 7 days, newest first',
    description:
      'Each request of the company with its answer, without bodies, about a second after the answer. Requests to this operation are left out. If few requests match, a page may have fewer than `limit`, or be empty; only the last page has no Link header.',
    scope: 'webhooks:read',
    query: RequestQuery,
    data: Type.Array(RequestView),
    status: 200,
    message: 'Requests listed.',
    problems: [],
    async handle(call) {
      const { app, company } = call
      const { end, ...filter } = wantedOf(call)
      const { limit, after, publicCursorOf } = requestPage(call)
      const before = after !== null && (end === null || after < end) ? after : end
      const wanted = { ...filter, before }
      const { requests, next } = await listRequests(app.db, company.id, wanted, limit)
      const show = (one: (typeof requests)[number]) =>
        showRequest(one, find(one.operation) ?? AGENT)
      const data = await showAll(company.id, requests, show)
      return { data, next: next === null ? null : publicCursorOf({ id: next }) }
    },
  }),
]
