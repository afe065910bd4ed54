import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { FullApp } from '../../core/full-app.ts'
import { clientName } from '../../lib/client-name.ts'
import { answerWith, type Copy, makeCopy } from '../../lib/copies.ts'
import type { Language } from '../../lib/language.ts'
import { problem } from '../../lib/problems.ts'
import { VERSION } from '../../lib/version.ts'
import { navigation } from '../developer.ts'
import { type Html, html, type Shown } from '../html.ts'
import { icon, languageOf, type Page, pageText, sendPage } from '../layout.ts'
import { secure } from '../security.ts'
import type { Site } from '../site.ts'
import { TEXTS } from '../texts.ts'
import {
  DECISIONS_PATH,
  type Guide,
  HOME,
  LISTED,
  type Library,
  readLibrary,
  START,
} from './library.ts'
import { createSearch, type Found, MAX_QUERY, type Part, type Search, wordsOf } from './search.ts'

/** Searches per address. A page that searches while somebody types sends a few a second. */
const SEARCHES = { perSecond: 5, burst: 100 }
/** All addresses together. */
const SEARCHES_IN_ALL = { perSecond: 100, burst: 500 }

/** A copy is of a guide, with the menu in the language of its reader. */
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
  const language = languageOf(request)
  const name = `${language} ${path}`
  let copy = copies.get(name)
  if (!copy) {
    copy = makeCopy(pageText(request, site.assets, guidePage(site, library, guide, language)))
    copies.set(name, copy)
  }
  const { status, headers, body } = answerWith(await copy, request.headers)
  const Vary = 'Accept-Encoding, Accept-Language'
  secure(reply, null).headers({ ...headers, Vary, 'Cache-Control': 'public, no-cache' })
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

const tagOf = (language: Language): string => TEXTS[language].tag

/** A guide with the menu, its contents, and the guides before and after it. */
function guidePage(site: Site, library: Library, guide: Guide, language: Language): Page {
  const { title } = guide
  const isOther = guide.language !== language
  const lang = isOther && html` lang="${tagOf(guide.language)}"`
  const body = html`${contents(guide, language)}
<article class="card article"${lang}>
${isOther && otherLanguage(guide, language)}${guide.body}
${neighbours(library, guide, language)}
</article>`
  return { ...framed(site, library, language, guide.path), title, body }
}

/** Says that a guide is not in the language of its reader, and what is. */
function otherLanguage({ language: own }: Guide, language: Language): Html {
  const { note, instead } = GUIDES[language]
  const path = own === 'en' ? HOME : START
  return html`<p class="notice" lang="${tagOf(language)}">${icon('alert')}<span>${note} <a href="${path}">${instead}</a></span></p>`
}

/** What was found for a query. */
function foundPage(
  site: Site,
  library: Library,
  query: string,
  { found, count }: { found: Found[]; count: number },
  language: Language,
): Page {
  const texts = GUIDES[language]
  const asked = query.slice(0, MAX_QUERY).trim()
  const title = texts.found(count, asked)
  const body = html`<section class="card article" id="found" lang="${tagOf(language)}">
<h1>${title}</h1>
${count === 0 && html`<p>${texts.hint}</p>`}
<ol class="found">${found.map((one) => foundItem(one, language))}</ol>
${count > found.length && html`<p class="soft">${texts.more(found.length)}</p>`}
</section>`
  return { ...framed(site, library, language, HOME, asked), title, body }
}

type Frame = Pick<
  Page,
  'language' | 'kind' | 'styles' | 'scripts' | 'nav' | 'aside' | 'footer' | 'data'
>

function framed(
  { app }: Site,
  library: Library,
  language: Language,
  here: string,
  query = '',
): Frame {
  const { copy, copied } = GUIDES[language]
  return {
    language,
    kind: 'guides',
    styles: ['developer.css', 'guides.css'],
    scripts: ['guides.js'],
    nav: navigation({ language, chosen: null }, 'guides', app.config.local),
    aside: menu(library, language, here, query),
    footer: html`<p>Vintém ${VERSION}</p>`,
    data: { copy, copied },
  }
}

function menu({ guides }: Library, language: Language, here: string, query: string): Html {
  const texts = GUIDES[language]
  const link = (path: string, title: string, own: Language) => {
    const isHere = path === here && query === ''
    return html`<li><a class="menu-link" href="${path}"${own !== language && html` lang="${tagOf(own)}"`}${isHere && html` aria-current="page"`}>${title}</a></li>`
  }
  const groups = LISTED.map((group) => {
    const own = guides.filter((guide) => guide.group === group)
    const links = own.map(({ path, title, language }) => link(path, title, language))
    if (group === 'Reference') links.unshift(link('/docs', texts.api, language))
    if (group === 'Operation') links.push(link(DECISIONS_PATH, texts.groups.Decisions!, language))
    return html`<p class="group" id="group-${group.toLowerCase()}">${texts.groups[group]}</p>
<ul aria-labelledby="group-${group.toLowerCase()}">${links}</ul>`
  })
  return html`<div class="side"><search><form class="search" action="${HOME}">
<label class="hide" for="q">${texts.search}</label>
<input type="search" id="q" name="q" value="${query}" maxlength="${MAX_QUERY}" placeholder="${texts.find}" autocomplete="off">
<button class="button slim" aria-label="${texts.find}">${icon('search')}</button>
</form></search>
<nav aria-label="${texts.menu}"><details class="folded"><summary>${texts.menu}</summary>
${groups}
</details></nav></div>
`
}

/** The headings of the page. */
function contents({ headings }: Guide, language: Language): Shown {
  const shown = headings.filter(({ depth }) => depth <= 3)
  if (shown.length < 2) return null
  const { contents } = GUIDES[language]
  return html`<nav class="contents" aria-label="${contents}"><details class="folded"><summary>${contents}</summary>
<ul>${shown.map(({ id, text, depth }) => html`<li><a class="menu-link${depth === 3 && ' deep'}" href="#${id}">${text}</a></li>`)}</ul>
</details></nav>`
}

function neighbours({ guides }: Library, guide: Guide, language: Language): Html {
  const at = guides.indexOf(guide)
  const texts = GUIDES[language]
  const link = (to: Guide | undefined, rel: 'prev' | 'next', text: string) =>
    to &&
    html`<a class="${rel}" rel="${rel}" href="${to.path}"><span class="soft small">${text}</span><strong${to.language !== language && html` lang="${tagOf(to.language)}"`}>${to.title}</strong></a>`
  return html`<nav class="neighbours" lang="${tagOf(language)}" aria-label="${texts.pages}">${link(guides[at - 1], 'prev', texts.previous)}${link(guides[at + 1], 'next', texts.next)}</nav>`
}

const marked = (parts: Part[]): Html[] =>
  parts.map(({ text, isMatch }) => (isMatch ? html`<mark>${text}</mark>` : html`${text}`))

function foundItem({ guide, section, heading, passage }: Found, language: Language): Html {
  const address = section.id === null ? guide.path : `${guide.path}#${section.id}`
  const title = section.id !== null && html`<span class="soft small">${guide.title}</span>`
  const lang = guide.language !== language && html` lang="${tagOf(guide.language)}"`
  return html`<li${lang}><a href="${address}">${marked(heading)}</a>${title}<p>${marked(passage)}</p></li>\n`
}

const GROUPS_PT: Record<string, string> = {
  Start: 'Primeiros passos',
  Guides: 'Guias (em inglês)',
  Concepts: 'Conceitos',
  Reference: 'Referência',
  Operation: 'Operação',
  Decisions: 'Decisões',
}

const pt = {
  menu: 'Guias',
  contents: 'Nesta página',
  search: 'Buscar nos guias',
  find: 'Buscar',
  previous: 'Anterior',
  next: 'Próxima',
  pages: 'Página anterior e próxima',
  api: 'Referência da API',
  groups: GROUPS_PT,
  found: (count: number, query: string) =>
    count === 0
      ? `Nada encontrado para “${query}”`
      : `${count} ${count === 1 ? 'resultado' : 'resultados'} para “${query}”`,
  more: (shown: number) =>
    `Estes são os ${shown} primeiros. Use mais palavras para encontrar menos.`,
  hint: 'Tente menos palavras, ou em inglês: os guias estão em inglês.',
  note: 'Este guia está em inglês.',
  instead: 'Leia a introdução em português',
  copy: 'Copiar',
  copied: 'Copiado',
}

type Texts = typeof pt

const en: Texts = {
  menu: 'Guides',
  contents: 'On this page',
  search: 'Search the guides',
  find: 'Search',
  previous: 'Previous',
  next: 'Next',
  pages: 'Previous and next page',
  api: 'API reference',
  groups: {
    Start: 'First steps',
    Guides: 'Guides',
    Concepts: 'Concepts',
    Reference: 'Reference',
    Operation: 'Operation',
    Decisions: 'Decisions',
  },
  found: (count, query) =>
    count === 0
      ? `Nothing found for “${query}”`
      : `${count} ${count === 1 ? 'result' : 'results'} for “${query}”`,
  more: (shown) => `These are the first ${shown}. Use more words to find fewer.`,
  hint: 'Try fewer words, or a part of a word.',
  note: 'This introduction is in Portuguese.',
  instead: 'Read the first steps in English',
  copy: 'Copy',
  copied: 'Copied',
}

const GUIDES = { pt, en } as const satisfies Record<Language, Texts>
