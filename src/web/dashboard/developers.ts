import type { Needs } from '../../core/people/rules.ts'
import type { Language } from '../../lib/language.ts'
import { copyButton } from '../developer.ts'
import { type Html, html } from '../html.ts'
import { icon } from '../layout.ts'
import { facts } from '../parts.ts'
import { card, type SectionTab, sectionTabs } from './parts.ts'
import { type RecordPage, sendPage } from './record-pages.ts'
import type { DashboardRoute, Visit } from './visit.ts'

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
function developerTabs(visit: Visit, here: Tab | null): Html {
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
export const sendForDevelopers = (visit: Visit, here: Tab | null, page: RecordPage) =>
  sendPage(
    visit,
    { here: 'developers', styles: ['developers.css', 'chart.css'], tabs: developerTabs(visit, here) },
    page,
  )

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
  const body = html`<div class="columns">
${card(null, html`<ul class="rows">${rows}${link('/docs', texts.docs)}</ul>`)}
<div class="stack">
${card(texts.address, html`<p class="soft">${texts.addressText}</p>${copyable(app.publicUrl, texts.copyAddress, visit)}${facts([[texts.version, version]])}`)}
${card(texts.example, html`<p class="soft">${texts.exampleText}</p>${copyable(example, texts.copyExample, visit)}`)}
</div></div>`
  return sendForDevelopers(visit, null, { title: texts.title, body })
}

export const developersRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/developers', needs: 'webhooks:read', handle: show },
]

const pt = {
  title: 'Desenvolvedores',
  pages: 'Páginas para desenvolvedores',
  overview: 'Visão geral',
  keys: {
    title: 'Chaves de API',
    text: 'Crie, troque e revogue as chaves que os seus sistemas usam.',
  },
  webhooks: {
    title: 'Webhooks',
    text: 'Receba um aviso no seu servidor quando algo acontece.',
  },
  deliveries: {
    title: 'Entregas',
    text: 'Veja cada envio aos seus webhooks, com a resposta, e envie de novo.',
  },
  events: { title: 'Eventos', text: 'Tudo o que aconteceu, do mais recente ao mais antigo.' },
  requests: {
    title: 'Requisições',
    text: 'As chamadas dos últimos 7 dias à API, com status e código de erro.',
  },
  docs: { title: 'Documentação', text: 'Guia de início, referência da API e exemplos.' },
  address: 'Endereço da API',
  addressText: 'Todas as operações ficam neste endereço.',
  example: 'Primeira chamada',
  exampleText: 'Substitua SUA_CHAVE por uma chave de API desta empresa.',
  version: 'Versão da API desta empresa',
  changeVersion: 'Ver versões',
  copyAddress: 'o endereço',
  copyExample: 'o exemplo',
}

type Texts = typeof pt

const en: Texts = {
  title: 'Developers',
  pages: 'Pages for developers',
  overview: 'Overview',
  keys: { title: 'API keys', text: 'Create, rotate and revoke the keys that your systems use.' },
  webhooks: { title: 'Webhooks', text: 'Have your server notified when something happens.' },
  deliveries: {
    title: 'Deliveries',
    text: 'See what was sent to your webhooks and what they answered, and send it again.',
  },
  events: { title: 'Events', text: 'Everything that has happened, newest first.' },
  requests: {
    title: 'Requests',
    text: 'The API calls of the last 7 days, with their status and error code.',
  },
  docs: { title: 'Documentation', text: 'How to start, the API reference and examples.' },
  address: 'API address',
  addressText: 'All operations are at this address.',
  example: 'First call',
  exampleText: 'Replace YOUR_KEY with an API key of this company.',
  version: 'API version of this company',
  changeVersion: 'See the versions',
  copyAddress: 'the address',
  copyExample: 'the example',
}

const DEVELOPERS: Record<Language, Texts> = { pt, en }
