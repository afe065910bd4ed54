import type { FastifyReply } from 'fastify'
import {
  type Day,
  daysOf,
  LINE_WRITER,
  type LineSums,
  lineOf,
  MOVEMENTS,
  type Movement,
  type NamedLine,
  STATEMENT_ACCOUNT,
  sumLines,
  sumMoved,
} from '../../core/balance/lines.ts'
import { withNames } from '../../core/balance/names.ts'
import { type OfxStatement, ofxEnd, ofxLine, ofxStart } from '../../core/balance/ofx.ts'
import { readPeriods } from '../../core/figures/figures.ts'
import type { Entries, Period } from '../../core/figures/rules.ts'
import { bookedSource } from '../../core/payments/rules.ts'
import { type MovementFilter, type MovementPart, readMovements } from '../../ledger/movements.ts'
import { toPublic } from '../../lib/ids.ts'
import { formatReais } from '../../lib/money.ts'
import { formatDay } from '../../pix/local-time.ts'
import { type Html, html } from '../html.ts'
import { BALANCE } from './balance-texts.ts'
import { sendCsv, sendFile } from './csv.ts'
import { findRefunded, linkOf, type Refunded } from './entry-links.ts'
import { dayFilter, filterHead, selectFilter } from './filters.ts'
import { fileLink, givenOf, slices, totals } from './finance-parts.ts'
import { type Days, daysOrMonth, periodOrMonth, spanOf } from './finance-periods.ts'
import { periodChips } from './list-parts.ts'
import { card, moment, money, notFound, nothing, pager } from './parts.ts'
import { isToPrint, type Listed, partNote, printAction, readShown } from './printed.ts'
import type { DashboardRoute, Visit } from './visit.ts'

/** So many lines of a file are written before other requests are served. */
const SLICE = 100

/** The period and the kind of movement that the URL names, and what was posted in it. */
type Chosen = MovementFilter & { days: Days; movement: Movement | null; entries: Entries }

async function chosenOf(visit: Visit): Promise<Chosen> {
  const { app, company, query } = visit
  const days = daysOrMonth(visit)
  const movement = Object.hasOwn(MOVEMENTS, query.movement ?? '')
    ? (query.movement as Movement)
    : null
  const [entries] = await readPeriods(app, company, [periodOf(days)])
  const kinds = movement && MOVEMENTS[movement]
  return { days, movement, account: STATEMENT_ACCOUNT, range: entries!, kinds, entries: entries! }
}

/** A period that ends before it starts has no entries. */
function periodOf(days: Days): Period {
  const { from, to } = spanOf(days)
  return { from, to: to < from ? from : to }
}

/** Lines with the names of payers. Whoever may not see payments is not told who has paid. */
export async function readLines(
  visit: Visit,
  filter: MovementFilter,
  part: MovementPart,
): Promise<NamedLine[]> {
  const { app, company } = visit
  const { db, vault } = app
  const lines = (await readMovements(db, company.id, filter, part)).map(lineOf)
  if (!visit.can('payments:read')) return lines.map((line) => ({ ...line, name: null }))
  return withNames({ db, vault, companyId: company.id, source: bookedSource(company) }, lines)
}

/** The statement of what is available, as banks show it, with the newest line first. */
export async function statementCard(visit: Visit): Promise<Html> {
  const { company, language } = visit
  const texts = BALANCE[language]
  const chosen = await chosenOf(visit)
  const part = await readShown(visit, (one) =>
    readLines(visit, chosen, { order: 'newest first', ...one }),
  )
  const { lines, next } = part
  const { days, movement } = chosen
  const shown = await withSubtotals(visit, chosen, part)
  const empty = movement ? notFound(texts.emptyFiltered) : nothing(language, texts.emptyPeriod)
  const refunded = await findRefunded(visit, lines)
  return card(
    null,
    html`<div class="heading"><h2>${texts.statement}</h2><div class="actions no-print">${files(visit, chosen, part)}</div></div>
<p class="print-only">${texts.printed(company.name, formatDay(days.from), formatDay(days.to))}</p>
${isToPrint(visit) ? null : headOf(visit)}
${summary(visit, chosen)}
${partNote(visit, part)}
${lines.length === 0 ? empty : tableOf(visit, shown, refunded)}
${pager(visit, next)}`,
    'statement',
  )
}

/** Downloads of exactly what is filtered, the button to print it, and the two-sided view. */
function files(visit: Visit, { days, movement }: Chosen, part: Listed<NamedLine>): Html {
  const texts = BALANCE[visit.language]
  const filters = { ...days, ...(movement && { movement }) }
  const entries = html`<a class="button quiet slim" href="${visit.url('/balance/entries')}">${texts.viewEntries}</a>`
  return html`${fileLink(visit, '/balance/movements.csv', filters, texts.csvFile)}${fileLink(visit, '/balance/movements.ofx', filters, texts.ofx)}${printAction(visit, texts.print, part)}${entries}`
}

function headOf(visit: Visit): Html {
  const texts = BALANCE[visit.language]
  const given = givenOf(visit, ['movement', 'period', 'from', 'to'])
  const kinds = (Object.keys(MOVEMENTS) as Movement[]).map((value) => ({
    value,
    label: texts.movements[value],
  }))
  const fields = [
    selectFilter(visit, 'movement', texts.movement, texts.allMovements, kinds),
    dayFilter(visit, 'from', texts.from),
    dayFilter(visit, 'to', texts.to),
  ]
  return filterHead(visit, fields, {
    kept: { period: given.period },
    periods: periodChips(visit, '/balance', given, periodOrMonth(given)),
  })
}

/** If only one kind of movement is shown, the balances do not follow from it, and are left out. */
function summary({ language }: Visit, { entries, kinds }: Chosen): Html {
  const texts = BALANCE[language]
  const { opening, closing, movements } = entries
  const { entered, left } = sumMoved(movements, kinds)
  return totals([
    kinds === null && [texts.opening, money(opening[STATEMENT_ACCOUNT])],
    [texts.entered, signed(entered)],
    [texts.left, signed(0 - left)],
    kinds === null && [
      texts.closingBalance,
      html`<strong>${money(closing[STATEMENT_ACCOUNT])}</strong>`,
    ],
  ])
}

/** Money that enters has a plus, money that leaves a minus. */
const signed = (cents: number): Html =>
  html`<span class="money${cents > 0 && ' in'}">${cents > 0 && '+ '}${formatReais(cents)}</span>`

type ShownDay = Day<NamedLine> & { sums: LineSums }

/**
 * The days of a page with what entered and left on them. The page may begin and end in the middle
 * of a day: then the sums of the whole day are read.
 */
async function withSubtotals(
  visit: Visit,
  chosen: Chosen,
  { lines, next }: Listed<NamedLine>,
): Promise<ShownDay[]> {
  const { app, company, query } = visit
  const days = daysOf(lines)
  const isCut = days.map(
    (_, at) => (at === 0 && query.after) || (at === days.length - 1 && next !== null),
  )
  const cut = days.filter((_, at) => isCut[at]).map(({ day }) => periodOf({ from: day, to: day }))
  const whole = cut.length > 0 ? await readPeriods(app, company, cut) : []
  return days.map((day, at) => {
    const entries = isCut[at] ? whole.shift() : undefined
    const sums = entries ? sumMoved(entries.movements, chosen.kinds) : sumLines(day.lines)
    return { ...day, sums }
  })
}

function tableOf(visit: Visit, days: ShownDay[], refunded: Refunded): Html {
  const texts = BALANCE[visit.language]
  const { at, description, entered, left, balance } = texts.lineColumns
  const head = html`<th scope="col">${at}</th><th scope="col">${description}</th><th scope="col" class="number">${entered}</th><th scope="col" class="number">${left}</th><th scope="col" class="number">${balance}</th>`
  return html`<div class="table"><table class="by-day"><caption class="hide">${texts.statement}</caption><thead><tr>${head}</tr></thead>${days.map((day) => dayRows(visit, day, refunded))}</table></div>`
}

/** The day with what entered and left, what was available at its end, and its lines. */
function dayRows(visit: Visit, { day, lines, sums }: ShownDay, refunded: Refunded): Html {
  const { entered, left } = BALANCE[visit.language].lineColumns
  const sum = (title: string, cents: number) =>
    html`<td class="number" data-title="${title}">${cents !== 0 && signed(cents)}</td>`
  return html`<tbody><tr class="line-day"><th scope="rowgroup" colspan="2">${formatDay(day)}</th>${sum(entered, sums.entered)}${sum(left, 0 - sums.left)}<td></td></tr>
${lines.map((line) => lineRow(visit, line, refunded))}</tbody>`
}

function lineRow(visit: Visit, line: NamedLine, refunded: Refunded): Html {
  const texts = BALANCE[visit.language]
  const { at, entered, left, balance } = texts.lineColumns
  const path = linkOf(visit, { ...line, type: line.kind, chargeId: publicCharge(line) }, refunded)
  const words = texts.lines[line.kind]
  const amount = (title: string, isShown: boolean) =>
    html`<td class="number line-amount" data-title="${title}">${isShown && signed(line.amount)}</td>`
  return html`<tr><td class="line-at" data-title="${at}">${moment(line.at)}</td>
<td class="main">${path ? html`<a href="${visit.url(path)}">${words}</a>` : words}${line.name !== null && html`<span class="soft small line-name" title="${line.name}">${line.name}</span>`}</td>
${amount(entered, line.amount > 0)}${amount(left, line.amount < 0)}<td class="number line-balance" data-title="${balance}">${money(line.balance)}</td></tr>`
}

const publicCharge = ({ chargeId }: NamedLine): string | undefined =>
  chargeId === null ? undefined : toPublic('charge', chargeId)

const fileNameOf = ({ days }: Chosen, ending: string): string =>
  `extrato-${days.from}-a-${days.to}.${ending}`

/** All lines that match, the oldest first, as banks write them. */
const linesOf = (visit: Visit, chosen: Chosen): AsyncGenerator<NamedLine[]> =>
  slices(
    SLICE,
    (after: number | null) =>
      readLines(visit, chosen, { order: 'oldest first', limit: SLICE, after }),
    ({ entry }) => entry,
  )

/** A period that ends before it starts has no file: the page says what is wrong. */
function backIfWrong(visit: Visit, { from, to }: Days): FastifyReply | null {
  return to < from ? visit.redirect(`/balance?${new URLSearchParams({ from, to })}`) : null
}

async function sendLines(visit: Visit): Promise<FastifyReply> {
  const chosen = await chosenOf(visit)
  const wrong = backIfWrong(visit, chosen.days)
  if (wrong) return wrong
  async function* pieces() {
    yield LINE_WRITER.heading
    for await (const lines of linesOf(visit, chosen)) yield lines.map(LINE_WRITER.line).join('')
  }
  return sendCsv(visit, fileNameOf(chosen, 'csv'), pieces())
}

/** The statement for accounting programs, in OFX. */
async function sendOfx(visit: Visit): Promise<FastifyReply> {
  const { app, company } = visit
  const chosen = await chosenOf(visit)
  const wrong = backIfWrong(visit, chosen.days)
  if (wrong) return wrong
  const now = app.clock.now()
  const { from, to } = spanOf(chosen.days)
  const statement: OfxStatement = {
    companyId: company.id,
    companyName: company.name,
    now,
    from,
    // The period ends before the first moment of the next day, or now, but never before it starts.
    to: new Date(Math.max(from.getTime(), Math.min(to.getTime() - 1000, now.getTime()))),
    balance: chosen.entries.closing[STATEMENT_ACCOUNT],
  }
  async function* pieces() {
    yield ofxStart(statement)
    for await (const lines of linesOf(visit, chosen)) yield lines.map(ofxLine).join('')
    yield ofxEnd(statement)
  }
  const file = { filename: fileNameOf(chosen, 'ofx'), type: 'application/x-ofx; charset=utf-8' }
  return sendFile(visit, file, pieces())
}

export const statementRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/balance/movements.csv', needs: 'balance:read', handle: sendLines },
  { method: 'GET', path: '/balance/movements.ofx', needs: 'balance:read', handle: sendOfx },
]
