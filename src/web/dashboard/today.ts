import { scaleBand, scaleLinear, scalePoint } from 'd3-scale'
import { curveMonotoneX, line } from 'd3-shape'
import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import { accountsOf } from '../../core/balance/view.ts'
import { WARN_DAYS } from '../../core/banks/certificates.ts'
import type { ChargeView } from '../../core/charges/view.ts'
import { readConversion, readDays, readToday } from '../../core/totals/commands.ts'
import { MAX_COUNTED, type Made, type Received } from '../../core/totals/store.ts'
import type { Balance } from '../../ledger/books.ts'
import type { Language } from '../../lib/language.ts'
import { formatReais } from '../../lib/money.ts'
import { formatDay, formatMoment, localDateOf, weekdayOf } from '../../pix/local-time.ts'
import { type Html, html, render, type Shown } from '../html.ts'
import { icon } from '../layout.ts'
import { secure } from '../security.ts'
import { formatCount, heading, moment, money, notice, table } from './parts.ts'
import { makeLink } from './record-pages.ts'
import { chargePill } from './states.ts'
import { DASHBOARD } from './texts.ts'
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
  const content =
    made === 0
      ? html`<p class="soft">${texts.noConversion}</p>`
      : html`<strong class="big">${formatCount(percentOf(paid, made))}%</strong><meter min="0" max="${made}" value="${paid}" aria-label="${texts.conversion}"></meter><p class="soft small">${texts.conversionText(formatCount(paid), formatCount(made))}</p>`
  return html`<section class="card conversion"><h2>${texts.conversion}</h2>${content}</section>`
}

/** Rounded down, so that 100% are all. */
const percentOf = (paid: number, made: number): number => Math.floor((paid * 1000) / made) / 10

export const todayRoutes: DashboardRoute[] = [
  { method: 'GET', path: '', needs: 'payments:read', handle: show },
  { method: 'GET', path: '/now', needs: 'payments:read', handle: showNow },
]

const DAY_MS = 24 * 3_600_000
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
  const { app, company, can } = visit
  const [received, balance, decisions, charges] = await Promise.all([
    readToday(app, company),
    can('balance:read') ? visit.operate<Balance>('getBalance') : null,
    readDecisions(visit),
    readNewest(visit),
  ])
  return {
    figures: showFigures(visit, received, balance?.data ?? null),
    decisions: showDecisions(visit, decisions),
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
  { app, language }: Visit,
  { today, lastWeek }: { today: Received; lastWeek: Received },
  balance: Balance | null,
): Html {
  const texts = TODAY[language]
  const now = app.clock.now()
  const time = formatMoment(now).split(' ')[1]!
  const before = html`${texts.lastWeek(weekdayOf(localDateOf(now)), time)}: ${money(lastWeek.sum)}`
  const balanceOf = (account: keyof Balance) =>
    html`<div class="figure"><h3>${texts[account]}</h3><strong>${money(balance![account])}</strong><p class="soft small">${texts.hints[account]}</p></div>`
  return part(
    'figures',
    html`<section class="card figure"><h2>${texts.receivedToday}</h2><strong class="big">${money(today.sum)}</strong><p class="soft small">${texts.payments(today.count)}<br>${before}</p></section>
${
  balance &&
  html`<section class="card"><h2>${texts.balances}</h2><div class="figures">${accountsOf(balance).map(balanceOf)}</div></section>`
}`,
    balance ? 'part money-now' : 'part',
  )
}

type Decision = { text: string; path: string }

/** What waits for somebody, each with the page where it is decided. */
async function readDecisions(visit: Visit): Promise<Decision[]> {
  const { app, can, language } = visit
  const texts = TODAY[language].decisions
  const now = app.clock.now()
  const { waiting } = visit
  const withdrawal = can('balance:read') && (await readWithdrawal(visit))
  const { certificateEndsAt: endsAt } = waiting
  const isEnding = endsAt !== null && endsAt.getTime() - now.getTime() < WARN_DAYS * DAY_MS
  const of = (count: number, text: (count: string) => string, path: string): Decision[] =>
    count === 0 ? [] : [{ text: text(written(count)), path }]
  return [
    ...of(
      waiting.disputes,
      disputesText(waiting.disputeDeadline, language),
      '/disputes?status=OPEN',
    ),
    ...of(waiting.unmatched, texts.unmatched, '/unmatched'),
    ...(withdrawal ? [{ text: texts.withdrawal('1'), path: '/balance' }] : []),
    ...of(waiting.collections, texts.collections, '/subscriptions'),
    ...(can('webhooks:read') ? of(waiting.webhooks, texts.webhooks, '/developers') : []),
    ...(isEnding && can('company:read')
      ? [{ text: texts.certificate(formatDay(localDateOf(endsAt))), path: '/settings' }]
      : []),
  ]
}

/** How many disputes wait, and until when the first is to be answered. */
const disputesText = (deadline: Date | null, language: Language) => (count: string) =>
  TODAY[language].disputes(count, deadline ? formatMoment(deadline) : null)

const written = (count: number): string => (count < MAX_COUNTED ? String(count) : `${MAX_COUNTED}+`)

/** Whether a withdrawal waits for somebody. There is at most one, and it is the newest. */
async function readWithdrawal(visit: Visit): Promise<boolean> {
  const { data } = await visit.operate<{ status: string }[]>('listWithdrawals', {
    query: { limit: '1' },
  })
  return data[0]?.status.startsWith('PENDING') ?? false
}

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

function showNewest({ language, url }: Visit, charges: Charge[]): Html {
  const texts = TODAY[language]
  const { columns } = texts
  const nameOf = ({ customer, correlationID }: Charge) =>
    customer?.name ?? (correlationID ? texts.staticSale : texts.nobody)
  if (charges.length === 0) return part('newest', null)
  const shown = table(
    texts.newestCaption,
    [
      {
        title: columns.payer,
        kind: 'main',
        of: (charge) => html`<a href="${url(`/charges/${charge.id}`)}">${nameOf(charge)}</a>`,
      },
      { title: columns.state, of: (charge) => chargePill(charge, language) },
      { title: columns.at, of: ({ createdAt }) => moment(createdAt) },
      { title: columns.amount, kind: 'number', of: ({ total }) => formatReais(total) },
    ],
    charges,
  )
  return part(
    'newest',
    html`<section class="card">
<div class="heading"><h2>${texts.newest}</h2><div class="actions"><noscript><a class="button quiet slim" href="${url('')}">${texts.refresh}</a></noscript><a class="button quiet slim" href="${url('/charges')}">${texts.allCharges}</a></div></div>
${shown}</section>`,
  )
}

type Bar = {
  /** The text below the bar. Not all are shown if there are many. */
  label: string
  value: number
  /** The text that the bar shows under a pointer. */
  hint: string
}

type Chart = {
  /** What screen readers say instead of the chart. */
  title: string
  bars: Bar[]
  /** A second value for each bar, drawn as a line. */
  line: number[]
  /** How a value is written beside the scale. */
  format(value: number): string
}

const HEIGHT = 220
/** The highest bar leaves room for the number of the highest line. */
const TOP = 12
const BOTTOM = HEIGHT - 24
const LINES = 3
/** Labels below the bars. More would overlap in a narrow window. */
const MAX_LABELS = 4

const percent = (part: number): string => `${Math.round(part * 10_000) / 100}%`
const pixels = (length: number): number => Math.round(length * 10) / 10

/**
 * Bars with a line over them, and their scale beside them. Widths are shares of the window and
 * heights are not, so that texts have their own size in every window.
 */
function barChart({ title, bars, line: values, format }: Chart): Html {
  const most = Math.max(...bars.map(({ value }) => value), ...values)
  const y = scaleLinear([0, most || 1], [BOTTOM, TOP]).nice(LINES)
  const ticks = y.ticks(LINES)
  const grid = ticks.map(
    (tick) =>
      html`<line class="grid" x1="0" x2="100%" y1="${pixels(y(tick))}" y2="${pixels(y(tick))}"/>`,
  )
  const numbers = ticks.map(
    (tick) =>
      html`<text x="100%" y="${pixels(y(tick)) + 4}" text-anchor="end">${format(tick)}</text>`,
  )
  return html`<div class="chart"><svg class="scale" height="${HEIGHT}" width="64" aria-hidden="true">${numbers}</svg>
<svg class="plot" height="${HEIGHT}" role="img" aria-labelledby="chart-title"><title id="chart-title">${title}</title>${grid}${barsOf(bars, y)}${lineOf(values, y)}</svg></div>`
}

function barsOf(bars: Bar[], y: (value: number) => number): Html[] {
  const x = scaleBand(
    bars.map((_, i) => i),
    [0, 1],
  ).padding(0.2)
  const width = x.bandwidth()
  const every = Math.ceil(bars.length / MAX_LABELS)
  return bars.map(({ label, value, hint }, i) => {
    const top = pixels(y(value))
    const isNamed = (bars.length - 1 - i) % every === 0
    return html`<rect class="bar" x="${percent(x(i)!)}" y="${top}" width="${percent(width)}" height="${pixels(BOTTOM - top)}"><title>${hint}</title></rect>${
      isNamed &&
      html`<text x="${percent(x(i)! + width / 2)}" y="${HEIGHT - 6}" text-anchor="${anchorOf(i, bars.length)}">${label}</text>`
    }`
  })
}

/** The last label ends where the chart ends. */
const anchorOf = (i: number, count: number): string => (i === count - 1 ? 'end' : 'middle')

/** A path has no widths in percent, so it is stretched, and its stroke is not. */
function lineOf(values: number[], y: (value: number) => number): Html {
  const x = scalePoint(
    values.map((_, i) => i),
    [0, 1000],
  ).padding(0.5)
  const path = line<number>((_, i) => x(i)!, y)
    .curve(curveMonotoneX)
    .digits(1)
  return html`<svg width="100%" height="${HEIGHT}" viewBox="0 0 1000 ${HEIGHT}" preserveAspectRatio="none"><path class="trend" d="${path(values)}" vector-effect="non-scaling-stroke"/></svg>`
}

type DecisionName = 'unmatched' | 'webhooks' | 'collections' | 'certificate' | 'withdrawal'

const WEEKDAYS = {
  pt: [
    'domingo passado',
    'segunda passada',
    'terça passada',
    'quarta passada',
    'quinta passada',
    'sexta passada',
    'sábado passado',
  ],
  en: [
    'last Sunday',
    'last Monday',
    'last Tuesday',
    'last Wednesday',
    'last Thursday',
    'last Friday',
    'last Saturday',
  ],
}

const DECISIONS_PT: Record<DecisionName, (count: string) => string> = {
  unmatched: (count) =>
    count === '1'
      ? '1 Pix sem cobrança aguarda decisão'
      : `${count} Pix sem cobrança aguardam decisão`,
  webhooks: (count) => (count === '1' ? '1 webhook com falha' : `${count} webhooks com falha`),
  collections: (count) =>
    count === '1'
      ? '1 cobrança de assinatura falhou nos últimos 30 dias'
      : `${count} cobranças de assinatura falharam nos últimos 30 dias`,
  certificate: (day) => `O certificado do banco vence em ${day}`,
  withdrawal: () => '1 saque aguarda confirmação',
}

const pt = {
  receivedToday: 'Recebido hoje',
  balances: 'Saldos',
  /** The weekday from 0, Sunday. */
  lastWeek: (weekday: number, time: string) => `${WEEKDAYS.pt[weekday]} até ${time}`,
  payments: (count: number) => (count === 1 ? '1 pagamento' : `${count} pagamentos`),
  available: 'Disponível',
  pending: 'A liberar',
  held: 'Reservado',
  unmatched: 'Sem cobrança',
  recipients: 'De recebedores',
  disputed: 'Em disputa',
  hints: {
    available: 'Pode ser sacado agora',
    pending: 'Pago, fica disponível em breve',
    held: 'Saques e devoluções em andamento',
    unmatched: 'Aguarda a sua decisão',
    recipients: 'A repassar a eles',
    disputed: 'Contestado por quem pagou',
  },
  disputes: (count: string, until: string | null) =>
    `${count === '1' ? '1 disputa aguarda' : `${count} disputas aguardam`} a sua resposta${until ? `, até ${until}` : ''}`,
  decisionsTitle: 'Precisa da sua atenção',
  decisions: DECISIONS_PT,
  noDecision: 'Tudo em dia: nada aguarda a sua decisão.',
  newest: 'Cobranças mais recentes',
  newestCaption: 'As cobranças mais recentes',
  allCharges: 'Ver todas',
  refresh: 'Atualizar',
  create: 'Nova cobrança',
  chartTitle: 'Recebido por dia',
  chartLabel: (days: number) =>
    `Valor recebido por dia nos últimos ${days} dias. Os números estão na tabela a seguir.`,
  nothingReceived: (days: number) => `Nenhum pagamento nos últimos ${days} dias.`,
  total: (days: number) => `Total em ${days} dias`,
  average: '(em R$; linha: média de 7 dias)',
  switchTitle: 'Período do gráfico',
  days: (count: number) => `${count} dias`,
  asTable: 'Ver os números em tabela',
  tableCaption: (days: number) => `Valor recebido por dia nos últimos ${days} dias`,
  day: 'Dia',
  received: 'Recebido',
  count: 'Pagamentos',
  conversion: 'Conversão em 30 dias',
  conversionText: (paid: string, made: string) =>
    `${paid} de ${made} cobranças criadas foram pagas`,
  noConversion: 'Nenhuma cobrança criada nos últimos 30 dias',
  columns: { payer: 'Pagador', amount: 'Valor', state: 'Situação', at: 'Criada em' },
  staticSale: 'QR Code fixo',
  nobody: 'Pagador não informado',
  first: {
    title: 'Receba o primeiro Pix em três passos',
    text: 'Este é um ambiente de testes: nenhum valor real é movimentado.',
    steps: [
      {
        title: 'Crie um link de pagamento',
        text: 'Informe um valor e copie o endereço da página.',
        link: 'Criar link',
      },
      {
        title: 'Pague no banco simulado',
        text: 'Abra o link, copie o código Pix e pague com dinheiro fictício.',
        link: 'Abrir o banco simulado',
      },
      {
        title: 'Veja o pagamento aqui',
        text: 'Esta página se atualiza sozinha.',
        link: null,
      },
    ],
    done: 'feito',
  },
}

type Texts = typeof pt

const en: Texts = {
  receivedToday: 'Received today',
  balances: 'Balances',
  lastWeek: (weekday, time) => `${WEEKDAYS.en[weekday]} by ${time}`,
  payments: (count) => (count === 1 ? '1 payment' : `${count} payments`),
  available: 'Available',
  pending: 'Pending',
  held: 'Held',
  unmatched: 'Unmatched',
  recipients: 'Of recipients',
  disputed: 'Disputed',
  hints: {
    available: 'Can be withdrawn now',
    pending: 'Paid, available soon',
    held: 'Withdrawals and refunds in progress',
    unmatched: 'Waits for your decision',
    recipients: 'To be paid to them',
    disputed: 'Disputed by who paid',
  },
  disputes: (count, until) =>
    `${count === '1' ? '1 dispute waits' : `${count} disputes wait`} for your answer${until ? `, until ${until}` : ''}`,
  decisionsTitle: 'Needs your attention',
  decisions: {
    unmatched: (count) =>
      count === '1'
        ? '1 unmatched payment needs a decision'
        : `${count} unmatched payments need a decision`,
    webhooks: (count) => (count === '1' ? '1 webhook is failing' : `${count} webhooks are failing`),
    collections: (count) =>
      count === '1'
        ? '1 subscription charge failed in the last 30 days'
        : `${count} subscription charges failed in the last 30 days`,
    certificate: (day) => `The certificate of the bank ends on ${day}`,
    withdrawal: () => '1 withdrawal waits for confirmation',
  },
  noDecision: 'All set: nothing waits for your decision.',
  newest: 'Newest charges',
  newestCaption: 'The newest charges',
  allCharges: 'See all',
  refresh: 'Refresh',
  create: 'New charge',
  chartTitle: 'Received by day',
  chartLabel: (days) =>
    `Received by day in the last ${days} days. The figures are in the table below.`,
  nothingReceived: (days) => `No payment in the last ${days} days.`,
  total: (days) => `${days}-day total`,
  average: '(in R$; line: average of 7 days)',
  switchTitle: 'Period of the chart',
  days: (count) => `${count} days`,
  asTable: 'Show the figures as a table',
  tableCaption: (days) => `Received by day in the last ${days} days`,
  day: 'Day',
  received: 'Received',
  count: 'Payments',
  conversion: 'Conversion in 30 days',
  conversionText: (paid, made) => `${paid} of ${made} charges that were created are paid`,
  noConversion: 'No charge was created in the last 30 days',
  columns: { payer: 'Payer', amount: 'Amount', state: 'State', at: 'Created' },
  staticSale: 'Static QR code',
  nobody: 'Payer not given',
  first: {
    title: 'Receive your first Pix in three steps',
    text: 'This is a sandbox: no real money is moved.',
    steps: [
      {
        title: 'Create a payment link',
        text: 'Give an amount and copy the address of the page.',
        link: 'Create a link',
      },
      {
        title: 'Pay it in the simulated bank',
        text: 'Open the link, copy the Pix code and pay with play money.',
        link: 'Open the simulated bank',
      },
      {
        title: 'See the payment here',
        text: 'This page updates by itself.',
        link: null,
      },
    ],
    done: 'done',
  },
}

const TODAY: Record<Language, Texts> = { pt, en }
