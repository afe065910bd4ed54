import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import type { FullFront } from '../core/full-app.ts'
import { placeOf } from '../core/places/front.ts'
import { clientName, withoutPorts } from '../lib/client-name.ts'
import { newId, suffixOf, type Uuid } from '../lib/ids.ts'
import { problem } from '../lib/problems.ts'
import { takeTurn } from '../lib/turns.ts'
import { LATEST, type Version } from '../versions/history.ts'
import { type Admit, admission, requestedVersion } from './admission.ts'
import type { AgentCall } from './agent-message.ts'
import { registerAgents } from './agents.ts'
import { arrivalOf } from './arrival.ts'
import type { Session } from './auth.ts'
import { BODY_LIMIT_BYTES, readBody, VALUES_LIMIT } from './body.ts'
import { compileRoute } from './call.ts'
import { registerCallbacks } from './callbacks.ts'
import { registerDocs } from './docs.ts'
import { languageOfCall, refuseBrokenRequest, renderFailure, toProblem } from './failures.ts'
import { addSafeHeaders, safeHeaders } from './headers.ts'
import { KEEP_ALIVE_MS } from './keep-alive.ts'
import { codeOf, statusOf } from './operator.ts'
import { registerOperatorApi } from './operator-api.ts'
import { registerPayers } from './payers.ts'
import type { RequestSlot } from './request-slots.ts'
import type { Route } from './route.ts'
import { ROUTES } from './routes/all.ts'
import type { ServerParts } from './server-parts.ts'
import { traceRequests } from './tracing.ts'

declare module 'node:http' {
  interface IncomingMessage {
    /** Its id in the request log. `request.id` is the same, as clients see it. */
    logId: Uuid
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    version: Version
    session: Session | null
    idempotencyKey: string | null
    route: Route | null
    slot: RequestSlot | null
    /** Of a request that counts as several: waits until the rate of its key allows one more. */
    pace: (() => Promise<void>) | null
    /** What an agent asks for. Null for others. */
    agentCall: AgentCall | null
    /** Of the catalogue, if the answer is an error. */
    errorCode: string | null
  }
}

const HEADERS_LIMIT_BYTES = 16 * 1024
/** How long a client may take to send a whole request. */
const REQUEST_TIMEOUT_MS = 30_000

export async function buildServer(parts: ServerParts): Promise<FastifyInstance> {
  const { app } = parts
  const safe = safeHeaders(app.publicUrl)
  const refuse = (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    const fault = toProblem(error, request, app.log)
    if (fault.code === 'route_not_found' && isBrowser(request)) {
      return parts.pages.missing(request, reply)
    }
    request.errorCode = fault.code
    const { body, status, headers } = renderFailure(fault, request.version, languageOfCall(request))
    reply
      .status(status)
      .headers({ ...safe, ...headers })
      .header('X-Request-Id', request.id)
    reply.header('X-Api-Version', request.version.name)
    reply.type('application/json; charset=utf-8').send(body)
  }
  const server = Fastify({
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    genReqId: (raw) => {
      const id = newId()
      raw.logId = id
      return suffixOf(id)
    },
    trustProxy: app.config.trustedProxies.length > 0 ? app.config.trustedProxies : false,
    // During a shutdown requests on open connections are answered and not refused.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: HEADERS_LIMIT_BYTES },
    // Of a header that is sent twice Node would take the first, and a proxy perhaps the other.
    http: { maxHeaderSize: HEADERS_LIMIT_BYTES, joinDuplicateHeaders: true },
    clientErrorHandler: refuseBrokenRequest,
    // A path that cannot be decoded is refused before any hook has run.
    frameworkErrors: (error, request, reply) => {
      request.version = requestedVersion(request) ?? LATEST
      refuse(error, request as FastifyRequest, reply as FastifyReply)
    },
  })
  decorateRequests(server)
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, parseBody)
  traceRequests(server)
  beginRequests(server, parts)
  server.addHook('onResponse', (request, reply, done) => {
    observe(parts, request, reply)
    done()
  })
  server.setErrorHandler(refuse)
  addSafeHeaders(server, app.publicUrl)
  if (app.places.all.length > 1) findPlacesAgain(server, app)
  registerOperations(server, parts)
  registerPayers(server, app)
  registerCallbacks(server, app)
  registerOperatorApi(server, app)
  const admit = admission(parts)
  registerRoutes(server, parts, admit)
  registerAgents(server, parts, admit)
  parts.pages.register(server)
  await server.ready()
  return server
}

/** What happens to a request first: its address and version are known, or it is refused. */
function beginRequests(server: FastifyInstance, parts: ServerParts): void {
  const { config } = parts.app
  const hasProxies = config.trustedProxies.length > 0
  server.addHook('onRequest', (request, reply, done) => {
    const { headers } = request
    const forwarded = headers['x-forwarded-for']
    // Addresses are read from the header whenever they are asked for.
    if (hasProxies && typeof forwarded === 'string') {
      headers['x-forwarded-for'] = withoutPorts(forwarded)
    }
    if (parts.closing.aborted) reply.header('Connection', 'close')
    // Until the company is known, the requested version decides the form of an error.
    request.version = requestedVersion(request) ?? LATEST
    if (headers.host?.includes(',')) done(twoHosts())
    else done(request.is404 ? unknownRoute(request) : undefined)
  })
}

/** Names the fields of a request before the first one, so that all requests have the same form. */
function decorateRequests(server: FastifyInstance): void {
  server.decorateRequest('version')
  server.decorateRequest('session', null)
  server.decorateRequest('idempotencyKey', null)
  server.decorateRequest('route', null)
  server.decorateRequest('slot', null)
  server.decorateRequest('pace', null)
  server.decorateRequest('agentCall', null)
  server.decorateRequest('errorCode', null)
}

/**
 * Finds the place of the company again when the body has arrived, which may take long: the company
 * may have changed its place since the key or the token was read.
 */
function findPlacesAgain(server: FastifyInstance, app: FullFront): void {
  server.addHook('preHandler', async (request) => {
    const { session, callback } = request
    if (session) {
      const placed = (await app.places.find(session.company.id, true)) ?? session.app
      request.session = { ...session, app: placed }
    }
    if (callback) {
      request.callback = { ...callback, app: await placeOf(app, callback.companyId) }
    }
  })
}

function registerRoutes(server: FastifyInstance, parts: ServerParts, admit: Admit): void {
  for (const route of ROUTES) {
    const answer = compileRoute(parts.app, route)
    server.route({
      method: route.method,
      url: route.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      bodyLimit: route.largeBody?.bytes ?? BODY_LIMIT_BYTES,
      onRequest: (request, reply, done) => {
        request.route = route
        admit(request, reply, route, done)
      },
      handler: (request, reply) => request.slot!.during(() => answer(request, reply)),
    })
  }
}

/** Parsing and checking a body of this size takes less than half a millisecond. */
const SMALL_BODY_BYTES = 8192

function parseBody(
  request: FastifyRequest,
  raw: string | Buffer,
  done: (error: Error | null, body?: unknown) => void,
): void {
  const parse = () => {
    let body: unknown
    try {
      body = readBody(raw as Buffer, request.route?.largeBody?.values ?? VALUES_LIMIT)
    } catch (error) {
      done(error as Error)
      return
    }
    done(null, body)
  }
  const sender = request.session?.company.id ?? clientName(request.ip)
  const waiting = raw.length > SMALL_BODY_BYTES ? takeTurn(sender) : undefined
  if (waiting) waiting.then(parse)
  else parse()
}

/** Whether the request is from a browser that shows pages. */
const isBrowser = ({ method, headers }: FastifyRequest): boolean =>
  method === 'GET' && /\btext\/html\b/.test(headers.accept ?? '')

const twoHosts = () => problem('invalid_value', 'Host: send one such header')

/** Thrown before the body of the request is read. */
const unknownRoute = (request: FastifyRequest) =>
  problem('route_not_found', `No operation answers ${request.method} on this path. See /docs.`)

/** Longer ids, and those with spaces or other characters that nobody sees, are left out. */
const CALLER_ID = /^[\x21-\x7e]{1,128}$/
const TRACE = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/** A header by which the caller names its request, if it has the form of one. */
function namedBy({ headers }: FastifyRequest, header: string, form: RegExp): string | undefined {
  const id = headers[header]
  return typeof id === 'string' && form.test(id) ? id : undefined
}

/** Writes a log line, a metric and an entry of the request log, from named fields only. */
function observe({ app }: ServerParts, request: FastifyRequest, reply: FastifyReply): void {
  const { route, agentCall } = request
  const operation = agentCall?.operation ?? route?.operationId
  const status = agentCall?.status ?? reply.statusCode
  const seconds = reply.elapsedTime / 1000
  app.metrics.request(
    request.method,
    route?.path ?? request.routeOptions.url ?? 'none',
    reply.statusCode,
    seconds,
  )
  if (operation === undefined) return
  const callerId = namedBy(request, 'x-request-id', CALLER_ID)
  app.log.request({
    reqId: request.id,
    op: operation,
    status,
    ms: Math.round(reply.elapsedTime * 10) / 10,
    company: request.session?.company.id,
    key: request.session?.keyId,
    callerId,
    traceparent: namedBy(request, 'traceparent', TRACE),
  })
  // Whoever follows the log asks every second, which would fill it.
  if (!request.session || operation === 'listRequests') return
  request.session.app.requestLog.add({
    companyId: request.session.company.id,
    id: request.raw.logId,
    keyId: request.session.keyId,
    operation,
    status,
    errorCode: request.errorCode,
    ms: Math.round(reply.elapsedTime),
    callerId: callerId ?? null,
  })
}

/** How long the readiness is cached, because each check writes to the database. */
const READY_MS = 250

/** Health, readiness, the OpenAPI document and its pages. */
function registerOperations(server: FastifyInstance, { app, isReady, pages }: ServerParts): void {
  server.addHook('onSend', async (request, reply) => {
    reply.header('X-Request-Id', request.id)
  })
  server.get('/health', async (request) => {
    const arrival = arrivalOf(request, app.vault, app.systemClock.now().getTime())
    return arrival ? { status: 'ok', arrival } : { status: 'ok' }
  })
  const ready = cache(isReady)
  server.get('/ready', async (_request, reply) => {
    const findings = await ready()
    // This port shows only the status. The port of operators shows the reasons too.
    return reply.status(codeOf(findings)).send({ status: statusOf(findings) })
  })
  registerDocs(server, app, pages.withHeader)
}

/** Caches the answer for a moment, so that many requests cost only one check. */
function cache<T>(find: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | null = null
  let until_ms = 0
  return () => {
    if (found && performance.now() < until_ms) return found
    found = find()
    until_ms = performance.now() + READY_MS
    return found
  }
}
