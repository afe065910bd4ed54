import { isIP } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DEFAULT_COLOR } from '../lib/contrast.ts'
import type { Language } from '../lib/language.ts'
import { type Html, html, render } from './html.ts'
import { chosenLanguage, type PageLanguage } from './language.ts'
import { icon, inLanguage, type Page, sendPage } from './layout.ts'
import type { Site } from './site.ts'

/**
 * Whether the key and the mails of local mode may be shown. If the host name is not ours, they may
 * not, because another site can let its own name resolve to this machine to read them.
 */
export function isLocalHost({ app }: Site, { hostname }: FastifyRequest): boolean {
  if (!app.config.local) return false
  const name = hostname.replace(/^\[|\]$/g, '')
  return isIP(name) !== 0 || name === 'localhost' || name === new URL(app.publicUrl).hostname
}

const NAMES = {
  pt: {
    nav: 'Páginas',
    front: 'Início',
    guides: 'Guias',
    docs: 'API',
    bank: 'Banco',
    mailbox: 'E-mails',
    dashboard: 'Painel',
  },
  en: {
    nav: 'Pages',
    front: 'Home',
    guides: 'Guides',
    docs: 'API',
    bank: 'Bank',
    mailbox: 'Mail',
    dashboard: 'Dashboard',
  },
} as const

type Link = { path: string; name: keyof (typeof NAMES)['pt'] & string }

const LINKS: Link[] = [
  { path: '/', name: 'front' },
  { path: '/bank', name: 'bank' },
  { path: '/mailbox', name: 'mailbox' },
  { path: '/guides', name: 'guides' },
  { path: '/docs', name: 'docs' },
  // Whoever is not signed in is asked to.
  { path: '/dashboard', name: 'dashboard' },
]

/** Pages without a language of their own. */
const ONE_LANGUAGE = ['docs', 'dashboard']

export function navigation(
  { language, chosen }: PageLanguage,
  here: Link['name'],
  isLocal: boolean,
): Html {
  const names = NAMES[language]
  const shown = LINKS.filter(({ name }) => isLocal || name !== 'mailbox')
  const current = html` aria-current="page"`
  return html`<nav class="pages" aria-label="${names.nav}">${shown.map(
    ({ path, name }) =>
      html`<a href="${ONE_LANGUAGE.includes(name) ? path : inLanguage(path, chosen)}"${name === here && current}>${names[name]}</a>`,
  )}</nav>`
}

/**
 * The page of the API reference, which another library makes, below our header. It is cached, so it
 * is the same for everybody.
 */
export function withHeader({ app, assets }: Site, page: string): string {
  const styles = html`<link rel="icon" href="${assets.url('icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${assets.url('reference.css')}">
<link rel="stylesheet" href="${assets.theme(DEFAULT_COLOR)}">`
  const links = navigation({ language: 'en', chosen: null }, 'docs', app.config.local)
  const header = html`<header class="vintem-top"><a class="vintem-name" href="/">Vintém</a>${links}</header>`
  return page
    .replace('<html>', '<html lang="en">')
    .replace('</head>', () => `${render(styles)}\n</head>`)
    .replace('<body>', () => `<body>\n${render(header)}`)
}

/** Sends a page for developers. It is wide and links to the others. */
export function sendDeveloperPage(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  here: Link['name'],
  page: Page,
): FastifyReply {
  const chosen = chosenLanguage(request.query) ?? chosenLanguage(request.body)
  return sendPage(request, reply, site.assets, {
    kind: 'wide',
    styles: ['developer.css'],
    scripts: ['actions.js'],
    ...page,
    nav: navigation({ language: page.language, chosen }, here, site.app.config.local),
  })
}

const COPY = {
  pt: { copy: 'Copiar', copied: 'Copiado' },
  en: { copy: 'Copy', copied: 'Copied' },
} as const

/** A button that copies a text. Without scripts it is hidden, and a click selects the text. */
export const copyButton = (text: string, what: string, language: Language): Html =>
  html`<button type="button" class="button quiet slim copy js" data-copy="${text}" data-copied="${COPY[language].copied}">${icon('copy')}<span aria-live="polite"><span>${COPY[language].copy}</span><span class="hide"> ${what}</span></span></button>`
