import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import { WARN_DAYS } from '../../core/banks/certificates.ts'
import type { ChargeView } from '../../core/charges/view.ts'
import {
  type Conversion,
  type Figures,
  readConversion,
  readFigures,
} from '../../core/figures/figures.ts'
import { dayOf, sameTimeLastWeek } from '../../core/figures/rules.ts'
import { failedSince, MAX_COUNTED, type Waiting } from '../../core/figures/waiting.ts'
import type { Balance } from '../../ledger/books.ts'
import { toPublic } from '../../lib/ids.ts'
import { formatReais } from '../../lib/money.ts'
import { addDays, formatDay, formatMoment, localDateOf, weekdayOf } from '../../pix/local-time.ts'
import { type Html, html, render, type Shown } from '../html.ts'
import { icon } from '../layout.ts'
import { secure } from '../security.ts'
import { barChart, briefReais } from './chart.ts'
import { changeOf, figure, percentOf, type Wish } from './comparison.ts'
import { formatCount, heading, moment, money, notice } from './parts.ts'
import { type PeriodFigures, readPeriod } from './period-figures.ts'
import { type Days, periodOf } from './periods.ts'
import { makeLink } from './record-pages.ts'
import { REPORTS } from './reports-texts.ts'
import { BANK_ROLES } from './settings.ts'
import { chargePill } from './states.ts'
import { DASHBOARD } from './texts.ts'
import { TODAY } from './today-texts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

/** How many days the chart may show. */
const LENGTHS = [30, 90] as const
type Length = (typeof LENGTHS)[number]

async function show(visit: Visit): Promise<FastifyReply> {
  const { app, company, query, language, url } = visit
  const title = DASHBOARD[language].sections.today
  const length = query.days === '90' ? 90 : 30
  const last = localDateOf(app.clock.now())
  const days: Days = { first: addDays(last, 1 - length), last }
  const [now, period, conversion] = await Promise.all([
    readNow(visit),
    readPeriod(visit, days, 'day'),
    readConversion(app, company, periodOf(days)),
  ])
  const create = visit.can('payments:write') && makeLink(visit, '/new', TODAY[language].create)
  const body = html`${heading(title, create)}
${showFirstSteps(visit, now.charges)}${now.figures}${now.decisions}
<div class="chart-row">${showChart(visit, period, length)}${showConversion(visit, conversion, length)}</div>
${now.newest}`
  return visit.send({
    title,
    here: 'today',
    body,
    scripts: ['today.js'],
    styles: ['chart.css', 'today.css'],
    data: { now: url('/now') },
  })
}

/** The parts of the page that change, for the script that replaces them. */
async function showNow(visit: Visit): Promise<FastifyReply> {
  const { figures, decisions, newest, charges } = await readNow(visit)
  const body = html`${showFirstSteps(visit, charges)}${figures}${decisions}${newest}`
  return secure(visit.reply, null).type('text/html; charset=utf-8').send(render(body))
}

/** What to do first in a new sandbox. It is shown until a charge is paid. */
function showFirstSteps(
  { company, language, can, url }: Visit,
  { charges, hasMore }: Newest,
): Html | false {
  const { title, text, steps, done } = TODAY[language].first
  const isPaid = charges.some(({ status }) => status === 'COMPLETED')
  const isNew = company.mode === 'sandbox' && !hasMore && !isPaid && can('payments:write')
  if (!isNew) return html`<div id="first" data-part hidden></div>`
  const current = charges.length > 0 ? 1 : 0
  const links = [url('/new/link'), '/bank', null]
  const step = ({ title, text, link }: (typeof steps)[number], i: number) => {
    const kind = i === current ? 'button slim' : 'button quiet slim'
    return html`<li${i === current && html` aria-current="step"`}><div><h3>${title}${i < current && html` <span class="soft small">(${done})</span>`}</h3><p class="soft">${text}</p>${link && html`<p><a class="${kind}" href="${links[i]}">${link}</a></p>`}</div></li>`
  }
  return html`<div id="first" class="part" data-part><section class="card"><h2>${title}</h2><p>${text}</p><ol class="steps first-steps">${steps.map(step)}</ol></section></div>`
}

/** What was received on each day, beside the same number of days before. */
function showChart(visit: Visit, period: PeriodFigures, length: Length): Html {
  const { language, url, can } = visit
  const texts = TODAY[language]
  const link = (one: Length) =>
    html`<a href="${one === 30 ? url('') : url(`?days=${one}`)}"${one === length && html` aria-current="true"`}>${texts.days(one)}</a>`
  const bars = period.parts.map(({ part, figures: { received }, before }) => ({
    label: formatDay(part.first).slice(0, 5),
    name: formatDay(part.first),
    value: received.sum,
    note: texts.payments(received.count),
    ...(before && { before: before.received.sum }),
  }))
  const sum = period.all.received.sum
  const change = changeOf(sum, period.before.received.sum, language)
  const report =
    can('balance:read') && html` <a class="nowrap" href="${url('/reports')}">${texts.reports}</a>`
  const chart = barChart(
    {
      id: 'received',
      title: texts.chartLabel(length),
      heading: texts.day,
      bars,
      series: { value: texts.received, before: texts.daysBefore(length) },
      brief: briefReais,
      write: formatReais,
    },
    language,
  )
  return html`<section class="card chart-card">
<div class="heading"><h2>${texts.chartTitle}</h2><nav class="tabs" aria-label="${texts.switchTitle}">${LENGTHS.map(link)}</nav></div>
<p>${texts.total(length)}: <strong>${money(sum)}</strong> ${change}${report}</p>
${sum === 0 && period.before.received.sum === 0 ? html`<p class="soft">${texts.nothingReceived(length)}</p>` : chart}</section>`
}

function showConversion({ language }: Visit, { made, paid }: Conversion, length: Length): Html {
  const texts = TODAY[language]
  const content =
    made === 0
      ? html`<p class="soft">${texts.noConversion(length)}</p>`
      : html`<strong class="big">${percentOf(paid, made)}</strong><meter min="0" max="${made}" value="${paid}" aria-label="${texts.conversion(length)}"></meter><p class="soft small">${REPORTS[language].paid(formatCount(paid), formatCount(made))}</p>`
  return html`<section class="card conversion"><h2>${texts.conversion(length)}</h2>${content}</section>`
}

export const todayRoutes: DashboardRoute[] = [
  { method: 'GET', path: '', needs: 'payments:read', handle: show },
  { method: 'GET', path: '/now', needs: 'payments:read', handle: showNow },
]

const NEWEST = 8

type Charge = Static<typeof ChargeView>
type Newest = { charges: Charge[]; hasMore: boolean }

/** What changes from one moment to the next. */
type Now = {
  figures: Html
  decisions: Html
  newest: Html
  charges: Newest
}

async function readNow(visit: Visit): Promise<Now> {
  const { app, company, can, waiting } = visit
  const now = app.clock.now()
  const periods = [dayOf(localDateOf(now)), sameTimeLastWeek(now)]
  const [figures, balance, charges] = await Promise.all([
    readFigures(app, company, periods),
    can('balance:read') ? visit.operate<Balance>('getBalance') : null,
    readNewest(visit),
  ])
  return {
    figures: showFigures(visit, figures[0]!, figures[1]!, balance?.data ?? null),
    decisions: showDecisions(visit, decisionsOf(visit, waiting)),
    newest: showNewest(visit, charges.charges),
    charges,
  }
}

async function readNewest(visit: Visit): Promise<Newest> {
  const query = { limit: String(NEWEST) }
  const { data, next } = await visit.operate<Charge[]>('listCharges', { query })
  return { charges: data, hasMore: next !== null }
}

/** A part that the script replaces when it has changed. */
const part = (id: string, content: Shown, kind = 'part'): Html =>
  html`<div id="${id}" class="${kind}" data-part>${content}</div>`

function showFigures(
  visit: Visit,
  today: Figures,
  lastWeek: Figures,
  balance: Balance | null,
): Html {
  const { app, language, url } = visit
  const texts = TODAY[language]
  const now = app.clock.now()
  const time = formatMoment(now).split(' ')[1]!
  const weekday = texts.lastWeek(weekdayOf(localDateOf(now)), time)
  const amount = (title: string, of: (figures: Figures) => number, wish: Wish, more?: string) =>
    figure({
      title,
      value: money(of(today)),
      change: changeOf(of(today), of(lastWeek), language, wish),
      note: html`${more && html`${more}<br>`}${texts.before(formatReais(of(lastWeek)))}`,
    })
  const { count } = today.received
  return part(
    'figures',
    html`<section class="card"><h2>${texts.today}</h2><p class="soft small">${texts.compared(weekday)}</p><div class="figures first-wide">
${amount(texts.received, ({ received }) => received.sum, 'more', texts.payments(count))}
${amount(texts.returned, ({ returned }) => returned.sum, 'less')}
${amount(texts.net, ({ net }) => net, 'more')}</div></section>
${
  balance &&
  html`<section class="card"><h2><a href="${url('/balance')}">${texts.balances}</a></h2><div class="figures">${(['available', 'pending'] as const).map((account) => figure({ title: texts.accounts[account], value: money(balance[account]), note: texts.hints[account] }))}</div></section>`
}`,
    balance ? 'part money-now' : 'part',
  )
}

type Decision = { text: string; path: string }

/** What waits for somebody, each with the list of just that. */
function decisionsOf({ app, can, language }: Visit, waiting: Waiting): Decision[] {
  const texts = TODAY[language].decisions
  const now = app.clock.now()
  const { disputeDeadline: until, withdrawalId, certificateEndsAt: endsAt } = waiting
  const isEnding = endsAt !== null && endsAt.getTime() - now.getTime() < WARN_DAYS * DAY_MS
  const failed = new URLSearchParams({
    status: 'EXPIRED',
    payment: 'EXPIRED',
    kind: 'RECURRING',
    from: failedSince(now),
  })
  const of = (count: number, text: (count: string) => string, path: string): Decision[] =>
    count === 0 ? [] : [{ text: text(written(count)), path }]
  const disputes = (count: string) => texts.disputes(count, until && formatMoment(until))
  return [
    ...of(waiting.disputes, disputes, '/disputes?status=OPEN'),
    ...of(waiting.unmatched, texts.unmatched, '/unmatched'),
    ...(withdrawalId && can('balance:read')
      ? [{ text: texts.withdrawal, path: `/balance/withdrawals/${toPublic('wd', withdrawalId)}` }]
      : []),
    ...of(waiting.retrying, texts.retrying, '/subscriptions?state=retrying'),
    ...of(waiting.failed, texts.failed, `/charges?${failed}`),
    ...(can('webhooks:read')
      ? of(waiting.webhooks, texts.webhooks, '/developers/webhooks?state=failing')
      : []),
    ...(isEnding && can('company:read')
      ? [{ text: texts.certificate(formatDay(localDateOf(endsAt))), path: bankPath(can) }]
      : []),
  ]
}

const DAY_MS = 24 * 3_600_000

const bankPath = (can: Visit['can']): string => (can(BANK_ROLES) ? '/settings/bank' : '/settings')

const written = (count: number): string => (count < MAX_COUNTED ? String(count) : `${MAX_COUNTED}+`)

function showDecisions({ language, url }: Visit, decisions: Decision[]): Html {
  const texts = TODAY[language]
  const row = ({ text, path }: Decision) =>
    html`<li><a class="row" href="${url(path)}"><span>${text}</span>${icon('next')}</a></li>`
  const content =
    decisions.length === 0
      ? notice(texts.noDecision)
      : html`<section class="card attention"><h2>${texts.decisionsTitle}</h2><ul class="rows">${decisions.map(row)}</ul></section>`
  return part('decisions', content)
}

/** The newest charges, each a row that leads to it. */
function showNewest({ language, url }: Visit, charges: Charge[]): Html {
  const texts = TODAY[language]
  const nameOf = ({ customer, correlationID }: Charge) =>
    customer?.name ?? (correlationID ? texts.staticSale : texts.nobody)
  if (charges.length === 0) return part('newest', null)
  const row = (charge: Charge) =>
    html`<li><a class="row" href="${url(`/charges/${charge.id}`)}"><span><bdi class="one-line">${nameOf(charge)}</bdi><span class="soft small">${moment(charge.createdAt)}</span></span><span class="sum"><strong>${money(charge.total)}</strong>${chargePill(charge, language)}</span></a></li>`
  return part(
    'newest',
    html`<section class="card">
<div class="heading"><h2>${texts.newest}</h2><div class="actions"><noscript><a class="button quiet slim" href="${url('')}">${texts.refresh}</a></noscript><a class="button quiet slim" href="${url('/charges')}">${texts.allCharges}</a></div></div>
<ul class="rows newest">${charges.map(row)}</ul></section>`,
  )
}
