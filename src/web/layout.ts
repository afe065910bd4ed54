import { gzipSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Company } from '../core/companies/rules.ts'
import { DEFAULT_COLOR } from '../lib/contrast.ts'
import type { Language } from '../lib/language.ts'
import { type Assets, takesGzip } from './assets.ts'
import { type Html, html, raw, render, type Shown } from './html.ts'
import { inLanguage, languageOf } from './language.ts'
import { type Preview, previewTags } from './preview.ts'
import { imageOrigin, secure } from './security.ts'
import { type Fault, TEXTS } from './texts.ts'

type Brand = Pick<Company, 'name' | 'color' | 'imageUrl'>

export type Page = {
  title: string
  language: Language
  /** The content of <main>. */
  body: Shown
  /** The company of the page; Vintém if it is left out. */
  brand?: Brand | null
  /** Names of scripts in `web/`, loaded as modules. */
  scripts?: string[]
  /** Names of more style sheets in `web/`. All pages have `style.css`. */
  styles?: string[]
  /** Links to other pages, beside the name at the top. */
  nav?: Html
  /** A menu beside the content. */
  aside?: Html
  /** Instead of the link to the other language. */
  footer?: Html
  /** Whether our own pages are sent the URL of this page. Its URL has no secret then. */
  sameSiteReferrer?: boolean
  /** Whether it shows pages of ours in frames. */
  frames?: boolean
  /** Without scripts the page reloads after so many seconds. */
  refresh_s?: number | null
  /** A class for <body>: how wide the page is, and what it looks like. */
  kind?: string
  /** What scripts need to know, as data-* attributes of <main>. */
  data?: Record<string, string>
  /** What messengers show of a link to the page. */
  preview?: Preview
  status?: number
}

const OWN: Brand = { name: 'Vintém', color: DEFAULT_COLOR, imageUrl: null }

export { inLanguage, languageOf }

/** Sends a page with its security headers. */
export function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  assets: Assets,
  page: Page,
): FastifyReply {
  const { imageUrl } = page.brand ?? OWN
  const body = render(documentOf(request, assets, page))
  secure(reply, imageUrl, page.frames, page.sameSiteReferrer)
    .status(page.status ?? 200)
    .type('text/html; charset=utf-8')
  reply.headers({
    'Content-Language': TEXTS[page.language].tag,
    Vary: 'Accept-Encoding, Accept-Language',
  })
  if (!takesGzip(request)) return reply.send(body)
  return reply.header('Content-Encoding', 'gzip').send(gzipSync(body))
}

/** A page as text, to be shown inside another one. */
export const pageText = (request: FastifyRequest, assets: Assets, page: Page): string =>
  render(documentOf(request, assets, page))

function documentOf(request: FastifyRequest, assets: Assets, page: Page): Html {
  const { language, refresh_s } = page
  const brand = page.brand ?? OWN
  const texts = TEXTS[language]
  return html`<!doctype html>
<html lang="${texts.tag}">
<head>
<meta charset="utf-8">
<title>${page.title} · ${brand.name}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="${brand.color}">
<meta name="robots" content="noindex">
${page.preview && previewTags(page.preview, `${page.title} · ${brand.name}`, brand.name, language)}<link rel="icon" href="${assets.url('icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${assets.url('style.css')}">
${(page.styles ?? []).map((name) => html`<link rel="stylesheet" href="${assets.url(name)}">`)}
<link rel="stylesheet" href="${assets.theme(brand.color)}">
${(page.scripts ?? []).map((name) => html`<script type="module" src="${assets.url(name)}"></script>`)}
${refresh_s && html`<noscript><meta http-equiv="refresh" content="${refresh_s}"></noscript>`}
</head>
<body class="${page.kind ?? 'narrow'}">
<a class="skip" href="#main">${texts.skip}</a>
<header class="top"><div class="inside">${logo(brand)}<p class="name">${brand.name}</p>${page.nav}</div></header>
${page.aside}<main id="main" class="inside"${attributes(page.data)}>
${page.body}
</main>
<footer class="inside foot">
<p>${texts.poweredBy}</p>
${page.footer ?? languageLink(request, language)}
</footer>
</body>
</html>
`
}

const languageLink = (request: FastifyRequest, language: Language): Html =>
  html`<p><a href="${otherAddress(request, language)}" hreflang="${language === 'pt' ? 'en' : 'pt-BR'}" lang="${language === 'pt' ? 'en' : 'pt-BR'}">${TEXTS[language].otherLanguage}</a></p>`

const attributes = (data: Record<string, string> = {}): Html[] =>
  Object.entries(data).map(([name, value]) => html` data-${name}="${value}"`)

/**
 * The company's image, which covers the first letter of its name. The letter is visible if there is
 * no image, or if it cannot be loaded.
 */
function logo({ name, imageUrl }: Brand): Html {
  const initial = [...name.trim()][0]?.toUpperCase()
  const image =
    imageOrigin(imageUrl) !== null &&
    html`<img src="${imageUrl}" alt="" height="40" referrerpolicy="no-referrer">`
  return html`<span class="logo"><span class="initial" aria-hidden="true">${initial}</span>${image}</span>`
}

/** The URL of this page in the other language. After a form it is the page of the form. */
function otherAddress({ url }: FastifyRequest, language: Language): string {
  const [path, search] = url.split('?')
  const query = new URLSearchParams(search)
  query.delete('lang')
  const address = query.size > 0 ? `${path}?${query}` : path!
  return inLanguage(address, language === 'pt' ? 'en' : 'pt')
}

/** A page that shows an error. */
export function faultOf(status: number): Fault {
  if (status === 404) return 'missing'
  if (status === 409 || status === 410) return 'closed'
  if (status === 429) return 'busy'
  if (status === 503) return 'unavailable'
  return status < 500 ? 'invalid' : 'broken'
}

export function faultPage(fault: Fault, language: Language, status: number): Page {
  const { title, text } = TEXTS[language].faults[fault]
  const body = html`<section class="card result">
${icon('alert')}
<h1>${title}</h1>
<p>${text}</p>
</section>`
  return { title, language, body, status }
}

const ICONS = {
  check: '<path d="m5 12.5 4.5 4.5L19 7.5"/>',
  cross: '<path d="m7 7 10 10M17 7 7 17"/>',
  chat: '<path d="M4 19.5 5.3 16A8 8 0 1 1 8.2 18.8Z"/>',
  clock: '<circle cx="12" cy="12" r="8.5"/><path d="M12 7.5V12l3 2"/>',
  alert: '<circle cx="12" cy="12" r="9"/><path d="M12 7.5v5M12 16v.5"/>',
  back: '<path d="M9 7 4 12l5 5M4 12h11a5 5 0 0 1 0 10h-3"/>',
  copy: '<rect x="9" y="9" width="11" height="11" rx="2"/><path d="M15 9V6a2 2 0 0 0-2-2H6a2 2 0 0 0-2 2v7a2 2 0 0 0 2 2h3"/>',
  key: '<circle cx="8" cy="15.5" r="4.5"/><path d="M11.5 12 20 3.5M16.5 7l3 3"/>',
  lock: '<rect x="5" y="11" width="14" height="9" rx="2"/><path d="M8 11V8a4 4 0 0 1 8 0v3"/>',
  mail: '<rect x="3" y="5" width="18" height="14" rx="2"/><path d="m4 7 8 6 8-6"/>',
  next: '<path d="m9 6 6 6-6 6"/>',
  plus: '<path d="M12 5v14M5 12h14"/>',
  print:
    '<path d="M7 9V4h10v5M7 17H5a1 1 0 0 1-1-1v-6a1 1 0 0 1 1-1h14a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1h-2M7 14h10v6H7z"/>',
  search: '<circle cx="11" cy="11" r="6.5"/><path d="m16 16 4.5 4.5"/>',
  download: '<path d="M12 4v11m-5-5 5 5 5-5M5 20h14"/>',
  qr: '<rect x="4" y="4" width="6" height="6" rx="1"/><rect x="14" y="4" width="6" height="6" rx="1"/><rect x="4" y="14" width="6" height="6" rx="1"/><path d="M14 14h2v2m4-2v2m-6 2v2h2m2-2h2v2"/>',
  share:
    '<circle cx="6" cy="12" r="2.5"/><circle cx="17.5" cy="5.5" r="2.5"/><circle cx="17.5" cy="18.5" r="2.5"/><path d="m8.2 10.8 7.1-4.1M8.2 13.2l7.1 4.1"/>',
  repeat: '<path d="M17 3l4 4-4 4M3 11V9a2 2 0 0 1 2-2h16M7 21l-4-4 4-4M21 13v2a2 2 0 0 1-2 2H3"/>',
} as const

export type IconName = keyof typeof ICONS

/** An icon. It is hidden from screen readers, because the text beside it says the same. */
export const icon = (name: IconName): Html =>
  raw(
    `<svg class="icon" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">${ICONS[name]}</svg>`,
  )
