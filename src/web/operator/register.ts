import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { hasProvenFactor } from '../../core/people/second-factors.ts'
import { problem } from '../../lib/problems.ts'
import { factorNeeded } from '../account/security-pages.ts'
import { showFault } from '../dashboard/shell.ts'
import { findSignedIn, hasConfirmed } from '../dashboard/signed-in.ts'
import type { SignedIn } from '../dashboard/visit.ts'
import type { Site } from '../site.ts'
import { OPERATOR_ROUTES } from './routes.ts'
import { sendOperatorPage } from './shell.ts'
import type { OperatorRoute, OperatorVisit } from './visit.ts'

const OPERATOR_HOME = '/operator'

/** The pages of the whole installation. To everybody but operators they do not exist. */
export function registerOperator(scope: FastifyInstance, site: Site): void {
  for (const route of [...OPERATOR_ROUTES, ...UNKNOWN]) {
    scope.route({
      method: route.method,
      url: `${OPERATOR_HOME}${route.path}`,
      exposeHeadRoute: false,
      handler: (request, reply) => show(site, route, request, reply),
    })
  }
}

async function show(
  site: Site,
  route: OperatorRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const visitor = await findSignedIn(site, request, reply)
  if (!visitor?.person.isOperator) throw problem('route_not_found')
  const visit = visitOf(visitor)
  // Without a second factor an operator only reads.
  const isChange = route.method === 'POST' || route.confirmed
  const { person, session } = visitor
  if (isChange && !hasProvenFactor(session, person, site.app.systemClock.now()))
    return visit.send({ ...factorNeeded(visit, 'operator'), here: 'overview' })
  if (route.confirmed && !hasConfirmed(visit)) return askToConfirm(visit)
  try {
    return await route.handle(visit)
  } catch (error) {
    return showFault(visit, error)
  }
}

/** An address below that of the operators that has no page. */
const UNKNOWN: OperatorRoute[] = (['GET', 'POST'] as const).map((method) => ({
  method,
  path: '/*',
  handle: () => {
    throw problem('route_not_found')
  },
}))

/** After a form the operator goes on at the overview, because the form is gone. */
function askToConfirm({ request, reply, url }: OperatorVisit): FastifyReply {
  const next = request.method === 'GET' ? request.url : url('')
  return reply.redirect(`/account/confirm?${new URLSearchParams({ next })}`, 303)
}

function visitOf(visitor: SignedIn): OperatorVisit {
  const url = (path: string) => `${OPERATOR_HOME}${path}`
  const visit: OperatorVisit = {
    ...visitor,
    app: { ...visitor.site.app, unreached: new Set() },
    url,
    send: (page) => sendOperatorPage(visit, page),
    redirect: (path, done) =>
      visitor.reply.redirect(url(done === undefined ? path : `${path}?done=${done}`), 303),
  }
  return visit
}
