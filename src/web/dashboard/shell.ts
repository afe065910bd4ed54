import type { FastifyReply, FastifyRequest } from 'fastify'
import { MAX_COUNTED, type Waiting } from '../../core/figures/waiting.ts'
import { suffixOf } from '../../lib/ids.ts'
import { Problem } from '../../lib/problems.ts'
import { formatDay, formatMoment, localDateOf } from '../../pix/local-time.ts'
import { type Html, html } from '../html.ts'
import { faultOf, icon, languageOf, type Page, sendPage } from '../layout.ts'
import { bottomBar, type Entry, type Group, sideMenu } from '../menu.ts'
import type { Site } from '../site.ts'
import { TEXTS } from '../texts.ts'
import { searchBox } from './search-box.ts'
import { ON_THE_BAR, SECTIONS, type Section } from './sections.ts'
import { peekSignedIn, visitorOf } from './signed-in.ts'
import { DASHBOARD } from './texts.ts'
import type { DashboardPage, SignedIn, Visit } from './visit.ts'

export const homeOf = (companyId: string): string => `/dashboard/${suffixOf(companyId)}`

/** Sends a page of a company, with its menu. */
export function sendDashboardPage(visit: Visit, page: DashboardPage): FastifyReply {
  const { company, language } = visit
  const texts = DASHBOARD[language]
  const { groups, first } = entriesOf(visit, page.here)
  const notice =
    company.mode === 'sandbox' &&
    html`<p class="notice warn slim-notice">${icon('alert')}<span>${texts.sandbox} ${clockText(visit)}</span></p>`
  const suspended =
    company.suspendedAt !== null &&
    html`<p class="notice bad slim-notice">${icon('lock')}<span>${texts.suspended}</span></p>`
  return sendPage(visit.request, visit.reply, visit.site.assets, {
    ...frameOf(visit),
    nav: html`${searchBox(visit)}${headLinks(visit)}`,
    title: page.title,
    brand: company,
    kind: 'dashboard',
    styles: ['dashboard.css', 'lists.css', ...(page.styles ?? [])],
    scripts: ['actions.js', 'search.js', ...(page.scripts ?? [])],
    aside: sideMenu(texts, groups),
    bar: bottomBar(texts, groups, first),
    body: html`${suspended}${notice}${page.body}`,
    ...(page.status ? { status: page.status } : {}),
    ...(page.data ? { data: page.data } : {}),
  })
}

/** The menu of the person, and what of it is on the bar of a phone. */
function entriesOf(
  { language, can, url, waiting }: Visit,
  here: Section | null,
): { groups: Group[]; first: Entry[] } {
  const counts = countsOf(waiting)
  const shown = SECTIONS.filter(({ needs }) => can(needs))
  const entries = new Map(
    shown.map((section): [Section, Entry] => [
      section.name,
      {
        href: url(section.path),
        label: section[language],
        ...('short' in section ? { short: section.short[language] } : {}),
        icon: section.icon,
        isHere: section.name === here,
        waiting: countText(counts[section.name] ?? 0),
      },
    ]),
  )
  const { parts } = DASHBOARD[language]
  const groups = (Object.keys(parts) as (keyof typeof parts)[]).map((part) => ({
    title: parts[part],
    entries: shown.filter((one) => one.part === part).map(({ name }) => entries.get(name)!),
  }))
  return { groups, first: ON_THE_BAR.flatMap((name) => entries.get(name) ?? []).slice(0, 4) }
}

/** What waits in each section. */
const countsOf = ({
  unmatched,
  disputes,
  webhooks,
}: Waiting): Partial<Record<Section, number>> => ({
  unmatched,
  disputes,
  developers: webhooks,
})

const countText = (count: number): string | null =>
  count === 0 ? null : count < MAX_COUNTED ? String(count) : `${MAX_COUNTED}+`

/** The day of a sandbox whose clock was moved and the real one, or the times of the same day. */
function clockText({ app, site, company, language }: Visit): string | null {
  if (company.clockAhead_ms < 60_000) return null
  const { clock } = DASHBOARD[language]
  const [here, real] = [app.clock.now(), site.app.systemClock.now()] as const
  const [day, today] = [localDateOf(here), localDateOf(real)]
  if (day !== today) return clock.day(formatDay(day), formatDay(today))
  const timeOf = (at: Date) => formatMoment(at).split(' ')[1]!
  return clock.time(timeOf(here), timeOf(real))
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

/** The other language, and what belongs to the person. */
const headLinks = (visitor: SignedIn): Html => html`${languageForm(visitor)}${personMenu(visitor)}`

/** What all pages behind a sign-in have. */
export const frameOf = (
  visitor: SignedIn,
): Pick<Page, 'language' | 'nav' | 'footer' | 'sameSiteReferrer'> => ({
  language: visitor.language,
  nav: headLinks(visitor),
  footer: html``,
  sameSiteReferrer: true,
})

/** Sends a page that belongs to the person, not to a company. */
export const sendOwnPage = (
  visitor: SignedIn,
  page: Pick<Page, 'title' | 'body' | 'status' | 'scripts' | 'styles' | 'data'>,
): FastifyReply =>
  sendPage(visitor.request, visitor.reply, visitor.site.assets, {
    ...page,
    ...frameOf(visitor),
    home: '/dashboard',
    scripts: ['actions.js', ...(page.scripts ?? [])],
    styles: ['dashboard.css', ...(page.styles ?? [])],
  })

/**
 * Says why a page behind a sign-in cannot be shown, with the person's links and a way back, or with
 * the way to sign in.
 */
export async function sendFault(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
): Promise<FastifyReply> {
  // If the database is away, nobody can be found either.
  const found = await peekSignedIn(site, request).catch(() => null)
  if (found) {
    const visitor = visitorOf(site, request, reply, found)
    return sendOwnPage(visitor, { ...faultBody(visitor, status, '/dashboard'), status })
  }
  const language = languageOf(request)
  const page = { ...faultBody({ language }, status, '/sign-in'), language, status }
  return sendPage(request, reply, site.assets, { ...page, styles: ['dashboard.css'] })
}

/** The person and their links, at the top of every page. An operator goes from one to the other. */
function personMenu({ person, language, formOf, request }: SignedIn): Html {
  const texts = DASHBOARD[language]
  const operator =
    person.isOperator &&
    !request.url.startsWith('/operator') &&
    html`<a href="/operator">${icon('gauge')}<span>${texts.operator}</span></a>`
  return html`<details class="popup person"><summary>${icon('person')}<span class="person-name">${person.name}</span><span class="hide"> · ${texts.account}</span></summary>
<div class="sheet"><a href="/account">${icon('sliders')}<span>${texts.account}</span></a><a href="/dashboard">${icon('home')}<span>${texts.ownCompanies}</span></a>${operator}${formOf('/sign-out', html`<button>${icon('exit')}<span>${texts.signOut}</span></button>`)}</div></details>`
}

/** Switches the person's language. The page is shown again. */
function languageForm({ language, formOf, request }: SignedIn): Html {
  const { name, short } = DASHBOARD[language].switchLanguage
  const next = request.method === 'GET' ? request.url : ''
  const other = language === 'pt' ? 'en' : 'pt'
  return formOf(
    '/account/language',
    html`<input type="hidden" name="next" value="${next}"><button class="plain" name="language" value="${other}" lang="${TEXTS[other].tag}" title="${name}"><span class="long">${name}</span><span class="short">${short}</span></button>`,
    { kind: 'language' },
  )
}
