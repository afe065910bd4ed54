import { waitUntilApplied } from '../../core/companies/announce.ts'
import { pinVersion } from '../../core/companies/commands.ts'
import type { UsedChange, VersionChange } from '../../core/version-changes/rules.ts'
import type { Language } from '../../lib/language.ts'
import { problem } from '../../lib/problems.ts'
import { LATEST, VERSION_NAMES } from '../../versions/history.ts'
import { type Html, html } from '../html.ts'
import { facts } from '../parts.ts'
import { confirmation } from './form-parts.ts'
import { card, pill, table } from './parts.ts'
import { sendSettings } from './settings.ts'
import type { DashboardRoute, Visit } from './visit.ts'

/** The versions after the one that the company is pinned to, oldest first. */
const newerThan = (version: string): string[] =>
  VERSION_NAMES.slice(VERSION_NAMES.indexOf(version) + 1)

async function show(visit: Visit) {
  const { company, language } = visit
  const texts = VERSION_PAGES[language]
  const newer = newerThan(company.apiVersion)
  const cards: Html[] = []
  const mayPin = visit.can(['owner'])
  for (const version of newer) cards.push(await changesCard(visit, version, mayPin))
  const body = html`${card(null, html`<p>${texts.intro}</p>${facts([[texts.pinned, html`<code>${company.apiVersion}</code>`]])}${newer.length === 0 && html`<p class="soft">${texts.isNewest}</p>`}`)}
${cards}
${card(texts.history, history(visit, mayPin))}`
  return sendSettings(visit, '/version', { title: texts.title, done: { pinned: texts.done }, body })
}

/** What would change in the answers of the operations that the company uses. */
async function changesCard(visit: Visit, version: string, mayPin: boolean): Promise<Html> {
  const { company, site, language } = visit
  const texts = VERSION_PAGES[language]
  const used = await site.diffVersions(visit, company.apiVersion, version)
  const all: ShownChange[] =
    used.length > 0 ? used : site.compareVersions(company.apiVersion, version)
  const changes = all.filter((change) => change.changes.length > 0)
  const pin =
    mayPin &&
    html`<div class="actions"><a class="button slim" href="${pinUrl(visit, version)}">${texts.pin(version)}</a></div>`
  const content = html`<p class="soft">${used.length > 0 ? texts.usedOnly : texts.allOperations} ${texts.tryFirst}</p>
${changes.length > 0 ? changeTable(visit, changes, version) : html`<p>${texts.nothing}</p>`}${pin}`
  return card(texts.wouldChange(version), content)
}

/** With a recent answer, if the company has used the operation. */
type ShownChange = VersionChange & Partial<Pick<UsedChange, 'answer'>>

function changeTable({ language, company }: Visit, changes: ShownChange[], version: string): Html {
  const texts = VERSION_PAGES[language]
  const example = ({ answer }: ShownChange) =>
    answer &&
    html`<details class="small"><summary>${texts.example}</summary>
<p class="small soft">${company.apiVersion}</p><pre class="code" tabindex="0">${indented(answer.before)}</pre>
<p class="small soft">${version}</p><pre class="code" tabindex="0">${indented(answer.after)}</pre></details>`
  return table(
    texts.operations,
    [
      {
        title: texts.operation,
        kind: 'main',
        of: ({ method, path, operationId }) =>
          html`<code>${method} ${path}</code><br><span class="small soft">${operationId}</span>`,
      },
      {
        title: texts.change,
        of: (change) =>
          html`<ul class="plain-list small">${change.changes.map(({ summary }) => html`<li>${withCode(summary[language])}</li>`)}</ul>${example(change)}`,
      },
    ],
    changes,
  )
}

const indented = (body: string): string => JSON.stringify(JSON.parse(body), null, 2)

/** A sentence of the history: what is between backticks is code. */
const withCode = (sentence: string): (Html | string)[] =>
  sentence.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part))

function history(visit: Visit, mayPin: boolean): Html {
  const { company, language } = visit
  const texts = VERSION_PAGES[language]
  const entry = (version: string) => {
    const isHere = version === company.apiVersion
    const link =
      !isHere &&
      mayPin &&
      html`<a class="button quiet slim" href="${pinUrl(visit, version)}">${texts.pin(version)}</a>`
    const document = version === LATEST.name ? '/openapi.json' : `/openapi-${version}.json`
    return html`<li class="version"><h3>${version} ${isHere && pill(texts.here, 'good')} ${version === LATEST.name && pill(texts.newest, 'calm')}</h3>
<p>${texts.versions[version]}</p><p class="links small"><a href="${document}">${texts.document} ${version}</a>${link}</p></li>`
  }
  return html`<ul class="plain-list">${VERSION_NAMES.toReversed().map(entry)}</ul>`
}

const pinUrl = (visit: Visit, version: string): string =>
  visit.url(`/settings/version/pin?version=${version}`)

/** The newest version if none is named. */
function requireVersion(version: string = LATEST.name): string {
  if (!VERSION_NAMES.includes(version)) throw problem('route_not_found')
  return version
}

function ask(visit: Visit) {
  const version = requireVersion(visit.query.version)
  const texts = VERSION_PAGES[visit.language]
  const title = texts.pinTitle(version)
  const isOlder = version < visit.company.apiVersion
  const body = confirmation(visit, {
    title,
    text: html`${isOlder && html`<strong>${texts.older}</strong> `}${texts.pinText}`,
    action: '/settings/version/pin',
    fields: html`<input type="hidden" name="version" value="${version}">`,
    button: texts.pin(version),
    back: '/settings/version',
  })
  return sendSettings(visit, '/version', { title, heading: null, body })
}

async function pin(visit: Visit) {
  const { app, company } = visit
  const version = requireVersion(visit.form.version)
  if (version !== company.apiVersion) {
    await app.db.transaction(async (tx) => {
      await pinVersion(tx, company.id, version, app.systemClock.now())
      const details = { before: company.apiVersion, after: version }
      await visit.record(tx, 'company.pin-version', { type: 'company', id: company.id }, details)
    })
    // After the answer every server must use the version.
    await waitUntilApplied(app.db)
  }
  return visit.redirect('/settings/version', 'pinned')
}

const PIN = '/settings/version/pin'
const PINS = { needs: ['owner'], confirmed: true, needsFactor: true } as const

export const versionsRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/settings/version', needs: 'company:read', handle: show },
  { method: 'GET', path: PIN, ...PINS, handle: ask },
  { method: 'POST', path: PIN, ...PINS, handle: pin },
]

const VERSIONS_PT: Record<string, string> = {
  '2025-01-01':
    'Primeira versão: a resposta é o próprio recurso ou a lista; um erro tem statusCode, message e error; o status RECEIVED é escrito RECIEVED.',
  '2026-08-16':
    'Toda resposta tem status, message, data e errors. Um erro lista cada campo errado em errors. O status é escrito RECEIVED.',
}

const pt = {
  title: 'Versão da API',
  intro: 'A API responde no formato da versão escolhida. Nada muda até você escolher outra.',
  pinned: 'Versão desta empresa',
  history: 'Versões',
  /** What each version is, in words. */
  versions: VERSIONS_PT,
  newest: 'Mais recente',
  here: 'Em uso',
  document: 'OpenAPI',
  wouldChange: (version: string) => `O que muda com a versão ${version}`,
  usedOnly: 'Somente as operações que esta empresa usou nos últimos 7 dias.',
  allOperations: 'Todas as operações, pois nenhuma foi usada nos últimos 7 dias.',
  nothing: 'Nenhuma resposta que esta empresa usa mudaria.',
  operations: 'Operações cujas respostas mudam',
  operation: 'Operação',
  change: 'O que muda',
  example: 'Um registro recente, antes e depois (dados pessoais ocultos)',
  pin: (version: string) => `Fixar na versão ${version}`,
  pinTitle: (version: string) => `Fixar a empresa na versão ${version}?`,
  pinText:
    'Todas as chamadas sem o cabeçalho X-Api-Version passam a ser respondidas nesta versão, na hora. Os webhooks não mudam. Você pode voltar à versão anterior.',
  older: 'Esta versão é mais antiga que a atual, e as respostas perdem o que veio depois dela.',
  done: 'A versão da API foi alterada.',
  tryFirst: 'Para experimentar antes, envie o cabeçalho X-Api-Version em uma chamada.',
  isNewest: 'A empresa já usa a versão mais recente.',
}

type Texts = typeof pt

const en: Texts = {
  title: 'API version',
  intro:
    'The API answers in the format of the chosen version. Nothing changes until you choose another.',
  pinned: 'Version of this company',
  history: 'Versions',
  versions: {
    '2025-01-01':
      'First version: an answer is the bare resource or list; an error has statusCode, message and error; the status RECEIVED is spelled RECIEVED.',
    '2026-08-16':
      'Every answer has status, message, data and errors. An error lists each wrong field in errors. The status is spelled RECEIVED.',
  },
  newest: 'Newest',
  here: 'In use',
  document: 'OpenAPI',
  wouldChange: (version) => `What changes with version ${version}`,
  usedOnly: 'Only the operations that this company used in the last 7 days.',
  allOperations: 'All operations, because none was used in the last 7 days.',
  nothing: 'No answer that this company uses would change.',
  operations: 'Operations whose answers change',
  operation: 'Operation',
  change: 'What changes',
  example: 'A recent record, before and after (personal data masked)',
  pin: (version) => `Pin to version ${version}`,
  pinTitle: (version) => `Pin the company to version ${version}?`,
  pinText:
    'All calls without the header X-Api-Version are answered in this version, at once. Webhooks do not change. You can go back to the former version.',
  older: 'This version is older than the present one, and answers lose what came after it.',
  done: 'The API version is changed.',
  tryFirst: 'To try it first, send the header X-Api-Version with a call.',
  isNewest: 'The company uses the newest version already.',
}

const VERSION_PAGES: Record<Language, Texts> = { pt, en }
