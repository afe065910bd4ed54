import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { FullApp } from '../core/full-app.ts'
import { clientName } from '../lib/client-name.ts'
import { answerWith, type Copy, makeCopy } from '../lib/copies.ts'
import { problem } from '../lib/problems.ts'
import { VERSIONS } from '../versions/history.ts'
import { collection } from './collection.ts'
import { documentPath, openApiDocument } from './openapi.ts'
import { makeReferencePage } from './reference-page.ts'

/** Per address. A page of the docs takes four requests, and most of them once an hour. */
const READS = { perSecond: 5, burst: 100 }

/** All addresses together. The scripts are large, but browsers cache them. */
const READS_IN_ALL = { perSecond: 20, burst: 200 }

/** Cached for an hour. After that a browser asks whether its copy is still valid. */
const CACHED = 'public, max-age=3600'

/** The OpenAPI documents and their pages. They are limited, compressed and cached by browsers. */
export function registerDocs(
  server: FastifyInstance,
  app: FullApp,
  withHeader: (page: string) => string,
): void {
  server.register(async (scope) => {
    limitReads(scope, app)
    for (const version of VERSIONS) {
      serveJson(scope, documentPath(version), () => openApiDocument(app.publicUrl, version))
    }
    serveJson(scope, '/collection.json', () => collection(app.publicUrl))
    servePages(scope, withHeader)
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

const serveJson = (scope: FastifyInstance, path: string, make: () => unknown): void =>
  serve(scope, path, 'application/json; charset=utf-8', async () => ({
    copy: await makeCopy(JSON.stringify(make())),
  }))

function servePages(scope: FastifyInstance, withHeader: (page: string) => string): void {
  const find = onceMade(makeReferencePage)
  scope.get('/docs', async (_request, reply) => reply.redirect('/docs/', 301))
  serve(scope, '/docs/', 'text/html; charset=utf-8', async () => {
    const page = withHeader((await find()).page)
    return { copy: await makeCopy(page), policy: policyOf(page) }
  })
  serve(scope, '/docs/js/scalar.js', 'application/javascript; charset=utf-8', async () => ({
    copy: (await find()).script,
  }))
}

/** Answers with a copy that the first request makes, so that the server starts faster. */
function serve(
  scope: FastifyInstance,
  path: string,
  type: string,
  make: () => Promise<{ copy: Copy; policy?: string }>,
): void {
  const find = onceMade(make)
  scope.get(path, async (request, reply) => {
    const { copy, policy } = await find()
    const { status, headers, body } = answerWith(copy, request.headers)
    if (policy) reply.header('Content-Security-Policy', policy)
    reply.code(status).headers({ ...headers, 'Cache-Control': CACHED })
    return body ? reply.type(type).send(body) : reply.send()
  })
}

/** Makes a value at the first call. If that fails, the next call tries again. */
function onceMade<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null
  return () => {
    made ??= make().catch((error) => {
      made = null
      throw error
    })
    return made
  }
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
