import type { FastifyReply } from 'fastify'
import { findCompanies } from '../../core/companies/store.ts'
import { addUp, MAX_COUNTED, type Queue, readQueues } from '../../core/due.ts'
import {
  type Difference,
  type ListedMail,
  type ListedWebhook,
  listDifferences,
  listFailedMails,
  listFailingWebhooks,
  listWaitingMails,
} from '../../core/operator/work-store.ts'
import { ascending, askAll, descending, listOfAll } from '../../core/places/across.ts'
import { listSetbacks, type ShownSetback } from '../../core/setbacks.ts'
import { idOfSuffix, suffixOf } from '../../lib/ids.ts'
import { card, heading, moment, notice, pager, pill, table } from '../dashboard/parts.ts'
import { type Html, html } from '../html.ts'
import { byCompany, byId, PAGE_SIZE, pageOf, partOf, written } from './parts.ts'
import { companyLink } from './shell.ts'
import { OPERATOR } from './texts.ts'
import type { OperatorRoute, OperatorVisit } from './visit.ts'

/** Work that is due for less is on time: tasks look for it every few seconds. */
const ON_TIME_MS = 60_000

/** For how many whole minutes work is late, or 0 if it is on time. */
export function minutesLate({ since }: Pick<Queue, 'since'>, now: Date): number {
  const late_ms = since ? now.getTime() - since.getTime() : 0
  return late_ms < ON_TIME_MS ? 0 : Math.floor(late_ms / 60_000)
}

const MAX_SETBACKS = 50

async function showWork(visit: OperatorVisit): Promise<FastifyReply> {
  const { app, language } = visit
  const { sections, work: texts } = OPERATOR[language]
  const title = sections.work
  const now = app.systemClock.now()
  const part = partOf(visit)
  const [queues, setbacks, differing] = await Promise.all([
    askAll(app, (db) => readQueues(db, app.due, now)).then((all) => addUp(all.flat())),
    listOfAll(app, (db) => listSetbacks(db, now, MAX_SETBACKS), {
      companyOf: ({ companyId }) => companyId,
      compare: ascending(({ since }) => since),
      limit: MAX_SETBACKS,
    }),
    listOfAll(app, (db) => listDifferences(db, part), {
      companyOf: ({ companyId }) => companyId,
      compare: ascending(({ companyId }) => companyId),
      limit: part.limit,
    }),
  ])
  const ids = setbacks.map(({ companyId }) => companyId)
  const found = await askAll(app, (db) => findCompanies(db, ids))
  const companies = new Map(found.flatMap((own) => [...own]))
  const named = setbacks.map((one) => ({
    ...one,
    name: companies.get(one.companyId)?.name ?? null,
  }))
  const { shown, next } = pageOf(differing, byCompany)
  const body = html`${heading(title)}
${card(texts.queues, html`<p class="soft">${texts.queuesHint}</p>${queueTable(visit, queues, now)}`)}
${card(
  texts.setbacks,
  setbacks.length === 0
    ? html`<p class="soft">${texts.noSetbacks}</p>`
    : html`<p class="soft">${texts.setbacksHint}</p>${setbackTable(visit, named)}`,
)}
${card(
  texts.differences,
  shown.length === 0
    ? html`<p class="soft">${texts.noDifferences}</p>`
    : html`${differenceTable(visit, shown)}${pager(visit, next)}`,
)}`
  return visit.send({ title, here: 'work', body })
}

/** Of work that is not due by itself, such as audits, the name. */
export const titleOf = ({ app, language }: OperatorVisit, task: string): string =>
  app.due.find(({ name }) => name === task)?.title[language] ?? task

function queueTable(visit: OperatorVisit, queues: Queue[], now: Date): Html {
  const { language } = visit
  const { work: texts, upTo, about } = OPERATOR[language]
  const countOf = ({ due, isEstimate }: Queue) => {
    if (isEstimate) return due === 0 ? '0' : about(written(due, language))
    return due < MAX_COUNTED ? written(due, language) : upTo(MAX_COUNTED)
  }
  const delayOf = (queue: Queue) => {
    const minutes = minutesLate(queue, now)
    return minutes === 0 ? pill(texts.onTime, 'good') : pill(texts.late(minutes), 'bad')
  }
  return table(
    texts.queues,
    [
      { title: texts.task, kind: 'main', of: ({ name }: Queue) => titleOf(visit, name) },
      { title: texts.due, kind: 'number', of: countOf },
      { title: texts.oldest, of: delayOf },
    ],
    queues,
  )
}

type NamedSetback = ShownSetback & { name: string | null }

function setbackTable(visit: OperatorVisit, setbacks: NamedSetback[]): Html {
  const { work: texts, company } = OPERATOR[visit.language]
  return table(
    texts.setbacks,
    [
      {
        title: company,
        kind: 'main',
        of: ({ companyId, name }: NamedSetback) => companyLink(visit, companyId, name),
      },
      { title: texts.task, of: ({ task }) => titleOf(visit, task) },
      { title: texts.error, of: ({ error }) => error },
      { title: texts.times, kind: 'number', of: ({ failures }) => failures },
      { title: texts.since, of: ({ since }) => moment(since) },
    ],
    setbacks,
  )
}

function differenceTable(visit: OperatorVisit, differences: Difference[]): Html {
  const { work: texts, company } = OPERATOR[visit.language]
  return table(
    texts.differences,
    [
      {
        title: company,
        kind: 'main',
        of: (one: Difference) => companyLink(visit, one.companyId, one.company),
      },
      { title: texts.difference, of: ({ difference }) => difference },
      { title: texts.at, of: ({ auditedAt }) => moment(auditedAt) },
    ],
    differences,
  )
}

/** Where a page of failing webhooks starts: since when the last one before it fails, and its id. */
function webhookCursor(text: string | undefined) {
  const [, since, suffix] = /^(\d{1,14})-(\w{26})$/.exec(text ?? '') ?? []
  const id = idOfSuffix(suffix ?? '')
  return id === null ? null : { since: new Date(Number(since)), id }
}

async function showWebhooks(visit: OperatorVisit): Promise<FastifyReply> {
  const { app, language, query } = visit
  const { sections, webhooks: texts } = OPERATOR[language]
  const title = sections.webhooks
  const part = { limit: PAGE_SIZE + 1, after: webhookCursor(query.after) }
  const { shown, next } = pageOf(
    await listOfAll(app, (db) => listFailingWebhooks(db, part), {
      companyOf: ({ companyId }) => companyId,
      compare: (one, other) =>
        one.failingSince.getTime() - other.failingSince.getTime() ||
        ascending<ListedWebhook>(({ id }) => id)(one, other),
      limit: part.limit,
    }),
    ({ failingSince, id }) => `${failingSince.getTime()}-${suffixOf(id)}`,
  )
  const body = html`${heading(title)}${
    shown.length === 0
      ? notice(texts.empty)
      : html`<section class="card">${webhookTable(visit, shown)}${pager(visit, next)}</section>`
  }`
  return visit.send({ title, here: 'webhooks', body })
}

/** The host alone, because the rest of the address may have a secret of the company. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '')

function webhookTable(visit: OperatorVisit, webhooks: ListedWebhook[]): Html {
  const { app, language } = visit
  const { webhooks: texts, company, sections } = OPERATOR[language]
  const stateOf = ({ status, pausedUntil }: ListedWebhook) => {
    if (status === 'INACTIVE') return pill(texts.inactive, 'bad')
    const isPaused = pausedUntil !== null && pausedUntil > app.systemClock.now()
    return isPaused ? pill(texts.paused, 'warn') : pill(texts.retrying, 'warn')
  }
  return table(
    sections.webhooks,
    [
      {
        title: company,
        kind: 'main',
        of: (one: ListedWebhook) => companyLink(visit, one.companyId, one.company),
      },
      { title: texts.name, of: ({ name }) => name },
      { title: texts.host, of: ({ url }) => hostOf(url) },
      { title: texts.state, of: stateOf },
      { title: texts.failures, kind: 'number', of: ({ failures }) => failures },
      { title: texts.since, of: ({ failingSince }) => moment(failingSince) },
    ],
    webhooks,
  )
}

async function showMails(visit: OperatorVisit): Promise<FastifyReply> {
  const { app, language } = visit
  const { sections, mails: texts } = OPERATOR[language]
  const title = sections.mails
  const part = partOf(visit)
  const [waiting, failed] = await Promise.all([
    listOfAll(app, (db) => listWaitingMails(db, PAGE_SIZE), {
      companyOf: ({ companyId }) => companyId,
      compare: ascending(({ nextAttemptAt }) => nextAttemptAt),
      limit: PAGE_SIZE,
    }),
    listOfAll(app, (db) => listFailedMails(db, part), {
      companyOf: ({ companyId }) => companyId,
      compare: descending(({ id }) => id),
      limit: part.limit,
    }),
  ])
  const { shown, next } = pageOf(failed, byId)
  const body = html`${heading(title)}<p class="soft">${texts.hint}</p>
${card(
  texts.waiting,
  waiting.length === 0
    ? html`<p class="soft">${texts.noWaiting}</p>`
    : mailTable(visit, texts.waiting, waiting),
)}
${card(
  texts.failed,
  shown.length === 0
    ? html`<p class="soft">${texts.noFailed}</p>`
    : html`${mailTable(visit, texts.failed, shown)}${pager(visit, next)}`,
)}`
  return visit.send({ title, here: 'mails', body })
}

function mailTable(visit: OperatorVisit, caption: string, mails: ListedMail[]): Html {
  const { mails: texts, company } = OPERATOR[visit.language]
  const isFailed = mails[0]!.finishedAt !== null
  return table(
    caption,
    [
      {
        title: company,
        kind: 'main',
        of: (mail: ListedMail) => companyLink(visit, mail.companyId, mail.company),
      },
      { title: texts.kind, of: ({ kind }) => texts.kinds[kind] ?? kind },
      { title: texts.reason, of: ({ reason }) => (reason ? texts.reasons[reason] : '') },
      { title: texts.attempts, kind: 'number', of: ({ attempts }) => attempts },
      { title: texts.created, of: ({ createdAt }) => moment(createdAt) },
      {
        title: isFailed ? texts.given : texts.next,
        of: ({ finishedAt, nextAttemptAt }) => moment(finishedAt ?? nextAttemptAt),
      },
    ],
    mails,
  )
}

export const workRoutes: OperatorRoute[] = [
  { method: 'GET', path: '/work', handle: showWork },
  { method: 'GET', path: '/webhooks', handle: showWebhooks },
  { method: 'GET', path: '/mails', handle: showMails },
]
