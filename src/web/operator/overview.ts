import type { FastifyReply } from 'fastify'
import { countDiffering } from '../../core/audits/store.ts'
import { renewalHorizon } from '../../core/banks/certificates.ts'
import { countEndingCertificates } from '../../core/banks/store.ts'
import { type Queue, readOldest } from '../../core/due.ts'
import {
  countVersions,
  listLargestTables,
  readSystem,
  type System,
  type TableSize,
} from '../../core/operator/system-store.ts'
import { listFailedMails, listFailingWebhooks } from '../../core/operator/work-store.ts'
import { askAll, sumOfAll } from '../../core/places/across.ts'
import { countSetbacks } from '../../core/setbacks.ts'
import { countWaiting } from '../../core/withdrawals/store.ts'
import { VERSION } from '../../lib/version.ts'
import { card, heading, moment, notice, table } from '../dashboard/parts.ts'
import { type Html, html } from '../html.ts'
import { icon } from '../layout.ts'
import { facts } from '../parts.ts'
import { formatBytes, written } from './parts.ts'
import { OPERATOR } from './texts.ts'
import type { OperatorRoute, OperatorVisit } from './visit.ts'
import { volumeCards } from './volume.ts'
import { minutesLate, titleOf } from './work.ts'

const TABLES = 10
/** No more are counted, so that the cost does not grow with their number. */
const MAX_COUNTED = 100

async function show(visit: OperatorVisit): Promise<FastifyReply> {
  const { app, language } = visit
  const title = OPERATOR[language].sections.overview
  const [problems, volume, systems, versions, tables] = await Promise.all([
    readProblems(visit),
    volumeCards(visit),
    askAll(app, async (db, place) => ({ place, system: await readSystem(db) })),
    askAll(app, countVersions),
    askAll(app, async (db, place) => ({ place, sizes: await listLargestTables(db, TABLES) })),
  ])
  const body = html`${heading(title)}${showProblems(visit, problems)}
${volume}
<div class="columns">${showVersions(visit, systems[0]!.system, addUp(versions.flat()))}${systems.map(({ system, place }) => showDatabase(visit, system, place))}</div>
${tables.map(({ sizes, place }) => showTables(visit, sizes, place))}`
  return visit.send({ title, here: 'overview', body })
}

type Found = { text: string; path: string }

/** What an operator should look at, each with its page. */
async function readProblems(visit: OperatorVisit): Promise<Found[]> {
  const { app, language } = visit
  const { systemClock } = app
  const texts = OPERATOR[language].overview
  const now = systemClock.now()
  const some = { limit: MAX_COUNTED + 1, after: null }
  const [differing, setbacks, webhooks, mails, byHand, certificates, oldest] = await Promise.all([
    sumOfAll(app, countDiffering),
    askAll(app, (db) => countSetbacks(db, now)),
    askAll(app, (db) => listFailingWebhooks(db, some)),
    askAll(app, (db) => listFailedMails(db, some)),
    sumOfAll(app, countWaiting),
    sumOfAll(app, (db) => countEndingCertificates(db, renewalHorizon(now))),
    askAll(app, (db) => readOldest(db, app.due, now)),
  ])
  const failing = setbacks.flat().reduce((all, { count }) => all + count, 0)
  const found = (count: number, text: string, path: string) => (count > 0 ? [{ text, path }] : [])
  return [
    ...found(differing, texts.differing(differing), '/work'),
    ...found(failing, texts.setAside(failing), '/work'),
    ...found(certificates, texts.certificates(certificates), '/banks'),
    ...found(byHand, texts.byHand(byHand), '/companies'),
    ...found(webhooks.flat().length, texts.failingWebhooks(upTo(webhooks.flat())), '/webhooks'),
    ...found(mails.flat().length, texts.failedMails(upTo(mails.flat())), '/mails'),
    ...lateWork(visit, oldest.flat(), now),
  ]
}

const upTo = (found: unknown[]): string =>
  found.length > MAX_COUNTED ? `${MAX_COUNTED}+` : String(found.length)

/** Work that should have been done, that which waits for longest first. */
function lateWork(visit: OperatorVisit, oldest: Pick<Queue, 'name' | 'since'>[], now: Date) {
  const { late } = OPERATOR[visit.language].overview
  return oldest
    .map((queue) => ({ ...queue, minutes: minutesLate(queue, now) }))
    .filter(({ minutes }) => minutes > 0)
    .sort((a, b) => b.minutes - a.minutes)
    .map(
      ({ name, minutes }): Found => ({ text: late(titleOf(visit, name), minutes), path: '/work' }),
    )
}

function showProblems({ app, language, url }: OperatorVisit, problems: Found[]): Html | null {
  const texts = OPERATOR[language].overview
  if (problems.length === 0) return app.unreached.size === 0 ? notice(texts.allFine) : null
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

type Pinned = { version: string; companies: number }

function addUp(versions: Pinned[]): Pinned[] {
  const sums = new Map<string, number>()
  for (const { version, companies } of versions) {
    sums.set(version, (sums.get(version) ?? 0) + companies)
  }
  return [...sums].map(([version, companies]) => ({ version, companies }))
}

/** The title of a card about one of several places. */
const inPlace = ({ app, language }: OperatorVisit, title: string, place: number): string =>
  app.places.all.length === 1 ? title : `${title} (${OPERATOR[language].overview.place} ${place})`

function showDatabase(visit: OperatorVisit, system: System, place: number): Html {
  const { app, language } = visit
  const texts = OPERATOR[language].overview
  const { db } = app.places.all[place - 1]!
  const { pools } = db
  const waiting = db.waiting()
  return card(
    inPlace(visit, texts.databaseTitle, place),
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

function showTables(visit: OperatorVisit, tables: TableSize[], place: number): Html {
  const { language } = visit
  const texts = OPERATOR[language].overview
  return card(
    inPlace(visit, texts.tables, place),
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
