import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { FullApp } from '../../core/full-app.ts'
import { clientName } from '../../lib/client-name.ts'
import { answerWith, type Copy, makeCopy } from '../../lib/copies.ts'
import { problem } from '../../lib/problems.ts'
import { languageOf, pageText, sendPage } from '../layout.ts'
import { secure } from '../security.ts'
import type { Site } from '../site.ts'
import { type Guide, HOME, type Library, readLibrary } from './library.ts'
import { foundPage, guidePage } from './pages.ts'
import { createSearch, type Search, wordsOf } from './search.ts'

/** Searches per address. A page that searches while somebody types sends a few a second. */
const SEARCHES = { perSecond: 5, burst: 100 }
/** All addresses together. */
const SEARCHES_IN_ALL = { perSecond: 100, burst: 500 }

type Reader = { library: Library; search: Search; copies: Map<Guide, Promise<Copy>> }

type GuideRequest = FastifyRequest<{ Params: { '*'?: string }; Querystring: { q?: unknown } }>

/** The files of `docs/` as pages, and a search in them. */
export function registerGuides(scope: FastifyInstance, site: Site): void {
  const limit = searchLimit(site.app)
  let reading: Promise<Reader> | null = null
  // The files are read at the first request, so that the server starts faster.
  const read = () => {
    reading ??= openReader(site.app).catch((error) => {
      reading = null
      throw error
    })
    return reading
  }
  scope.get(HOME, async (request: GuideRequest, reply) => {
    const query = queryOf(request)
    if (wordsOf(query).length === 0) return sendGuide(site, request, reply, await read(), HOME)
    await limit(request)
    const { library, search } = await read()
    const page = foundPage(site, library, query, search(query), languageOf(request))
    return sendPage(request, reply, site.assets, page)
  })
  scope.get(`${HOME}/*`, async (request: GuideRequest, reply) => {
    const path = `${HOME}/${request.params['*']}`
    const reader = await read()
    const plain = path.replace(/(\.md|\/)$/, '')
    if (plain !== path && reader.library.find(plain)) return reply.redirect(plain, 301)
    return sendGuide(site, request, reply, reader, path)
  })
}

async function openReader({ publicUrl }: FullApp): Promise<Reader> {
  const library = await readLibrary(publicUrl)
  return { library, search: createSearch(library), copies: new Map() }
}

/** If it is repeated, the first value counts. */
function queryOf({ query: { q } }: GuideRequest): string {
  const first: unknown = Array.isArray(q) ? q[0] : q
  return typeof first === 'string' ? first : ''
}

/** Each page is made and compressed once. Browsers ask each time whether theirs is still valid. */
async function sendGuide(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  { library, copies }: Reader,
  path: string,
): Promise<FastifyReply> {
  const guide = library.find(path)
  if (!guide) throw problem('route_not_found')
  let copy = copies.get(guide)
  if (!copy) {
    copy = makeCopy(pageText(request, site.assets, guidePage(site, library, guide)))
    copies.set(guide, copy)
  }
  const { status, headers, body } = answerWith(await copy, request.headers)
  secure(reply, null).headers({ ...headers, 'Cache-Control': 'public, no-cache' })
  return reply.status(status).type('text/html; charset=utf-8').send(body)
}

function searchLimit({ config, limits }: FullApp): (request: FastifyRequest) => Promise<void> {
  if (!config.rateLimit) return async () => {}
  const byAddress = limits.rate('searches by address', SEARCHES.perSecond, SEARCHES.burst)
  const inAll = limits.rate('searches', SEARCHES_IN_ALL.perSecond, SEARCHES_IN_ALL.burst)
  return async (request) => {
    const wait_s = (await byAddress.take(clientName(request.ip))) || (await inAll.take('all'))
    const headers = { 'Retry-After': String(Math.ceil(wait_s)) }
    if (wait_s > 0) throw problem('rate_limited', undefined, headers)
  }
}
