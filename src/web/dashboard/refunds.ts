import type { FastifyReply } from 'fastify'
import { withNames } from '../../core/balance/names.ts'
import { bookedSource } from '../../core/payments/rules.ts'
import { REFUND_STATES, type Refund, type RefundState } from '../../core/refunds/rules.ts'
import { listOfPeriod, type RefundFilter, sumByState } from '../../core/refunds/store.ts'
import { type Column as CsvColumn, csvWriter } from '../../lib/csv.ts'
import { fromPublic, toPublic, type Uuid } from '../../lib/ids.ts'
import { BRAZILIAN } from '../../pix/brazilian-csv.ts'
import { type Html, html } from '../html.ts'
import { sendCsv } from './csv.ts'
import { dayFilter, filterHead } from './filters.ts'
import { FINANCE, fileLink, givenOf, slices, totals } from './finance-parts.ts'
import { type Days, daysOrMonth, periodOrMonth, spanOf } from './finance-periods.ts'
import { backLink } from './form-parts.ts'
import { listCard, periodChips, statusTabs, toList } from './list-parts.ts'
import {
  type Column,
  heading,
  moment,
  money,
  notFound,
  nothing,
  pager,
  pill,
  rowLink,
  type Tone,
  table,
} from './parts.ts'
import { REFUNDS } from './refunds-texts.ts'
import { DASHBOARD } from './texts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const PAGE_SIZE = 50
/** So many lines of a file are written before other requests are served. */
const SLICE = 100

/** A refund with who has paid what goes back. */
type NamedRefund = Refund & { reference: string; name: string | null }

type Chosen = { days: Days; filter: RefundFilter }

function chosenOf(visit: Visit): Chosen {
  const days = daysOrMonth(visit)
  const status = REFUND_STATES.find((state) => state === visit.query.status) ?? null
  return { days, filter: { ...spanOf(days), status } }
}

async function read(
  { app, company }: Visit,
  filter: RefundFilter,
  part: { limit: number; after: Uuid | null },
): Promise<NamedRefund[]> {
  const { db, vault } = app
  const found = await listOfPeriod(db, company.id, { ...filter, ...part })
  const named = found.map((refund) => ({ ...refund, reference: toPublic('rfnd', refund.id) }))
  return withNames({ db, vault, companyId: company.id, source: bookedSource(company) }, named)
}

async function show(visit: Visit): Promise<FastifyReply> {
  const { app, company, language, query } = visit
  const texts = REFUNDS[language]
  const { days, filter } = chosenOf(visit)
  const after = fromPublic('rfnd', query.after ?? '')
  const [found, sums] = await Promise.all([
    read(visit, filter, { limit: PAGE_SIZE + 1, after }),
    sumByState(app.db, company.id, { ...filter, status: null }),
  ])
  const shown = found.slice(0, PAGE_SIZE)
  const next = found.length > PAGE_SIZE ? shown.at(-1)!.reference : null
  const kept = filter.status ? { status: filter.status } : {}
  const empty = filter.status ? notFound(texts.noneFound) : nothing(language, texts.none)
  const file = fileLink(visit, '/refunds.csv', { ...kept, ...days }, texts.csv)
  const ofState = filter.status ? sums.filter(({ status }) => status === filter.status) : sums
  const body = html`${toList(visit)}${visit.can('balance:read') && backLink(visit, '/balance', DASHBOARD[language].sections.balance)}
${heading(texts.title, file)}
${headOf(visit, sums)}
${listCard(
  html`${sumsOf(visit, ofState)}${table(texts.title, columnsOf(visit), shown, empty)}${pager(visit, next)}`,
)}`
  return visit.send({ title: texts.title, body, here: 'balance', ...FINANCE })
}

type StateSums = Awaited<ReturnType<typeof sumByState>>

function headOf(visit: Visit, counts: StateSums): Html {
  const { status: label, allStates: all, states: words, from, to } = REFUNDS[visit.language]
  const given = givenOf(visit, ['status', 'period', 'from', 'to'])
  const fields = [dayFilter(visit, 'from', from), dayFilter(visit, 'to', to)]
  return filterHead(visit, fields, {
    kept: { status: given.status, period: given.period },
    tabs: statusTabs(visit, '/refunds', given, { label, all, words, counts }),
    periods: periodChips(visit, '/refunds', given, periodOrMonth(given)),
  })
}

/** What has gone back, what is under way, and apart from both what did not go back. */
function sumsOf(visit: Visit, sums: StateSums): Html {
  const { totals: names } = REFUNDS[visit.language]
  const of = (state: RefundState) =>
    sums.find(({ status }) => status === state) ?? { count: 0, sum: 0 }
  const [done, open, failed] = [of('COMPLETED'), of('PROCESSING'), of('FAILED')]
  return totals([
    [names.done(done.count), html`<strong>${money(done.sum)}</strong>`],
    open.count > 0 && [names.open(open.count), money(open.sum)],
    failed.count > 0 && [names.failed(failed.count), money(failed.sum)],
  ])
}

const TONES: Record<RefundState, Tone> = { PROCESSING: 'warn', COMPLETED: 'good', FAILED: 'bad' }

function columnsOf(visit: Visit): Column<NamedRefund>[] {
  const { columns, states, noName } = REFUNDS[visit.language]
  return [
    {
      title: columns.payer,
      kind: 'main',
      of: (refund) => rowLink(visit.url(pathOf(refund)), refund.name ?? noName),
    },
    {
      title: columns.status,
      kind: 'state',
      of: ({ status }) => pill(states[status], TONES[status]),
    },
    { title: columns.startedAt, kind: 'moment', of: ({ createdAt }) => moment(createdAt) },
    { title: columns.finishedAt, of: ({ finishedAt }) => (finishedAt ? moment(finishedAt) : '–') },
    { title: columns.reason, of: (refund) => reasonOf(visit, refund) ?? '–' },
    { title: columns.amount, kind: 'number', of: ({ amount }) => money(amount) },
  ]
}

/** The charge or the payment that goes back. */
const pathOf = ({ chargeId, endToEndId }: Refund): string =>
  chargeId === null ? `/unmatched/${endToEndId}` : `/charges/${toPublic('charge', chargeId)}`

/** Why it failed, why the bank has returned it, or what the payer was told. */
function reasonOf(
  { language }: Pick<Visit, 'language'>,
  { failure, bankReason, comment }: Refund,
): string | null {
  const { byBank, reasons } = REFUNDS[language]
  return failure ?? (bankReason && `${byBank}: ${reasons[bankReason]}`) ?? comment
}

/** New columns are added at the end. */
const COLUMNS: CsvColumn<NamedRefund>[] = [
  { name: 'id', title: 'Devolução', of: ({ reference }) => reference },
  { name: 'created_at', title: 'Solicitada em', of: ({ createdAt }) => createdAt },
  {
    name: 'status',
    title: 'Situação',
    of: ({ status }) => ({ code: status, word: REFUNDS.pt.states[status] }),
  },
  { name: 'amount_cents', title: 'Valor', of: ({ amount }) => ({ cents: amount }) },
  { name: 'name', title: 'Pagador', of: ({ name }) => name },
  {
    name: 'charge_id',
    title: 'Cobrança',
    of: ({ chargeId }) => chargeId && toPublic('charge', chargeId),
  },
  { name: 'end_to_end_id', title: 'ID da transação (E2E)', of: ({ endToEndId }) => endToEndId },
  { name: 'return_id', title: 'ID da devolução', of: ({ returnId }) => returnId },
  { name: 'finished_at', title: 'Encerrada em', of: ({ finishedAt }) => finishedAt },
  { name: 'reason', title: 'Motivo', of: (refund) => reasonOf({ language: 'pt' }, refund) },
]
const WRITER = csvWriter(COLUMNS, BRAZILIAN)

/** All refunds that match, the newest first. */
function send(visit: Visit): Promise<FastifyReply> {
  const { days, filter } = chosenOf(visit)
  const readSlice = (after: Uuid | null) => read(visit, filter, { limit: SLICE, after })
  async function* pieces() {
    yield WRITER.heading
    for await (const refunds of slices(SLICE, readSlice, ({ id }: NamedRefund) => id)) {
      yield refunds.map(WRITER.line).join('')
    }
  }
  return sendCsv(visit, `devolucoes-${days.from}-a-${days.to}.csv`, pieces())
}

export const refundsRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/refunds', needs: 'payments:read', handle: show },
  { method: 'GET', path: '/refunds.csv', needs: 'payments:read', handle: send },
]
