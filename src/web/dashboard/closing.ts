import type { FastifyReply } from 'fastify'
import type { UnmatchedReason } from '../../core/charges/rules.ts'
import { closeMonths, monthsOf, readMonth, type ShownMonth } from '../../core/closings/commands.ts'
import {
  agrees,
  type Closing,
  isMonth,
  type Listed,
  type ListedDispute,
  type ListedPayment,
  type Month,
  movedOf,
  periodOf,
  sorted,
  totalOf,
} from '../../core/closings/rules.ts'
import type { LateReceipt } from '../../core/closings/store.ts'
import { readFigures } from '../../core/figures/figures.ts'
import { type Figures, figuresOf, type Movement, type Sum } from '../../core/figures/rules.ts'
import { ACCOUNTS, type Account } from '../../ledger/recipes.ts'
import { toPublic } from '../../lib/ids.ts'
import type { Language } from '../../lib/language.ts'
import { formatReais } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import { punctuateTaxId } from '../../pix/tax-id.ts'
import { type Html, html } from '../html.ts'
import { BALANCE } from './balance-texts.ts'
import { closingFile } from './closing-file.ts'
import { CLOSING } from './closing-texts.ts'
import { sendCsv } from './csv.ts'
import { fileLink, printButton } from './finance-parts.ts'
import { backLink, tabs } from './form-parts.ts'
import { card, heading, moment, money, notice, pill, table } from './parts.ts'
import { DASHBOARD } from './texts.ts'
import { UNMATCHED } from './unmatched-texts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const PATH = '/closing'

/** A month in words: outubro de 2026. */
const nameOf = (month: Month, language: Language): string =>
  new Intl.DateTimeFormat(language === 'pt' ? 'pt-BR' : 'en-GB', {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  }).format(new Date(`${month}-01`))

/** So many months are shown unless a year is chosen: in January last month is of another year. */
const NEWEST = 12

type Row = { month: Month; isClosed: boolean; figures: Figures }

async function list(visit: Visit): Promise<FastifyReply> {
  const { app, company, language, url } = visit
  const { title, intro, columns } = CLOSING[language]
  const all = monthsOf(app, company)
  const years = [...new Set(all.map((month) => month.slice(0, 4)))]
  const year = years.find((one) => one === visit.query.year) ?? null
  const isShown = (month: Month, at: number) => (year ? month.startsWith(year) : at < NEWEST)
  const rows = await readRows(visit, all.filter(isShown))
  const total = ({ figures }: Row) => totalOf(figures.closing)
  const body = html`${backLink(visit, '/balance', DASHBOARD[language].sections.balance)}${heading(title)}
<p class="soft">${intro}</p>
${years.length > 1 && yearTabs(visit, years, year)}
${card(
  null,
  table(
    title,
    [
      {
        title: columns.month,
        kind: 'main',
        of: ({ month }: Row) =>
          html`<a href="${url(`${PATH}/${month}`)}">${nameOf(month, language)}</a>`,
      },
      { title: columns.state, of: ({ isClosed }) => statePill(isClosed, language) },
      { title: columns.received, kind: 'number', of: ({ figures }) => money(figures.received.sum) },
      { title: columns.returned, kind: 'number', of: ({ figures }) => money(figures.returned.sum) },
      {
        title: columns.withdrawn,
        kind: 'number',
        of: ({ figures }) => money(figures.withdrawn.sum),
      },
      { title: columns.closing, kind: 'number', of: (row) => money(total(row)) },
    ],
    rows,
  ),
)}`
  return visit.send({ title, here: 'balance', body })
}

/** Months that are over as they were closed, and the others as they are. */
async function readRows({ app, company }: Visit, months: Month[]): Promise<Row[]> {
  const closed = await closeMonths(app, company, months)
  const open = months.filter((month) => !closed.has(month))
  const figures = await readFigures(app, company, open.map(periodOf))
  return months.map((month) => {
    const closing = closed.get(month)
    if (closing) return { month, isClosed: true, figures: figuresOf(closing) }
    return { month, isClosed: false, figures: figures[open.indexOf(month)]! }
  })
}

const statePill = (isClosed: boolean, language: Language): Html =>
  isClosed ? pill(CLOSING[language].closed, 'good') : pill(CLOSING[language].open, 'calm')

function yearTabs({ url, language }: Visit, years: string[], year: string | null): Html {
  const shown = [null, ...years].map((one) => ({
    label: one ?? CLOSING[language].newest,
    path: one ? `${PATH}?year=${one}` : PATH,
    isHere: one === year,
  }))
  return tabs({ url }, CLOSING[language].years, shown)
}

/** The month of the URL. A company has none before it was made, and none in the future. */
async function readAsked({ app, company, params }: Visit): Promise<ShownMonth> {
  const month = params.month ?? ''
  if (!isMonth(month) || !monthsOf(app, company).includes(month)) throw problem('route_not_found')
  return readMonth(app, company, month)
}

async function show(visit: Visit): Promise<FastifyReply> {
  const { language, company } = visit
  const texts = CLOSING[language]
  const shown = await readAsked(visit)
  const { month, isClosed, closing, late } = shown
  const title = texts.of(nameOf(month, language))
  const actions = html`${fileLink(visit, `${PATH}/${month}.csv`, {}, texts.csv)}${printButton(texts.print)}`
  const body = html`${backLink(visit, PATH, texts.all)}${heading(title, actions)}
<p>${statePill(isClosed, language)} <span class="soft">${company.name} · ${punctuateTaxId(company.taxId)}</span></p>
<p class="soft">${isClosed ? texts.closedText : texts.openText}</p>
${card(texts.summary, summaryOf(closing, language))}
${card(texts.movements, movementsOf(closing, language))}
${card(texts.balances, balancesOf(closing, language))}
${internalOf(closing, language)}
${card(texts.unmatched, unmatchedOf(visit, closing.unmatched))}
${card(texts.disputes, disputesOf(visit, closing.disputes))}
${isClosed && lateCard(visit, late)}`
  return visit.send({
    title,
    here: 'balance',
    body,
    scripts: ['print.js'],
    styles: ['paper.css'],
  })
}

function summaryOf(closing: Closing, language: Language): Html {
  const texts = CLOSING[language]
  const figures = figuresOf(closing)
  type Line = { name: string; count: number | null; sum: number; sign: string }
  const line = (name: string, sign: string, { count, sum }: Sum) => ({ name, sign, count, sum })
  const balance = (name: string, sum: number) => ({ name, count: null, sum, sign: '' })
  const lines: Line[] = [
    balance(texts.opening, totalOf(closing.opening)),
    line(texts.received, '+ ', figures.received),
    line(texts.returned, '− ', figures.returned),
    line(texts.withdrawn, '− ', figures.withdrawn),
    ...(figures.play > 0 ? [{ ...balance(texts.play, figures.play), sign: '+ ' }] : []),
    balance(texts.closing, totalOf(closing.closing)),
  ]
  return html`${table(
    texts.summary,
    [
      { title: texts.item, kind: 'main', of: ({ name }: Line) => name },
      { title: texts.count, kind: 'number', of: ({ count }) => count },
      {
        title: texts.amount,
        kind: 'number',
        of: ({ sign, sum }) => html`<span class="money">${sign}${formatReais(sum)}</span>`,
      },
    ],
    lines,
  )}${agrees(closing) ? notice(texts.agrees) : notice(texts.differs, 'bad')}`
}

/** What a movement is, and where its money came from. */
function movementName({ kind, source }: Movement, language: Language): string {
  const name = kind === 'OPENING' ? CLOSING[language].play : BALANCE[language].kinds[kind]
  return source === '' || source === 'UNMATCHED'
    ? name
    : `${name} · ${CLOSING[language].sources[source]}`
}

function movementsOf({ movements }: Closing, language: Language): Html {
  const texts = CLOSING[language]
  const withBank = sorted(movements).filter(
    ({ debit, credit }) => debit === 'bank' || credit === 'bank',
  )
  const moneyIf = (isShown: boolean, sum: number) => (isShown ? money(sum) : null)
  return table(
    texts.movements,
    [
      { title: texts.kind, kind: 'main', of: (one: Movement) => movementName(one, language) },
      { title: texts.count, kind: 'number', of: ({ count }) => count },
      { title: texts.in, kind: 'number', of: (one) => moneyIf(one.debit === 'bank', one.sum) },
      { title: texts.out, kind: 'number', of: (one) => moneyIf(one.credit === 'bank', one.sum) },
    ],
    withBank,
    html`<p class="soft">${texts.nothingMoved}</p>`,
  )
}

function balancesOf(closing: Closing, language: Language): Html {
  const texts = CLOSING[language]
  const { accounts } = BALANCE[language]
  type Line = { name: string; before: number; moved: number; after: number }
  const lines: Line[] = ACCOUNTS.map((account: Account) => ({
    name: accounts[account],
    before: closing.opening[account],
    moved: movedOf(closing, account),
    after: closing.closing[account],
  }))
  const total = {
    name: texts.total,
    before: totalOf(closing.opening),
    moved: lines.reduce((sum, { moved }) => sum + moved, 0),
    after: totalOf(closing.closing),
  }
  return table(
    texts.balances,
    [
      { title: texts.account, kind: 'main', of: ({ name }: Line) => name },
      { title: texts.before, kind: 'number', of: ({ before }) => money(before) },
      { title: texts.moved, kind: 'number', of: ({ moved }) => money(moved) },
      { title: texts.after, kind: 'number', of: ({ after }) => money(after) },
    ],
    [...lines, total],
  )
}

function internalOf({ movements }: Closing, language: Language): Html | false {
  const texts = CLOSING[language]
  const { accounts } = BALANCE[language]
  const between = sorted(movements).filter(
    ({ debit, credit }) => debit !== 'bank' && credit !== 'bank',
  )
  if (between.length === 0) return false
  return html`<details class="card"><summary>${texts.internal}</summary><p class="soft">${texts.internalHint}</p>${table(
    texts.internal,
    [
      { title: texts.kind, kind: 'main', of: (one: Movement) => movementName(one, language) },
      { title: texts.from, of: ({ debit }) => accounts[debit as Account] },
      { title: texts.to, of: ({ credit }) => accounts[credit as Account] },
      { title: texts.count, kind: 'number', of: ({ count }) => count },
      { title: texts.amount, kind: 'number', of: ({ sum }) => money(sum) },
    ],
    between,
  )}</details>`
}

const moreOf = ({ count, first }: Listed<unknown>, language: Language): Html | false =>
  count > first.length && html`<p class="soft">${CLOSING[language].more(count - first.length)}</p>`

/** A link for whoever may see what it leads to. */
const linked = ({ can, url }: Visit, path: string, text: string): Html | string =>
  can('payments:read') ? html`<a href="${url(path)}">${text}</a>` : text

function unmatchedOf(visit: Visit, listed: Listed<ListedPayment>): Html {
  const { language } = visit
  const texts = CLOSING[language]
  if (listed.count === 0) return html`<p class="soft">${texts.noUnmatched}</p>`
  const reasons = UNMATCHED[language].reasons
  return html`<p>${texts.unmatchedText(listed.count, formatReais(listed.sum))}</p>${table(
    texts.unmatched,
    [
      {
        title: texts.payment,
        kind: 'main',
        of: ({ endToEndId }: ListedPayment) =>
          linked(visit, `/unmatched/${endToEndId}`, endToEndId),
      },
      { title: texts.receivedAt, of: ({ receivedAt }) => moment(receivedAt) },
      { title: texts.reason, of: ({ reason }) => reasons[reason as UnmatchedReason].short },
      { title: texts.amount, kind: 'number', of: ({ amount }) => money(amount) },
    ],
    listed.first,
  )}${moreOf(listed, language)}`
}

function disputesOf(visit: Visit, listed: Listed<ListedDispute>): Html {
  const { language } = visit
  const texts = CLOSING[language]
  if (listed.count === 0) return html`<p class="soft">${texts.noDisputes}</p>`
  return html`<p>${texts.disputesText(listed.count, formatReais(listed.sum))}</p>${table(
    texts.disputes,
    [
      {
        title: texts.dispute,
        kind: 'main',
        of: ({ id }: ListedDispute) => linked(visit, `/disputes/${id}`, id),
      },
      { title: texts.openedAt, of: ({ openedAt }) => moment(openedAt) },
      { title: texts.claimed, kind: 'number', of: ({ amount }) => money(amount) },
      { title: texts.held, kind: 'number', of: ({ held }) => money(held) },
    ],
    listed.first,
  )}${moreOf(listed, language)}`
}

/** What was booked later does not change what is above. */
function lateCard(visit: Visit, late: Listed<LateReceipt>): Html {
  const texts = CLOSING[visit.language]
  const pathOf = ({ chargeId, endToEndId }: LateReceipt) =>
    chargeId ? `/charges/${toPublic('charge', chargeId)}` : `/unmatched/${endToEndId}`
  const content =
    late.count === 0
      ? html`<p class="soft">${texts.noLate}</p>`
      : html`<p>${texts.lateSum(late.count, formatReais(late.sum))}</p><p class="soft">${texts.lateText}</p>${table(
          texts.late,
          [
            {
              title: texts.payment,
              kind: 'main',
              of: (one: LateReceipt) => linked(visit, pathOf(one), one.endToEndId),
            },
            { title: texts.receivedAt, of: ({ receivedAt }) => moment(receivedAt) },
            { title: texts.bookedAt, of: ({ bookedAt }) => moment(bookedAt) },
            { title: texts.amount, kind: 'number', of: ({ amount }) => money(amount) },
          ],
          late.first,
        )}${moreOf(late, visit.language)}`
  return html`<section class="card" id="late"><h2>${texts.late}</h2>${content}</section>`
}

async function download(visit: Visit): Promise<FastifyReply> {
  const shown = await readAsked(visit)
  return sendCsv(visit, `fechamento-${shown.month}.csv`, closingFile(shown))
}

export const closingRoutes: DashboardRoute[] = [
  { method: 'GET', path: PATH, needs: 'balance:read', handle: list },
  { method: 'GET', path: `${PATH}/:month.csv`, needs: 'balance:read', handle: download },
  { method: 'GET', path: `${PATH}/:month`, needs: 'balance:read', handle: show },
]
