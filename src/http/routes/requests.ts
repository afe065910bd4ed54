import Type, { type Static } from 'typebox'
import { listKeysAfter } from '../../core/companies/store.ts'
import { CLASS_NAMES } from '../../core/request-log/classes.ts'
import { oldestKept } from '../../core/request-log/rules.ts'
import {
  type Known,
  listRequests,
  listUsedOperations,
  type RequestFilter,
} from '../../core/request-log/store.ts'
import { RequestQuery, RequestView, showRequest } from '../../core/request-log/view.ts'
import { lowestIdAt } from '../../lib/ids.ts'
import { endOfPeriod, startOfPeriod } from '../../pix/local-time.ts'
import { requestPage } from '../page.ts'
import { type Call, type Route, route } from '../route.ts'
import { readPage } from '../slices.ts'

/** A filter by operation looks at so many keys at most, the newest first. */
const MAX_KEYS = 100

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

/** What the index has, as far as the filter needs it. */
async function knownTo(
  { app, company }: Pick<Call, 'app' | 'company'>,
  wanted: Wanted,
): Promise<Known> {
  const { operation, keyId } = wanted
  if (operation === null && keyId === null) return { operations: [], keyIds: [] }
  const since = oldestKept(app.systemClock.now())
  const [used, keys] = await Promise.all([
    operation === null ? listUsedOperations(app.db, company.id, since) : [],
    keyId === null ? listKeysAfter(app.db, company.id, { limit: MAX_KEYS, after: null }) : [],
  ])
  return { operations: used.map((one) => one.operation), keyIds: keys.map(({ id }) => id) }
}

/** `find` knows the operations of the whole table, which these belong to. */
export const requestRoutes = (find: (operationId: string) => Route | undefined): Route[] => [
  route({
    method: 'GET',
    path: '/request-log',
    operationId: 'listRequests',
    tag: 'Requests',
    summary: 'List the requests of the last 7 days, newest first',
    description:
      'Each request of the company with its answer, without bodies, about a second after the answer. Requests to this operation are left out.',
    scope: 'webhooks:read',
    query: RequestQuery,
    data: Type.Array(RequestView),
    status: 200,
    message: 'Requests listed.',
    problems: [],
    async handle(call) {
      const { app, company } = call
      const { end, ...filter } = wantedOf(call)
      const known = await knownTo(call, { end, ...filter })
      return readPage(
        requestPage(call),
        ({ limit, after }) => {
          const before = after !== null && (end === null || after < end) ? after : end
          return listRequests(app.db, company.id, { ...filter, before }, known, limit)
        },
        (request) => showRequest(request, find(request.operation) ?? AGENT),
      )
    },
  }),
]
