import type { FastifyReply } from 'fastify'
import {
  LINE_WRITER,
  MOVEMENTS,
  type NamedLine,
  STATEMENT_ACCOUNT,
  sumMoved,
} from '../../core/balance/lines.ts'
import { contentsOf, hasContents } from '../../core/balance/withdrawn.ts'
import { readPeriods } from '../../core/figures/figures.ts'
import { findWithdrawal } from '../../core/withdrawals/commands.ts'
import type { Withdrawal } from '../../core/withdrawals/rules.ts'
import { shownDestination } from '../../core/withdrawals/view.ts'
import type { MovementFilter } from '../../ledger/movements.ts'
import { fromPublic, toPublic } from '../../lib/ids.ts'
import { formatReais } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import { formatMoment } from '../../pix/local-time.ts'
import { type Html, html } from '../html.ts'
import { facts } from '../parts.ts'
import { sendCsv } from './csv.ts'
import { FINANCE, fileLink, printButton, slices, totals } from './finance-parts.ts'
import { backLink } from './form-parts.ts'
import {
  type Column,
  card,
  heading,
  moment,
  money,
  nothing,
  pager,
  rowLink,
  table,
} from './parts.ts'
import { partNote, printAction, readShown } from './printed.ts'
import { readLines } from './statement.ts'
import type { DashboardRoute, Visit } from './visit.ts'
import { WITHDRAWALS } from './withdrawals-texts.ts'

/** So many lines of a file are written before other requests are served. */
const SLICE = 100
const PAGE = '/balance/withdrawals/:id'

const pathOf = ({ id }: Withdrawal): string => `/balance/withdrawals/${toPublic('wd', id)}`

function find({ app, company, params }: Visit): Promise<Withdrawal> {
  const id = fromPublic('wd', params.id ?? '')
  if (id === null) throw problem('withdrawal_not_found')
  return findWithdrawal(app.db, company.id, id)
}

/** The entries that released the money of the charges, and their sums. */
async function chargesIn({ app, company }: Visit, withdrawal: Withdrawal) {
  const { since, ...period } = await contentsOf(app.db, withdrawal)
  const [entries] = await readPeriods(app, company, [period])
  const kinds = MOVEMENTS.sales
  const filter: MovementFilter = { account: STATEMENT_ACCOUNT, range: entries!, kinds }
  return { since, filter, sums: sumMoved(entries!.movements, kinds) }
}

/** The links of a completed withdrawal to its receipt and to its charges. */
export const completedLinks = (visit: Visit, withdrawal: Withdrawal): Html | false => {
  const texts = WITHDRAWALS[visit.language]
  const link = (path: string, label: string) =>
    html`<a class="button quiet slim" href="${visit.url(`${pathOf(withdrawal)}${path}`)}">${label}</a>`
  return (
    withdrawal.status === 'COMPLETED' &&
    html`<div class="actions">${link('/receipt', texts.receipt)}${hasContents(withdrawal) && link('/charges', texts.contents)}</div>`
  )
}

/** The charges that a withdrawal contains, the newest first. */
async function showContents(visit: Visit): Promise<FastifyReply> {
  const { language } = visit
  const texts = WITHDRAWALS[language]
  const withdrawal = await find(visit)
  if (!hasContents(withdrawal)) return visit.redirect(pathOf(withdrawal))
  const { since, filter, sums } = await chargesIn(visit, withdrawal)
  const part = await readShown(visit, (one) =>
    readLines(visit, filter, { order: 'newest first', ...one }),
  )
  const { lines, next } = part
  const title = texts.contentsOf(formatReais(withdrawal.value))
  const actions = html`${fileLink(visit, `${pathOf(withdrawal)}/charges.csv`, {}, texts.csv)}${printAction(visit, texts.print, part)}`
  const body = html`${backLink(visit, pathOf(withdrawal), texts.withdrawalOf(formatReais(withdrawal.value)))}
${heading(title, actions)}
${card(
  null,
  html`<p>${texts.contentsHint(since && formatMoment(since))}</p>
${totals([
  [texts.chargeCount(sums.count), money(sums.entered)],
  [texts.withdrawn, money(withdrawal.value)],
])}
${partNote(visit, part)}
${table(title, columnsOf(visit), lines, nothing(language, texts.noContents))}${pager(visit, next)}`,
)}`
  return visit.send({ title, body, here: 'balance', ...FINANCE })
}

function columnsOf(visit: Visit): Column<NamedLine>[] {
  const { contentsColumns: columns, noName } = WITHDRAWALS[visit.language]
  return [
    {
      title: columns.charge,
      kind: 'main',
      of: ({ chargeId, name }) => {
        const words = name ?? noName
        return chargeId !== null && visit.can('payments:read')
          ? rowLink(visit.url(`/charges/${toPublic('charge', chargeId)}`), words)
          : words
      },
    },
    { title: columns.releasedAt, kind: 'moment', of: ({ at }) => moment(at) },
    { title: columns.released, kind: 'number', of: ({ amount }) => money(amount) },
  ]
}

async function sendContents(visit: Visit): Promise<FastifyReply> {
  const withdrawal = await find(visit)
  if (!hasContents(withdrawal)) return visit.redirect(pathOf(withdrawal))
  const { filter } = await chargesIn(visit, withdrawal)
  const read = (after: number | null) =>
    readLines(visit, filter, { order: 'oldest first', limit: SLICE, after })
  async function* pieces() {
    yield LINE_WRITER.heading
    for await (const lines of slices(SLICE, read, ({ entry }: NamedLine) => entry)) {
      yield lines.map(LINE_WRITER.line).join('')
    }
  }
  return sendCsv(visit, `saque-${toPublic('wd', withdrawal.id)}.csv`, pieces())
}

/** A page to print or to send on: how much was sent, when, where to, and its ids. */
async function showReceipt(visit: Visit): Promise<FastifyReply> {
  const { company, language } = visit
  const texts = WITHDRAWALS[language]
  const withdrawal = await find(visit)
  const { id, value, status, finishedAt, endToEndId, createdAt } = withdrawal
  if (status !== 'COMPLETED') return visit.redirect(pathOf(withdrawal))
  const isTest = company.mode === 'sandbox'
  const title = texts.receiptOf(formatReais(value))
  const body = html`<div class="no-print">${backLink(visit, pathOf(withdrawal), texts.withdrawalOf(formatReais(value)))}</div>
<section class="card narrow-card paper-card">
<div class="heading"><h1>${texts.receipt}</h1><div class="actions">${printButton(texts.save)}</div></div>
${isTest && html`<p class="pill tone warn">${texts.test}</p>`}
<p class="receipt-amount">${money(value)}</p>
${facts([
  [texts.receiptFacts.from, company.name],
  [texts.columns.destination, shownDestination(withdrawal)],
  [texts.receiptFacts.sentAt, moment(finishedAt!)],
  [texts.columns.at, moment(createdAt)],
  endToEndId !== null && [texts.endToEndId, html`<code>${endToEndId}</code>`],
  ['ID', html`<code>${toPublic('wd', id)}</code>`],
])}
<noscript><p class="hint">${texts.saveHint}</p></noscript>
</section>`
  return visit.send({ title, body, here: 'balance', ...FINANCE })
}

export const withdrawnRoutes: DashboardRoute[] = [
  { method: 'GET', path: `${PAGE}/charges`, needs: 'balance:read', handle: showContents },
  { method: 'GET', path: `${PAGE}/charges.csv`, needs: 'balance:read', handle: sendContents },
  { method: 'GET', path: `${PAGE}/receipt`, needs: 'balance:read', handle: showReceipt },
]
