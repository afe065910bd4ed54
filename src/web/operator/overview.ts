import type { FastifyReply } from 'fastify'
import { countDiffering } from '../../core/audits/store.ts'
import { renewalHorizon } from '../../core/banks/certificates.ts'
import { countEndingCertificates } from '../../core/banks/store.ts'
import {
  countVersions,
  listLargestTables,
  readSystem,
  type System,
  type TableSize,
} from '../../core/operator/system-store.ts'
import { listFailedMails, listFailingWebhooks } from '../../core/operator/work-store.ts'
import { countSetbacks } from '../../core/setbacks.ts'
import { countWaiting } from '../../core/withdrawals/manual-payouts-store.ts'
import { VERSION } from '../../lib/version.ts'
import { card, heading, moment, notice, table } from '../dashboard/parts.ts'
import { type Html, html } from '../html.ts'
import { icon } from '../layout.ts'
import { facts } from '../parts.ts'
import { formatBytes, written } from './parts.ts'
import { OPERATOR } from './texts.ts'
import type { OperatorRoute, OperatorVisit } from './visit.ts'

const TABLES = 10

async function show(visit: OperatorVisit): Promise<FastifyReply> {
  const { app, language } = visit
  const title = OPERATOR[language].sections.overview
  const [problems, system, versions, tables] = await Promise.all([
    readProblems(visit),
    readSystem(app.db),
    countVersions(app.db),
    listLargestTables(app.db, TABLES),
  ])
  const body = html`${heading(title)}${showProblems(visit, problems)}
<div class="columns">${showVersions(visit, system, versions)}${showDatabase(visit, system)}</div>
${showTables(visit, tables)}`
  return visit.send({ title, here: 'overview', body })
}

type Found = { text: string; path: string }

/** What an operator should look at, each with its page. */
async function readProblems({ app, language }: OperatorVisit): Promise<Found[]> {
  const { db, systemClock } = app
  const texts = OPERATOR[language].overview
  const now = systemClock.now()
  const one = { limit: 1, after: null }
  const [differing, setbacks, webhooks, mails, byHand, certificates] = await Promise.all([
    countDiffering(db),
    countSetbacks(db, now),
    listFailingWebhooks(db, one),
    listFailedMails(db, one),
    countWaiting(db),
    countEndingCertificates(db, renewalHorizon(now)),
  ])
  const failing = setbacks.reduce((all, { count }) => all + count, 0)
  const found = (count: number, text: string, path: string) => (count > 0 ? [{ text, path }] : [])
  return [
    ...found(differing, texts.differing(differing), '/work'),
    ...found(failing, texts.setAside(failing), '/work'),
    ...found(certificates, texts.certificates(certificates), '/banks'),
    ...found(byHand, texts.byHand(byHand), '/companies'),
    ...found(webhooks.length, texts.failingWebhooks, '/webhooks'),
    ...found(mails.length, texts.failedMails, '/mails'),
  ]
}

function showProblems({ language, url }: OperatorVisit, problems: Found[]): Html {
  const texts = OPERATOR[language].overview
  if (problems.length === 0) return notice(texts.allFine)
  const row = ({ text, path }: Found) =>
    html`<li><a class="row" href="${url(path)}"><span>${text}</span>${icon('next')}</a></li>`
  return card(texts.attention, html`<ul class="rows">${problems.map(row)}</ul>`)
}

function showVersions(
  { language }: OperatorVisit,
  { database, migrations, lastMigration, migratedAt }: System,
  versions: { version: string; companies: number }[],
): Html {
  const texts = OPERATOR[language].overview
  return card(
    texts.versions,
    facts([
      [texts.software, VERSION],
      [texts.node, process.versions.node],
      [texts.database, database],
      [
        texts.migrations,
        html`${migrations} · ${lastMigration.replace(/\.sql$/, '')}<br>${moment(migratedAt)}`,
      ],
      ...versions.map(({ version, companies }): [string, string] => [
        texts.pinned(version),
        texts.companies(companies),
      ]),
    ]),
  )
}

function showDatabase({ app, language }: OperatorVisit, system: System): Html {
  const texts = OPERATOR[language].overview
  const { pools } = app.db
  const waiting = app.db.waiting()
  return card(
    texts.databaseTitle,
    facts([
      [texts.size, formatBytes(system.bytes)],
      [texts.connections, texts.ofMost(system.connections, system.maxConnections)],
      ...Object.entries(pools).map(([name, { totalCount, idleCount }]): [string, string] => [
        texts.pools[name as keyof typeof texts.pools],
        texts.pool(totalCount, idleCount, waiting[name as keyof typeof waiting]),
      ]),
    ]),
  )
}

function showTables({ language }: OperatorVisit, tables: TableSize[]): Html {
  const texts = OPERATOR[language].overview
  return card(
    texts.tables,
    html`<p class="soft">${texts.tablesHint}</p>${table(
      texts.tables,
      [
        { title: texts.table, kind: 'main', of: ({ name }: TableSize) => name },
        {
          title: texts.rows,
          kind: 'number',
          of: ({ rows }) => (rows === null ? '–' : written(rows, language)),
        },
        { title: texts.bytes, kind: 'number', of: ({ bytes }) => formatBytes(bytes) },
      ],
      tables,
    )}`,
  )
}

export const overviewRoutes: OperatorRoute[] = [{ method: 'GET', path: '', handle: show }]
