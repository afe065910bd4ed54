import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import scalar from '@scalar/fastify-api-reference'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { FullApp } from '../core/full-app.ts'
import { clientName } from '../lib/client-name.ts'
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
type Copy = {
  of: string | Buffer
  plain: Buffer
  packed: Buffer
  tag: string
  policy: string | null
}

/**
 * Encodes, compresses and hashes each payload once, because it does not change while the server
 * runs. The scripts have megabytes, so they are compressed on another thread.
 */
function cacheAnswers(scope: FastifyInstance): void {
  const copies = new Map<string, Promise<Copy>>()
  scope.addHook('onSend', async (request, reply, payload) => {
    const isText = typeof payload === 'string' || Buffer.isBuffer(payload)
    if (reply.statusCode !== 200 || !isText) return payload
    const path = request.routeOptions.url ?? ''
    const making = copies.get(path)
    if (making) {
      const copy = await making
      if (copy.of === payload) return answer(request, reply, copy)
    }
    const made = copyOf(payload, String(reply.getHeader('content-type')))
    copies.set(path, made)
    return answer(request, reply, await made)
  })
}

const pack = promisify(gzip)

async function copyOf(payload: string | Buffer, type: string): Promise<Copy> {
  const plain = Buffer.from(payload as string)
  const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 22)
  const isPage = type.startsWith('text/html')
  const policy = isPage ? policyOf(String(payload)) : null
  return { of: payload, plain, packed: await pack(plain), tag: `W/"${hash}"`, policy }
}

function answer(request: FastifyRequest, reply: FastifyReply, copy: Copy): Buffer | null {
  reply.headers({ 'Cache-Control': CACHED, ETag: copy.tag, Vary: 'Accept-Encoding' })
  if (copy.policy) reply.header('Content-Security-Policy', copy.policy)
  const known = String(request.headers['if-none-match'] ?? '').split(/\s*,\s*/)
  if (known.includes(copy.tag) || known.includes('*')) {
    reply.code(304).removeHeader('content-length')
    return null
  }
  reply.removeHeader('content-length')
  if (!/\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))) return copy.plain
  reply.header('Content-Encoding', 'gzip')
  return copy.packed
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
