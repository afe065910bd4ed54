import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Cause, doneFor, type Facts, type Span, tracingNow } from '../lib/tracing.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The span of this request. Null if nothing is traced. */
    span: Span | null
  }
}

/**
 * Makes a span of each request, if this process traces. A trace that its caller names is linked and
 * not continued: strangers could otherwise have everything traced, or put it into one trace.
 */
export function traceRequests(server: FastifyInstance): void {
  server.decorateRequest('span', null)
  const tracing = tracingNow()
  if (!tracing) return
  server.addHook('onRequest', (request, reply, done) => {
    const { method, routeOptions } = request
    const route = routeOptions.url ?? 'none'
    // Only the route: what stands in its place in a path may be a token.
    const facts = { 'http.request.method': method, 'http.route': route }
    const name = `${method} ${route}`
    const link = callerOf(request)
    request.span = tracing.begin({ name, kind: 'server', facts, link })
    reply.raw.once('close', () => end(request, null))
    doneFor([request.span], done)
  })
  // The body arrives as events of the connection, which know nothing of the request.
  server.addHook('preHandler', (request, _reply, done) => {
    const { span, session, callback } = request
    const companyId = session?.company.id ?? callback?.companyId
    if (span && companyId !== undefined) span.companyId = companyId
    doneFor(span ? [span] : [], done)
  })
  server.addHook('onResponse', (request, reply, done) => {
    end(request, reply.statusCode)
    done()
  })
}

/** `status`: none if the client has left before. */
function end(request: FastifyRequest, status: number | null): void {
  const { span, errorCode } = request
  if (!span) return
  request.span = null
  span.note(factsOf(request, span, status))
  const isFault = status !== null && status >= 500
  span.end(isFault ? (errorCode ?? String(status)) : undefined)
}

function factsOf(
  { id, route, agentCall }: FastifyRequest,
  { companyId }: Span,
  status: number | null,
): Facts {
  const operation = agentCall?.operation ?? route?.operationId
  return {
    'vintem.request': id,
    ...(status === null ? {} : { 'http.response.status_code': status }),
    ...(operation === undefined ? {} : { 'vintem.operation': operation }),
    ...(companyId === undefined ? {} : { 'vintem.company': companyId }),
  }
}

const TRACE = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/
const NOTHING = /^0+$/

function callerOf({ headers: { traceparent } }: FastifyRequest): Cause | null {
  if (typeof traceparent !== 'string') return null
  const [, traceId, spanId, flags] = TRACE.exec(traceparent) ?? []
  if (!traceId || !spanId || NOTHING.test(traceId) || NOTHING.test(spanId)) return null
  return { traceId, spanId, isSampled: (Number.parseInt(flags!, 16) & 1) === 1 }
}
