import type { Needs } from '../../core/people/rules.ts'
import { copyButton } from '../developer.ts'
import { type Html, html } from '../html.ts'
import { icon } from '../layout.ts'
import { facts } from '../parts.ts'
import { DEVELOPERS } from './developers-texts.ts'
import { card, heading } from './parts.ts'
import { type SectionTab, sectionTabs } from './section-tabs.ts'
import type { DashboardPage, DashboardRoute, Visit } from './visit.ts'

/** Who may see and change API keys. */
export const KEY_ROLES: Needs = ['owner', 'developer']

type Tab = 'keys' | 'webhooks' | 'deliveries' | 'events' | 'requests'

const TABS: { name: Tab; needs: Needs }[] = [
  { name: 'keys', needs: KEY_ROLES },
  { name: 'webhooks', needs: 'webhooks:read' },
  { name: 'deliveries', needs: 'webhooks:read' },
  { name: 'events', needs: 'webhooks:read' },
  { name: 'requests', needs: 'webhooks:read' },
]

/** The links between the pages for developers. */
export function developerTabs(visit: Visit, here: Tab | null): Html {
  const texts = DEVELOPERS[visit.language]
  const first: SectionTab = { path: '/developers', title: texts.overview, needs: 'webhooks:read' }
  const others = TABS.map(({ name, needs }) => ({
    path: `/developers/${name}`,
    title: texts[name].title,
    needs,
  }))
  return sectionTabs(visit, texts.pages, [first, ...others], `/developers${here ? `/${here}` : ''}`)
}

/** Sends a page for developers. */
export const sendForDevelopers = (
  visit: Visit,
  page: Pick<DashboardPage, 'title' | 'body' | 'status'>,
) => visit.send({ ...page, here: 'developers', styles: ['developers.css'] })

/** A text to copy, such as a key or a command. */
export const copyable = (text: string, what: string, visit: Visit): Html =>
  html`<div class="copyable"><code tabindex="0">${text}</code>${copyButton(text, what, visit.language)}</div>`

function show(visit: Visit) {
  const { app, company, language } = visit
  const texts = DEVELOPERS[language]
  const link = (path: string, { title, text }: { title: string; text: string }) =>
    html`<li><a class="row" href="${path}"><span><strong>${title}</strong><span class="soft small">${text}</span></span>${icon('next')}</a></li>`
  const rows = TABS.filter(({ needs }) => visit.can(needs)).map(({ name }) =>
    link(visit.url(`/developers/${name}`), texts[name]),
  )
  const key = language === 'pt' ? 'SUA_CHAVE' : 'YOUR_KEY'
  const example = `curl ${app.publicUrl}/company -H 'X-API-KEY: ${key}'`
  const version = html`<code>${company.apiVersion}</code>${visit.can('company:read') && html` · <a href="${visit.url('/settings/version')}">${texts.changeVersion}</a>`}`
  const body = html`${heading(texts.title)}${developerTabs(visit, null)}
<div class="columns">
${card(null, html`<ul class="rows">${rows}${link('/docs', texts.docs)}</ul>`)}
<div class="stack">
${card(texts.address, html`<p class="soft">${texts.addressText}</p>${copyable(app.publicUrl, texts.copyAddress, visit)}${facts([[texts.version, version]])}`)}
${card(texts.example, html`<p class="soft">${texts.exampleText}</p>${copyable(example, texts.copyExample, visit)}`)}
</div></div>`
  return sendForDevelopers(visit, { title: texts.title, body })
}

export const developersRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/developers', needs: 'webhooks:read', handle: show },
]
