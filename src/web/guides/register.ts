import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { FullApp } from '../../core/full-app.ts'
import { clientName } from '../../lib/client-name.ts'
import { answerWith, type Copy, makeCopy } from '../../lib/copies.ts'
import type { Language } from '../../lib/language.ts'
import { problem } from '../../lib/problems.ts'
import { VERSION } from '../../lib/version.ts'
import { navigation } from '../developer.ts'
import { type Html, html, type Shown } from '../html.ts'
import { chosenLanguage, inLanguage, type PageLanguage } from '../language.ts'
import { icon, languageOf, type Page, pageText, sendPage } from '../layout.ts'
import { secure } from '../security.ts'
import type { Site } from '../site.ts'
import { TEXTS } from '../texts.ts'
import {
  anchorsOf,
  DECISIONS_PATH,
  type Edition,
  editionOf,
  type Guide,
  HOME,
  LISTED,
  type Library,
  readLibrary,
} from './library.ts'
import { listOfGuides, markdownOf } from './plain.ts'
import { createSearch, type Found, MAX_QUERY, type Part, type Search, wordsOf } from './search.ts'
import { GUIDES } from './texts.ts'

/** Searches per address. A page that searches while somebody types sends a few a second. */
const SEARCHES = { perSecond: 5, burst: 100 }
/** All addresses together. */
const SEARCHES_IN_ALL = { perSecond: 100, burst: 500 }

/** A copy is of a guide in a language, as a page or as Markdown. */
type Reader = { library: Library; search: Search; copies: Map<string, Promise<Copy>> }

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
    const reader = readerOf(request)
    const page = foundPage(site, library, query, search(query, reader.language), reader)
    return sendPage(request, reply, site.assets, page)
  })
  scope.get(`${HOME}/*`, async (request: GuideRequest, reply) => {
    const path = `${HOME}/${request.params['*']}`
    if (path.endsWith('/')) return reply.redirect(path.replace(/\/+$/, ''), 301)
    return sendGuide(site, request, reply, await read(), path)
  })
  scope.get(`${HOME}.md`, async (request, reply) =>
    sendGuide(site, request, reply, await read(), `${HOME}.md`),
  )
  scope.get('/llms.txt', async (request, reply) => {
    const reader = readerOf(request)
    const { library, copies } = await read()
    const { publicUrl } = site.app
    const make = () => listOfGuides(library, { publicUrl, ...reader })
    return sendCopy(request, reply, copies, { name: 'llms.txt', type: 'text/plain', reader, make })
  })
}

/** The language of a reader: of `?lang=`, or else the one that the browser prefers. */
const readerOf = (request: FastifyRequest): PageLanguage => ({
  language: languageOf(request),
  chosen: chosenLanguage(request.query),
})

async function openReader({ publicUrl }: FullApp): Promise<Reader> {
  const library = await readLibrary(publicUrl)
  return { library, search: createSearch(library), copies: new Map() }
}

/** If it is repeated, the first value counts. */
function queryOf({ query: { q } }: GuideRequest): string {
  const first: unknown = Array.isArray(q) ? q[0] : q
  return typeof first === 'string' ? first : ''
}

/** A guide as a page or, under its address and `.md`, as Markdown. */
async function sendGuide(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  { library, copies }: Reader,
  path: string,
): Promise<FastifyReply> {
  const isPlain = path.endsWith('.md')
  const guide = library.find(isPlain ? path.slice(0, -'.md'.length) : path)
  if (!guide) throw problem('route_not_found')
  const reader = readerOf(request)
  const { publicUrl } = site.app
  const make = isPlain
    ? () => markdownOf(library, editionOf(guide, reader.language), { publicUrl, ...reader })
    : () => pageText(request, site.assets, guidePage(site, library, guide, reader))
  const type = isPlain ? 'text/markdown' : 'text/html'
  return sendCopy(request, reply, copies, { name: path, type, reader, make })
}

type Copied = { name: string; type: string; reader: PageLanguage; make: () => string }

/** Each page is made and compressed once. Browsers ask each time whether theirs is still valid. */
async function sendCopy(
  request: FastifyRequest,
  reply: FastifyReply,
  copies: Reader['copies'],
  { name, type, reader: { language, chosen }, make }: Copied,
): Promise<FastifyReply> {
  const key = [name, language, chosen].join()
  let copy = copies.get(key)
  if (!copy) {
    copy = makeCopy(make())
    copies.set(key, copy)
  }
  const { status, headers, body } = answerWith(await copy, request.headers)
  secure(reply, null).headers({
    ...headers,
    Vary: 'Accept-Encoding, Accept-Language',
    'Cache-Control': 'public, no-cache',
    'Content-Language': tagOf(language),
  })
  return reply.status(status).type(`${type}; charset=utf-8`).send(body)
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

const tagOf = (language: Language): string => TEXTS[language].tag

/** A guide with the menu, its contents, and the guides before and after it. */
function guidePage(site: Site, library: Library, guide: Guide, reader: PageLanguage): Page {
  const { language, chosen } = reader
  const edition = editionOf(guide, language)
  const resolve = (href: string) => library.resolve(edition, href, chosen)
  const shown = edition.show({ resolve, anchors: anchorsOf(guide, edition) })
  const isOther = edition.language !== language
  const body = html`${contents(edition, language)}
<article class="card article"${isOther && html` lang="${tagOf(edition.language)}"`}>
${isOther && notTranslated(language)}${shown}
${neighbours(library, guide, reader)}
</article>`
  const { title } = edition
  return { ...framed(site, library, reader, guide.path), title, body }
}

/** Says that a guide is not in the language of its reader. */
const notTranslated = (language: Language): Html =>
  html`<p class="notice" lang="${tagOf(language)}">${icon('alert')}<span>${GUIDES[language].note}</span></p>`

/** What was found for a query. */
function foundPage(
  site: Site,
  library: Library,
  query: string,
  { found, count }: { found: Found[]; count: number },
  reader: PageLanguage,
): Page {
  const { language } = reader
  const texts = GUIDES[language]
  const asked = query.slice(0, MAX_QUERY).trim()
  const title = texts.found(count, asked)
  const body = html`<section class="card article" id="found" lang="${tagOf(language)}">
<h1>${title}</h1>
${count === 0 && html`<p>${texts.hint}</p>`}
<ol class="found">${found.map((one) => foundItem(one, reader))}</ol>
${count > found.length && html`<p class="soft">${texts.more(found.length)}</p>`}
</section>`
  return { ...framed(site, library, reader, HOME, asked), title, body }
}

type Frame = Pick<
  Page,
  'language' | 'kind' | 'styles' | 'scripts' | 'nav' | 'aside' | 'footer' | 'data'
>

function framed(
  { app }: Site,
  library: Library,
  reader: PageLanguage,
  here: string,
  query = '',
): Frame {
  const { language } = reader
  const { copy, copied } = GUIDES[language]
  return {
    language,
    kind: 'guides',
    styles: ['developer.css', 'guides.css'],
    scripts: ['guides.js'],
    nav: navigation(reader, 'guides', app.config.local),
    aside: menu(library, reader, here, query),
    footer: html`<p>Vintém ${VERSION}</p>`,
    data: { copy, copied },
  }
}

function menu({ guides }: Library, reader: PageLanguage, here: string, query: string): Html {
  const { language, chosen } = reader
  const texts = GUIDES[language]
  const link = (path: string, title: string, own: Language) => {
    const isHere = path === here && query === ''
    return html`<li><a class="menu-link" href="${path === '/docs' ? path : inLanguage(path, chosen)}"${own !== language && html` lang="${tagOf(own)}"`}${isHere && html` aria-current="page"`}>${title}</a></li>`
  }
  const groups = LISTED.map((group) => {
    const own = guides.filter((guide) => guide.group === group)
    const links = own.map((guide) => {
      const edition = editionOf(guide, language)
      return link(guide.path, edition.title, edition.language)
    })
    if (group === 'Reference') links.unshift(link('/docs', texts.api, language))
    if (group === 'Operation') links.push(link(DECISIONS_PATH, texts.groups.Decisions!, language))
    return html`<p class="group" id="group-${group.toLowerCase()}">${texts.groups[group]}</p>
<ul aria-labelledby="group-${group.toLowerCase()}">${links}</ul>`
  })
  return html`<div class="side"><search><form class="search" action="${HOME}">
<label class="hide" for="q">${texts.search}</label>
<input type="search" id="q" name="q" value="${query}" maxlength="${MAX_QUERY}" placeholder="${texts.find}" autocomplete="off">
${chosen && html`<input type="hidden" name="lang" value="${chosen}">`}<button class="button slim" aria-label="${texts.find}">${icon('search')}</button>
</form></search>
<nav aria-label="${texts.menu}">${otherForms(language, here, query)}
<details class="folded"><summary>${texts.menu}</summary>
${groups}
</details></nav></div>
`
}

/** Links to the same page in the other language, and as Markdown. */
function otherForms(language: Language, here: string, query: string): Html {
  const texts = GUIDES[language]
  const other = language === 'pt' ? 'en' : 'pt'
  const address = query === '' ? here : `${HOME}?${new URLSearchParams({ q: query })}`
  const plain =
    query === '' && html` <a href="${inLanguage(`${here}.md`, language)}">${texts.markdown}</a>`
  return html`<p class="forms small"><a class="language" href="${inLanguage(address, other)}" hreflang="${tagOf(other)}" lang="${tagOf(other)}">${texts.inOther}</a>${plain}</p>`
}

/** The headings of the page. */
function contents({ headings }: Edition, language: Language): Shown {
  const shown = headings.filter(({ depth }) => depth <= 3)
  if (shown.length < 2) return null
  const { contents } = GUIDES[language]
  return html`<nav class="contents" aria-label="${contents}"><details class="folded"><summary>${contents}</summary>
<ul>${shown.map(({ id, text, depth }) => html`<li><a class="menu-link${depth === 3 && ' deep'}" href="#${id}">${text}</a></li>`)}</ul>
</details></nav>`
}

function neighbours({ guides }: Library, guide: Guide, { language, chosen }: PageLanguage): Html {
  const at = guides.indexOf(guide)
  const texts = GUIDES[language]
  const link = (to: Guide | undefined, rel: 'prev' | 'next', text: string) => {
    if (!to) return null
    const { title, language: own } = editionOf(to, language)
    return html`<a class="${rel}" rel="${rel}" href="${inLanguage(to.path, chosen)}"><span class="soft small">${text}</span><strong${own !== language && html` lang="${tagOf(own)}"`}>${title}</strong></a>`
  }
  return html`<nav class="neighbours" lang="${tagOf(language)}" aria-label="${texts.pages}">${link(guides[at - 1], 'prev', texts.previous)}${link(guides[at + 1], 'next', texts.next)}</nav>`
}

const marked = (parts: Part[]): Html[] =>
  parts.map(({ text, isMatch }) => (isMatch ? html`<mark>${text}</mark>` : html`${text}`))

function foundItem(
  { guide, edition, section, heading, passage }: Found,
  { language, chosen }: PageLanguage,
): Html {
  const page = inLanguage(guide.path, chosen)
  const address = section.id === null ? page : `${page}#${section.id}`
  const title = section.id !== null && html`<span class="soft small">${edition.title}</span>`
  const lang = edition.language !== language && html` lang="${tagOf(edition.language)}"`
  return html`<li${lang}><a href="${address}">${marked(heading)}</a>${title}<p>${marked(passage)}</p></li>\n`
}
