import type { FastifyReply } from 'fastify'
import {
  type Conversion,
  type Figures,
  type ProductSum,
  readConversion,
  readProducts,
  readSubscriptionFigures,
  type SubscriptionFigures,
  type Sum,
} from '../../core/figures/figures.ts'
import { hourOf, SOURCES } from '../../core/figures/rules.ts'
import { csvWriter, type Column as FileColumn } from '../../lib/csv.ts'
import { formatReais } from '../../lib/money.ts'
import { BRAZILIAN } from '../../pix/brazilian-csv.ts'
import { formatDay, formatMoment, localDateOf } from '../../pix/local-time.ts'
import { field } from '../forms.ts'
import { type Html, html, type Shown } from '../html.ts'
import { barChart, briefReais } from './chart.ts'
import { changeOf, figure, percentOf, type Wish } from './comparison.ts'
import { sendCsv } from './csv.ts'
import { fileLink, printButton } from './finance-parts.ts'
import { periodChips } from './list-parts.ts'
import { type Column, card, formatCount, heading, money, table } from './parts.ts'
import { type PartFigures, type PeriodFigures, readPeriod } from './period-figures.ts'
import {
  type Days,
  type DaysFault,
  daysOf,
  monthsIn,
  type Part,
  PERIODS,
  type PeriodName,
  periodOf,
  readDays,
  type Step,
  stepsOf,
  usualStep,
} from './periods.ts'
import { REPORTS } from './reports-texts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const MAX_PRODUCTS = 20

/** What the URL asks for. */
type Asked = {
  /** Null: days that a person has typed. */
  name: PeriodName | null
  days: Days
  step: Step
  fault: DaysFault | null
}

/** Without a period that can be shown it is this month. */
function askedIn({ query, app }: Pick<Visit, 'query' | 'app'>): Asked {
  const today = localDateOf(app.clock.now())
  const typed = query.from || query.to ? readDays(query.from, query.to, today) : null
  const fault = typeof typed === 'string' ? typed : null
  const chosen = PERIODS.find((name) => name === query.period) ?? 'month'
  const isTyped = typed !== null && fault === null
  const days = isTyped ? (typed as Days) : daysOf(chosen, today)
  const step = stepsOf(days).find((one) => one === query.by) ?? usualStep(days)
  return { name: typed === null ? chosen : null, days, step, fault }
}

/** The period in the URL, for links that change something else. */
const searchOf = ({ name, days, step }: Asked, by: Step | null = step): URLSearchParams =>
  new URLSearchParams({
    ...(name ? { period: name } : { from: days.first, to: days.last }),
    ...(by && { by }),
  })

type Read = {
  asked: Asked
  period: PeriodFigures
  conversion: Conversion
  conversionBefore: Conversion
  products: ProductSum[]
  subscriptions: SubscriptionFigures
  subscriptionsBefore: SubscriptionFigures
}

async function readAll({ app, company }: Visit, asked: Asked): Promise<Read> {
  const whole = periodOf(asked.days)
  const period = await readPeriod({ app, company }, asked.days, asked.step)
  const { from, to } = period.compared
  const [conversion, conversionBefore, products, ...subscribed] = await Promise.all([
    readConversion(app, company, whole),
    readConversion(app, company, { from, to: hourOf(to) }),
    readProducts(app, company, { period: whole, compared: period.compared }, MAX_PRODUCTS),
    readSubscriptionFigures(app, company, whole),
    readSubscriptionFigures(app, company, period.compared),
  ])
  const [subscriptions, subscriptionsBefore] = subscribed
  const counted = { conversion, conversionBefore, products, subscriptions, subscriptionsBefore }
  return { asked, period, ...counted }
}

async function show(visit: Visit): Promise<FastifyReply> {
  const { language, url } = visit
  const texts = REPORTS[language]
  const asked = askedIn(visit)
  const read = asked.fault ? null : await readAll(visit, asked)
  const file = fileLink(visit, '/reports.csv', Object.fromEntries(searchOf(asked)), texts.csv)
  const actions = html`<a class="button quiet slim" href="${url('/closing')}">${texts.closing}</a>${read && html`${file}${printButton(texts.print)}`}`
  return visit.send({
    title: texts.title,
    here: 'reports',
    status: asked.fault ? 400 : 200,
    styles: ['chart.css', 'reports.css', 'paper.css'],
    scripts: ['print.js'],
    body: html`${heading(texts.title, actions)}${periodCard(visit, asked)}${read && shownOf(visit, read)}`,
  })
}

const shownOf = (visit: Visit, read: Read): Html =>
  html`${summary(visit, read)}${chartCard(visit, read)}
<div class="columns">${kindsCard(visit, read)}${productsCard(visit, read)}</div>
${subscriptionsCard(visit, read)}${partsCard(visit, read)}`

/** The choice of a period: one with a name, or the days of a form. */
function periodCard(visit: Visit, { name, days, fault }: Asked): Html {
  const { language, url, query } = visit
  const texts = REPORTS[language]
  const day = (side: 'from' | 'to', wrong: string | null) =>
    field(
      {
        name: side,
        label: texts[side],
        value: query[side] ?? (side === 'from' ? days.first : days.last),
        fault: wrong,
        wrong: '',
        type: 'date',
        isFilledIn: true,
      },
      wrong !== null,
    )
  const wrong = fault && texts.faults[fault]
  return card(
    null,
    html`${periodChips(visit, '/reports', {}, name)}
<form class="filters" method="get" action="${url('/reports')}">${day('from', null)}${day('to', wrong)}<button class="button quiet slim">${texts.show}</button></form>`,
    'choose-period',
  )
}

/** The days of the period, and those that it is compared with. */
function periodText({ language }: Visit, { days, compared: { from, to } }: PeriodFigures): Html {
  const texts = REPORTS[language]
  const first = formatDay(localDateOf(from))
  const last = localDateOf(new Date(to.getTime() - 1))
  const isCut = periodOf({ first: last, last }).to > to
  const compared = isCut
    ? texts.comparedUntil(first, formatDay(last), formatMoment(to).slice(11))
    : texts.compared(texts.days(first, formatDay(last)))
  const shown = texts.days(formatDay(days.first), formatDay(days.last))
  return html`<strong class="nowrap">${shown}</strong> <span class="soft">${compared}</span>`
}

/** What one payment brings on average. */
const ticketOf = ({ received: { sum, count } }: Figures): number =>
  count === 0 ? 0 : Math.round(sum / count)

function summary(visit: Visit, read: Read): Html {
  const { language } = visit
  const texts = REPORTS[language]
  const { all, before } = read.period
  const amount = (title: string, of: (figures: Figures) => number, wish: Wish = 'more') =>
    figure({
      title,
      value: money(of(all)),
      change: changeOf(of(all), of(before), language, wish),
      note: texts.before(formatReais(of(before))),
    })
  return html`<section class="card" aria-labelledby="summary"><h2 id="summary" class="hide">${texts.summary}</h2>
<p>${periodText(visit, read.period)}</p>
<div class="figures summary">${amount(texts.received, ({ received }) => received.sum)}
${amount(texts.returned, ({ returned }) => returned.sum, 'less')}
${amount(texts.net, ({ net }) => net)}
${amount(texts.withdrawn, ({ withdrawn }) => withdrawn.sum, 'none')}
${amount(texts.ticket, ticketOf)}
${conversionFigure(visit, read)}</div></section>`
}

function conversionFigure({ language }: Visit, { conversion, conversionBefore }: Read): Html {
  const texts = REPORTS[language]
  const { made, paid } = conversion
  const shareOf = (one: Conversion) => (one.made === 0 ? 0 : one.paid / one.made)
  return figure({
    title: texts.conversion,
    value: made === 0 ? '–' : percentOf(paid, made),
    change: made > 0 ? changeOf(shareOf(conversion), shareOf(conversionBefore), language) : null,
    note: made === 0 ? texts.noCharges : texts.paid(formatCount(paid), formatCount(made)),
  })
}

/** How a part of a period is written: in full, and below its bar. */
function nameOf({ first, last, from }: Part, step: Step): string {
  if (step === 'hour') return formatMoment(from).slice(11)
  if (step === 'month' && monthsIn({ first, last }) === 1) return formatDay(first).slice(3)
  if (first === last) return formatDay(first)
  return `${formatDay(first).slice(0, 5)} – ${formatDay(last)}`
}

function labelOf({ first, from }: Part, step: Step): string {
  if (step === 'hour') return `${formatMoment(from).slice(11, 13)}h`
  return step === 'month' ? formatDay(first).slice(3) : formatDay(first).slice(0, 5)
}

function chartCard(visit: Visit, { asked, period }: Read): Html {
  const { language } = visit
  const texts = REPORTS[language]
  const { step, days } = asked
  const title = texts.chart[step]
  const steps = stepsOf(days)
  const link = (one: Step) =>
    html`<a href="${visit.url(`/reports?${searchOf(asked, one)}`)}"${one === step && html` aria-current="true"`}>${texts.steps[one]}</a>`
  const choice =
    steps.length > 1 &&
    html`<nav class="tabs" aria-label="${texts.steps.title}">${steps.map(link)}</nav>`
  const bars = linesOf(period).map(({ part, figures, before }) => ({
    label: labelOf(part, step),
    name: nameOf(part, step),
    value: figures?.received.sum ?? 0,
    ...(before && { before: before.received.sum }),
  }))
  const isEmpty = bars.every(({ value, before = 0 }) => value === 0 && before === 0)
  const chart = barChart(
    {
      id: 'received',
      title: texts.chartLabel(title),
      heading: texts.columns[step],
      bars,
      series: { value: texts.thisPeriod, before: texts.beforePeriod },
      brief: briefReais,
      write: formatReais,
      hasTable: false,
    },
    language,
  )
  return html`<section class="card"><div class="heading"><h2>${title}</h2>${choice}</div>${isEmpty ? html`<p class="soft">${texts.nothing}</p>` : chart}</section>`
}

/** Nothing is written quietly, so that the eye finds what there is. */
const amountOf = (cents: number): Html =>
  cents === 0 ? html`<span class="money zero">${formatReais(0)}</span>` : money(cents)

type PartLine = Omit<PartFigures, 'figures'> & { figures: Figures | null }

/** A line for each part, also for those that only the period before has, so that all add up. */
const linesOf = ({ parts, longerBefore }: PeriodFigures): PartLine[] => [
  ...parts,
  ...longerBefore.map((one) => ({ ...one, figures: null })),
]

/** One line for each part. The last line is the period, read by itself and not added up here. */
function partsCard({ language }: Visit, { asked, period }: Read): Html {
  const texts = REPORTS[language]
  const { all } = period
  const column = (title: string, of: (figures: Figures) => Shown): Column<PartLine> => ({
    title,
    kind: 'number',
    of: ({ figures }) => (figures ? of(figures) : '–'),
    total: of(all),
  })
  const shown = table<PartLine>(
    texts.table,
    [
      {
        title: texts.columns[asked.step],
        kind: 'main',
        of: ({ part }) => nameOf(part, asked.step),
        total: texts.total,
      },
      column(texts.payments, ({ received }) => formatCount(received.count)),
      column(texts.received, ({ received }) => amountOf(received.sum)),
      column(texts.returned, ({ returned }) => amountOf(returned.sum)),
      column(texts.net, ({ net }) => amountOf(net)),
      column(texts.withdrawn, ({ withdrawn }) => amountOf(withdrawn.sum)),
      {
        title: `${texts.received}, ${texts.beforePeriod.toLowerCase()}`,
        kind: 'number',
        of: ({ before }) => before && amountOf(before.received.sum),
        total: amountOf(period.before.received.sum),
      },
    ],
    linesOf(period),
  )
  return card(texts.table, shown, 'sums-card')
}

function kindsCard({ language }: Visit, { period: { all, before } }: Read): Html {
  const texts = REPORTS[language]
  type Kind = { name: string; now: Sum; before: Sum }
  const kinds = SOURCES.map(
    (source): Kind => ({
      name: texts.sources[source],
      now: all.bySource[source],
      before: before.bySource[source],
    }),
  )
  const shareOf = (sum: number) => (all.received.sum > 0 ? percentOf(sum, all.received.sum) : '–')
  return card(
    texts.kinds,
    table<Kind>(
      texts.kinds,
      [
        { title: texts.kind, kind: 'main', of: ({ name }) => name, total: texts.total },
        {
          title: texts.payments,
          kind: 'number',
          of: ({ now }) => formatCount(now.count),
          total: formatCount(all.received.count),
        },
        {
          title: texts.amount,
          kind: 'number',
          of: ({ now, before }) =>
            html`<span class="amounts">${money(now.sum)}${changeOf(now.sum, before.sum, language)}</span>`,
          total: money(all.received.sum),
        },
        {
          title: texts.share,
          kind: 'number',
          of: ({ now }) => shareOf(now.sum),
          total: shareOf(all.received.sum),
        },
      ],
      kinds,
    ),
    'sums-card',
  )
}

function productsCard({ language }: Visit, { products }: Read): Html {
  const texts = REPORTS[language]
  const list = table<ProductSum>(
    texts.products,
    [
      { title: texts.product, kind: 'main', of: ({ name }) => html`<bdi>${name}</bdi>` },
      { title: texts.quantity, kind: 'number', of: ({ quantity }) => formatCount(quantity) },
      {
        title: texts.amount,
        kind: 'number',
        of: ({ sum, before }) =>
          html`<span class="amounts">${money(sum)}${changeOf(sum, before, language)}</span>`,
      },
    ],
    products,
  )
  return card(
    texts.products,
    products.length === 0
      ? html`<p class="soft">${texts.noProducts}</p>`
      : html`<p class="soft small">${texts.productsHint(MAX_PRODUCTS)}</p>${list}`,
    'sums-card',
  )
}

function subscriptionsCard({ language, can, url }: Visit, read: Read): Html {
  const texts = REPORTS[language]
  const { subscriptions, subscriptionsBefore: before } = read
  const { mrr, active, overdue } = subscriptions
  const title = can('payments:read')
    ? html`<a href="${url('/subscriptions')}">${texts.subscriptions}</a>`
    : texts.subscriptions
  const compared = (name: 'started' | 'canceled', wish: Wish) =>
    figure({
      title: texts[name],
      value: formatCount(subscriptions[name]),
      change: changeOf(subscriptions[name], before[name], language, wish),
      note: texts.before(formatCount(before[name])),
    })
  const shown = [
    figure({ title: texts.mrr, value: money(mrr), note: texts.mrrHint }),
    figure({ title: texts.active, value: formatCount(active) }),
    figure({ title: texts.overdue, value: formatCount(overdue) }),
    compared('started', 'more'),
    compared('canceled', 'less'),
  ]
  return card(title, html`<div class="figures counts">${shown}</div>`)
}

type Line = PartFigures & { step: Step }

/** A line of the file. Columns of money are of the same figures as the page. */
const LINE: FileColumn<Line>[] = [
  { name: 'from', title: 'Início', of: ({ part, step }) => startOf(part, step) },
  { name: 'to', title: 'Fim', of: ({ part, step }) => endOf(part, step) },
  { name: 'payments', title: 'Pagamentos', of: ({ figures }) => figures.received.count },
  ...SOURCES.map(
    (source): FileColumn<Line> => ({
      name: source.toLowerCase(),
      title: REPORTS.pt.sources[source],
      of: ({ figures }) => ({ cents: figures.bySource[source].sum }),
    }),
  ),
  {
    name: 'received',
    title: 'Recebido bruto',
    of: ({ figures }) => ({ cents: figures.received.sum }),
  },
  { name: 'returned', title: 'Devolvido', of: ({ figures }) => ({ cents: figures.returned.sum }) },
  { name: 'net', title: 'Líquido', of: ({ figures }) => ({ cents: figures.net }) },
  { name: 'withdrawn', title: 'Sacado', of: ({ figures }) => ({ cents: figures.withdrawn.sum }) },
]

const startOf = ({ first, from }: Part, step: Step): string =>
  step === 'hour' ? formatMoment(from) : formatDay(first)
const endOf = ({ last, to }: Part, step: Step): string =>
  step === 'hour' ? formatMoment(to) : formatDay(last)

/** The lines of the table as a file. A spreadsheet adds them up itself, so there is no total. */
async function download(visit: Visit): Promise<FastifyReply> {
  const asked = askedIn(visit)
  const { days, step, fault } = asked
  if (fault) {
    const { from = '', to = '' } = visit.query
    return visit.redirect(`/reports?${new URLSearchParams({ from, to })}`)
  }
  const { parts } = await readPeriod(visit, days, step)
  const { heading, line } = csvWriter(LINE, BRAZILIAN)
  const lines = parts.map((part) => line({ ...part, step }))
  const name = `${REPORTS[visit.language].file}-${days.first}-${days.last}.csv`
  return sendCsv(visit, name, piecesOf([heading, ...lines]))
}

async function* piecesOf(pieces: string[]): AsyncGenerator<string> {
  yield* pieces
}

export const reportsRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/reports', needs: 'balance:read', handle: show },
  { method: 'GET', path: '/reports.csv', needs: 'balance:read', handle: download },
]
