import { createHash } from 'node:crypto'
import scalar from '@scalar/fastify-api-reference'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { FullApp } from '../core/full-app.ts'
import { clientName } from '../lib/client-name.ts'
import { answerWith, type Copy, makeCopy } from '../lib/copies.ts'
import { problem } from '../lib/problems.ts'
import { LATEST, VERSIONS } from '../versions/history.ts'
import { collection } from './collection.ts'
import { documentPath, openApiDocument } from './openapi.ts'

/** Per address. A page of the docs takes four requests, and most of them once an hour. */
const READS = { perSecond: 5, burst: 100 }

/** All addresses together. The scripts are large, but browsers cache them. */
const READS_IN_ALL = { perSecond: 20, burst: 200 }

/** Cached for an hour. After that a browser asks whether its copy is still valid. */
const CACHED = 'public, max-age=3600'

/** The OpenAPI documents and their pages. They are limited, compressed and cached by browsers. */
export function registerDocs(server: FastifyInstance, app: FullApp): void {
  server.register(async (scope) => {
    limitReads(scope, app)
    cacheAnswers(scope)
    for (const version of VERSIONS) {
      let document: string | undefined
      scope.get(documentPath(version), async (_request, reply) => {
        // Create it at the first request, so that the server starts faster.
        document ??= JSON.stringify(openApiDocument(app.publicUrl, version))
        return reply.type('application/json; charset=utf-8').send(document)
      })
    }
    let requests: string | undefined
    scope.get('/collection.json', async (_request, reply) => {
      requests ??= JSON.stringify(collection(app.publicUrl))
      return reply.type('application/json; charset=utf-8').send(requests)
    })
    registerPages(scope)
  })
}

function limitReads(scope: FastifyInstance, app: FullApp): void {
  if (!app.config.rateLimit) return
  const { rate } = app.limits
  const byAddress = rate('docs by address', READS.perSecond, READS.burst)
  const inAll = rate('docs', READS_IN_ALL.perSecond, READS_IN_ALL.burst)
  scope.addHook('onRequest', async (request) => {
    // A request that is refused by its address does not count in the limit of all addresses.
    const wait_s = (await byAddress.take(clientName(request.ip))) || (await inAll.take('all'))
    const headers = { 'Retry-After': String(Math.ceil(wait_s)) }
    if (wait_s > 0) throw problem('rate_limited', undefined, headers)
  })
}

/** The payload of a route, and the bytes that are sent for it. */
type Payload = { of: string | Buffer; copy: Copy; policy: string | null }

/** Encodes, compresses and hashes each payload once. */
function cacheAnswers(scope: FastifyInstance): void {
  const payloads = new Map<string, Promise<Payload>>()
  scope.addHook('onSend', async (request, reply, payload) => {
    const isText = typeof payload === 'string' || Buffer.isBuffer(payload)
    if (reply.statusCode !== 200 || !isText) return payload
    const path = request.routeOptions.url ?? ''
    const making = payloads.get(path)
    if (making) {
      const known = await making
      if (known.of === payload) return answer(request, reply, known)
    }
    const made = prepare(payload, String(reply.getHeader('content-type')))
    payloads.set(path, made)
    return answer(request, reply, await made)
  })
}

async function prepare(payload: string | Buffer, type: string): Promise<Payload> {
  const policy = type.startsWith('text/html') ? policyOf(String(payload)) : null
  return { of: payload, copy: await makeCopy(payload), policy }
}

function answer(request: FastifyRequest, reply: FastifyReply, known: Payload): Buffer | null {
  const { status, headers, body } = answerWith(known.copy, request.headers)
  reply.code(status).headers({ ...headers, 'Cache-Control': CACHED })
  if (known.policy) reply.header('Content-Security-Policy', known.policy)
  reply.removeHeader('content-length')
  return body
}

/** The page runs only its own scripts, connects only to this server, and is shown in no frame. */
function policyOf(page: string): string {
  const inline = [...page.matchAll(/<script\b(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g)]
  const hashes = inline.map(
    ([, code]) => `'sha256-${createHash('sha256').update(code!).digest('base64')}'`,
  )
  return [
    "default-src 'none'",
    ['script-src', "'self'", ...hashes].join(' '),
    // The scripts of the page add styles while they run.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self' blob:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

function registerPages(scope: FastifyInstance): void {
  scope.register(scalar, {
    routePrefix: '/docs',
    // The page must not load anything from other servers.
    configuration: {
      pageTitle: 'Vintém',
      sources: VERSIONS.toReversed().map((version) => ({
        title: `Vintém ${version.name}`,
        slug: version.name,
        url: documentPath(version),
        default: version === LATEST,
      })),
      withDefaultFonts: false,
      telemetry: false,
      proxyUrl: '',
      showDeveloperTools: 'never',
      hideClientButton: true,
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  })
}
