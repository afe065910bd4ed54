import { waitUntilApplied } from '../../core/companies/announce.ts'
import { pinVersion } from '../../core/companies/commands.ts'
import { listUsedOperations } from '../../core/request-log/store.ts'
import type { VersionChange } from '../../core/version-changes.ts'
import { problem } from '../../lib/problems.ts'
import { LATEST, VERSION_NAMES } from '../../versions/history.ts'
import { type Html, html } from '../html.ts'
import { facts } from '../parts.ts'
import { confirmation } from './form-parts.ts'
import { card, doneNotice, heading, pill, table } from './parts.ts'
import { sendSettings, settingsTabs } from './settings-tabs.ts'
import { VERSION_PAGES } from './versions-texts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const LATELY_MS = 7 * 24 * 3600 * 1000

/** The operations that the company has used lately. Null: it has used none. */
async function usedOperations({ app, company }: Visit): Promise<Set<string> | null> {
  const since = new Date(app.systemClock.now().getTime() - LATELY_MS)
  const used = await listUsedOperations(app.db, company.id, since)
  return used.length > 0 ? new Set(used.map(({ operation }) => operation)) : null
}

/** The versions after the one that the company is pinned to, oldest first. */
const newerThan = (version: string): string[] =>
  VERSION_NAMES.slice(VERSION_NAMES.indexOf(version) + 1)

async function show(visit: Visit) {
  const { company, language } = visit
  const texts = VERSION_PAGES[language]
  const used = await usedOperations(visit)
  const newer = newerThan(company.apiVersion)
  const mayPin = visit.can(['owner'])
  const body = html`${heading(texts.title)}${settingsTabs(visit, '/version')}
${doneNotice(visit, { pinned: texts.done })}
${card(null, html`<p>${texts.intro}</p>${facts([[texts.pinned, html`<code>${company.apiVersion}</code>`]])}${newer.length === 0 && html`<p class="soft">${texts.isNewest}</p>`}`)}
${newer.map((version) => changesCard(visit, version, used, mayPin))}
${card(texts.history, history(visit, mayPin))}`
  return sendSettings(visit, { title: texts.title, body })
}

/** What would change in the answers of the operations that the company uses. */
function changesCard(
  visit: Visit,
  version: string,
  used: Set<string> | null,
  mayPin: boolean,
): Html {
  const { company, site, language } = visit
  const texts = VERSION_PAGES[language]
  const changes = site
    .compareVersions(company.apiVersion, version)
    .filter(({ operationId }) => !used || used.has(operationId))
  const pin =
    mayPin &&
    html`<div class="actions"><a class="button slim" href="${pinUrl(visit, version)}">${texts.pin(version)}</a></div>`
  const content = html`<p class="soft">${used ? texts.usedOnly : texts.allOperations} ${texts.tryFirst}</p>
${changes.length > 0 ? changeTable(visit, changes) : html`<p>${texts.nothing}</p>`}${pin}`
  return card(texts.wouldChange(version), content)
}

function changeTable({ language }: Visit, changes: VersionChange[]): Html {
  const texts = VERSION_PAGES[language]
  const lines = ({ hasOtherFrame, hasOtherErrors, values }: VersionChange) => [
    ...(hasOtherFrame ? [texts.frame] : []),
    ...values.map(({ before, after }) => texts.value(before, after)),
    ...(hasOtherErrors ? [texts.errors] : []),
  ]
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
          html`<ul class="plain-list small">${lines(change).map((line) => html`<li>${line}</li>`)}</ul>`,
      },
    ],
    changes,
  )
}

function history(visit: Visit, mayPin: boolean): Html {
  const { company, language } = visit
  const texts = VERSION_PAGES[language]
  const entry = (version: string) => {
    const isHere = version === company.apiVersion
    const link =
      !isHere && mayPin && html`<a href="${pinUrl(visit, version)}">${texts.pin(version)}</a>`
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
  const body = confirmation(visit, {
    title,
    text: texts.pinText,
    action: '/settings/version/pin',
    fields: html`<input type="hidden" name="version" value="${version}">`,
    button: texts.pin(version),
    back: '/settings/version',
  })
  return sendSettings(visit, { title, body })
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

export const versionsRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/settings/version', needs: 'company:read', handle: show },
  { method: 'GET', path: PIN, needs: ['owner'], confirmed: true, handle: ask },
  { method: 'POST', path: PIN, needs: ['owner'], confirmed: true, handle: pin },
]
