import type { FastifyReply } from 'fastify'
import type { Needs } from '../../core/people/rules.ts'
import { suffixOf } from '../../lib/ids.ts'
import { Problem } from '../../lib/problems.ts'
import { formatMoment } from '../../pix/local-time.ts'
import { type Html, html } from '../html.ts'
import { faultOf, icon, sendPage } from '../layout.ts'
import { TEXTS } from '../texts.ts'
import { DASHBOARD, type Section } from './texts.ts'
import type { DashboardPage, SignedIn, Visit } from './visit.ts'

/** The menu, and what a section needs to be shown there. */
const SECTIONS: { name: Section; path: string; needs: Needs }[] = [
  { name: 'today', path: '', needs: 'payments:read' },
  { name: 'charges', path: '/charges', needs: 'payments:read' },
  { name: 'links', path: '/links', needs: 'payments:read' },
  { name: 'new', path: '/new', needs: 'payments:write' },
  { name: 'customers', path: '/customers', needs: 'payments:read' },
  { name: 'products', path: '/products', needs: 'catalog:read' },
  { name: 'subscriptions', path: '/subscriptions', needs: 'payments:read' },
  { name: 'balance', path: '/balance', needs: 'balance:read' },
  { name: 'reports', path: '/reports', needs: 'balance:read' },
  { name: 'unmatched', path: '/unmatched', needs: 'payments:read' },
  { name: 'disputes', path: '/disputes', needs: 'payments:read' },
  { name: 'developers', path: '/developers', needs: 'webhooks:read' },
  { name: 'settings', path: '/settings', needs: 'company:read' },
]

export const homeOf = (companyId: string): string => `/dashboard/${suffixOf(companyId)}`

/** Sends a page of a company, with its menu. */
export function sendDashboardPage(visit: Visit, page: DashboardPage): FastifyReply {
  const { company, language } = visit
  const texts = DASHBOARD[language]
  const shown = SECTIONS.filter(({ needs }) => visit.can(needs))
  const current = html` aria-current="page"`
  const menu = html`<nav class="menu" aria-label="${texts.menu}">${shown.map(
    ({ name, path }) =>
      html`<a href="${visit.url(path)}"${name === page.here && current}>${texts.sections[name]}</a>`,
  )}</nav>`
  const notice =
    company.mode === 'sandbox' &&
    html`<p class="notice warn slim-notice">${icon('alert')}<span>${texts.sandbox} ${clockText(visit)}</span></p>`
  const suspended =
    company.suspendedAt !== null &&
    html`<p class="notice bad slim-notice">${icon('lock')}<span>${texts.suspended}</span></p>`
  return sendPage(visit.request, visit.reply, visit.site.assets, {
    title: page.title,
    language,
    brand: company,
    kind: 'dashboard',
    styles: ['dashboard.css', ...(page.styles ?? [])],
    scripts: ['actions.js', ...(page.scripts ?? [])],
    nav: personLinks(visit),
    aside: menu,
    body: html`${suspended}${notice}${page.body}`,
    footer: languageForm(visit),
    sameSiteReferrer: true,
    ...(page.status ? { status: page.status } : {}),
    ...(page.data ? { data: page.data } : {}),
  })
}

const UNITS = { day: 86_400_000, hour: 3_600_000, minute: 60_000, second: 1000 } as const

/** The time of a sandbox whose clock was moved, and how far it is from the real time. */
function clockText({ app, company, language }: Visit): string | null {
  const ahead = company.clockAhead_ms
  const [unit, length] = Object.entries(UNITS).find(([, ms]) => ahead >= ms) ?? []
  if (!unit || !length) return null
  const tag = TEXTS[language].tag
  const form = new Intl.NumberFormat(tag, { style: 'unit', unit, unitDisplay: 'long' })
  return DASHBOARD[language].clock(
    formatMoment(app.clock.now()),
    form.format(Math.floor(ahead / length)),
  )
}

/** Why a page cannot be shown, and the way back. */
export function faultBody(
  { language }: Pick<SignedIn, 'language'>,
  status: number,
  home: string,
): { title: string; body: Html } {
  const texts = DASHBOARD[language]
  const fault = faultOf(status)
  const { title, text } = TEXTS[language].faults[fault]
  const body = html`<section class="card result">${icon('alert')}<h1>${title}</h1><p>${fault === 'missing' ? texts.missing : text}</p><div class="actions"><a class="button slim" href="${home}">${texts.toHome}</a></div></section>`
  return { title, body }
}

type Framed = SignedIn & {
  url(path: string): string
  send(page: Pick<DashboardPage, 'title' | 'body' | 'status'> & { here: null }): FastifyReply
}

/** Shows an expected failure with the menu, so that the person can go on. */
export function showFault(visit: Framed, error: unknown): FastifyReply {
  if (!(error instanceof Problem) || visit.reply.sent) throw error
  const { status, headers } = error
  visit.reply.headers(headers)
  return visit.send({ ...faultBody(visit, status, visit.url('')), here: null, status })
}

/** Sends a page that belongs to the person, not to a company. */
export function sendOwnPage(
  visitor: SignedIn,
  page: { title: string; body: Html; status?: number },
) {
  const { request, reply, site, language } = visitor
  return sendPage(request, reply, site.assets, {
    ...page,
    language,
    styles: ['dashboard.css'],
    nav: personLinks(visitor),
    footer: languageForm(visitor),
    sameSiteReferrer: true,
  })
}

/** The person and their links, at the top of every page. An operator goes from one to the other. */
export function personLinks({ person, language, formOf, request }: SignedIn): Html {
  const texts = DASHBOARD[language]
  const isOperating = request.url.startsWith('/operator')
  const other = isOperating
    ? html`<a href="/dashboard">${texts.dashboard}</a>`
    : person.isOperator && html`<a href="/operator">${texts.operator}</a>`
  return html`<div class="person">${other}<a href="/account">${person.name}<span class="hide"> · ${texts.account}</span></a>${formOf('/sign-out', html`<button class="plain">${texts.signOut}</button>`)}</div>`
}

/** Switches the person's language. The page is shown again. */
export const languageForm = ({ language, formOf, request }: SignedIn): Html =>
  formOf(
    '/account/language',
    html`<input type="hidden" name="next" value="${request.method === 'GET' ? request.url : ''}"><button class="plain" name="language" value="${language === 'pt' ? 'en' : 'pt'}" lang="${language === 'pt' ? 'en' : 'pt-BR'}">${DASHBOARD[language].switchLanguage}</button>`,
  )
