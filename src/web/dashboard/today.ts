import type { FastifyReply } from 'fastify'
import { readConversion, readDays } from '../../core/totals/commands.ts'
import type { Made, Received } from '../../core/totals/store.ts'
import type { Language } from '../../lib/language.ts'
import { formatReais } from '../../lib/money.ts'
import { formatDay } from '../../pix/local-time.ts'
import { type Html, html, render } from '../html.ts'
import { secure } from '../security.ts'
import { barChart } from './chart.ts'
import { heading, money, table } from './parts.ts'
import { makeLink } from './record-pages.ts'
import { DASHBOARD } from './texts.ts'
import { type Newest, readNow } from './today-now.ts'
import { TODAY } from './today-texts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

/** The line of the chart is the average of so many days. */
const AVERAGE_DAYS = 7
const PERIODS = [30, 90] as const
type Days = (typeof PERIODS)[number]

async function show(visit: Visit): Promise<FastifyReply> {
  const { app, company, query, language, url } = visit
  const title = DASHBOARD[language].sections.today
  const count = query.days === '90' ? 90 : 30
  const [now, days, conversion] = await Promise.all([
    readNow(visit),
    readDays(app, company, count + AVERAGE_DAYS - 1),
    readConversion(app, company),
  ])
  const create = visit.can('payments:write') && makeLink(visit, '/new', TODAY[language].create)
  const body = html`${heading(title, create)}
${showFirstSteps(visit, now.charges)}${now.figures}${now.decisions}
<div class="chart-row">${showChart(visit, days, count)}${showConversion(visit, conversion)}</div>
${now.newest}`
  return visit.send({
    title,
    here: 'today',
    body,
    scripts: ['today.js'],
    styles: ['today.css'],
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

type Day = Received & { day: string }

/** The averages need some days before the first one that is shown. */
function showChart({ language, url }: Visit, days: Day[], count: Days): Html {
  const texts = TODAY[language]
  const shown = days.slice(-count)
  const sum = shown.reduce((all, day) => all + day.sum, 0)
  const link = (period: Days) =>
    html`<a href="${period === 30 ? url('') : url(`?days=${period}`)}"${period === count && html` aria-current="page"`}>${texts.days(period)}</a>`
  return html`<section class="card chart-card">
<div class="heading"><h2>${texts.chartTitle}</h2><nav class="tabs" aria-label="${texts.switchTitle}">${PERIODS.map(link)}</nav></div>
${
  sum === 0
    ? html`<p class="soft">${texts.nothingReceived(count)}</p>`
    : html`<p>${texts.total(count)}: <strong>${money(sum)}</strong> <span class="soft small nowrap">${texts.average}</span></p>${chartOf(days, count, language)}`
}
<details><summary>${texts.asTable}</summary>${table(
    texts.tableCaption(count),
    [
      { title: texts.day, kind: 'main', of: ({ day }: Day) => formatDay(day) },
      { title: texts.count, kind: 'number', of: (day) => day.count },
      { title: texts.received, kind: 'number', of: (day) => formatReais(day.sum) },
    ],
    shown.toReversed(),
  )}</details></section>`
}

function chartOf(days: Day[], count: Days, language: Language): Html {
  const texts = TODAY[language]
  const shown = days.slice(-count)
  return barChart({
    title: texts.chartLabel(count),
    bars: shown.map((day) => ({
      label: formatDay(day.day).slice(0, 5),
      value: day.sum,
      hint: `${formatDay(day.day)}: ${formatReais(day.sum)} · ${texts.payments(day.count)}`,
    })),
    line: shown.map((_, i) => averageOf(days.slice(i, i + AVERAGE_DAYS))),
    format: (cents) => formatReais(Math.round(cents)).replace(/^R\$ |,00$/g, ''),
  })
}

const averageOf = (days: Day[]): number =>
  days.reduce((all, { sum }) => all + sum, 0) / AVERAGE_DAYS

function showConversion({ language }: Visit, { made, paid }: Made): Html {
  const texts = TODAY[language]
  const written = (count: number) => count.toLocaleString(language === 'pt' ? 'pt-BR' : 'en')
  const content =
    made === 0
      ? html`<p class="soft">${texts.noConversion}</p>`
      : html`<strong class="big">${written(percentOf(paid, made))}%</strong><meter min="0" max="${made}" value="${paid}" aria-label="${texts.conversion}"></meter><p class="soft small">${texts.conversionText(written(paid), written(made))}</p>`
  return html`<section class="card conversion"><h2>${texts.conversion}</h2>${content}</section>`
}

/** Rounded down, so that 100% are all. */
const percentOf = (paid: number, made: number): number => Math.floor((paid * 1000) / made) / 10

export const todayRoutes: DashboardRoute[] = [
  { method: 'GET', path: '', needs: 'payments:read', handle: show },
  { method: 'GET', path: '/now', needs: 'payments:read', handle: showNow },
]
