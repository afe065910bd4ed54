import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import type { BalanceView } from '../../core/balance/view.ts'
import { asOf, STATUSES, type Status, type Withdrawal } from '../../core/withdrawals/rules.ts'
import {
  findLimit,
  list,
  type StateSum,
  sumByState,
  type WithdrawalFilter,
} from '../../core/withdrawals/store.ts'
import { type StartedWithdrawal, showWithdrawal as showView } from '../../core/withdrawals/view.ts'
import { fromPublic, type Uuid } from '../../lib/ids.ts'
import { formatReais, readReais } from '../../lib/money.ts'
import { endOfPeriod, localDateOf, startOfPeriod } from '../../pix/local-time.ts'
import { maskPixKey } from '../../pix/masks.ts'
import { fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { facts } from '../parts.ts'
import { APPROVALS } from './approvals-texts.ts'
import { sendCsv } from './csv.ts'
import { dayFilter, filterHead } from './filters.ts'
import { FINANCE, fileLink, givenOf, slices, totals } from './finance-parts.ts'
import { givenDays } from './finance-periods.ts'
import { backLink, type FormFault, tryForm } from './form-parts.ts'
import { listCard, periodChips, statusTabs, toList } from './list-parts.ts'
import {
  type Column,
  card,
  heading,
  moment,
  money,
  notFound,
  nothing,
  notice,
  pager,
  rowLink,
  table,
} from './parts.ts'
import { periodIn } from './periods.ts'
import { DASHBOARD } from './texts.ts'
import type { DashboardRoute, Visit } from './visit.ts'
import { type ShownWithdrawal, statePill, withdrawalRoutes } from './withdrawal.ts'
import { WITHDRAWAL_WRITER } from './withdrawal-file.ts'
import { WITHDRAWALS } from './withdrawals-texts.ts'
import { withdrawnRoutes } from './withdrawn.ts'

const PAGE_SIZE = 25
/** So many lines of a file are written before other requests are served. */
const SLICE = 100
const FILTERS = ['status', 'period', 'from', 'to'] as const

/** The filters of the URL. */
function filterOf(visit: Visit): WithdrawalFilter {
  const { from, to } = givenDays(visit) ?? {}
  return {
    status: STATUSES.find((status) => status === visit.query.status) ?? null,
    from: from ? startOfPeriod(from) : null,
    to: to ? endOfPeriod(to) : null,
  }
}

async function showList(visit: Visit): Promise<FastifyReply> {
  const { language, query, app, company } = visit
  const texts = WITHDRAWALS[language]
  const [filter, now] = [filterOf(visit), app.clock.now()]
  const after = fromPublic('wd', query.after ?? '')
  const [found, sums, pending] = await Promise.all([
    list(app.db, company.id, { ...filter, limit: PAGE_SIZE + 1, after }, now),
    sumByState(app.db, company.id, { ...filter, status: null }, now),
    findPending(visit),
  ])
  const shown = found.slice(0, PAGE_SIZE).map((one) => showView(one, now))
  const next = found.length > PAGE_SIZE ? shown.at(-1)!.id : null
  const given = givenOf(visit, FILTERS)
  const empty =
    Object.keys(given).length > 0 ? notFound(texts.noneFound) : nothing(language, texts.none)
  const approvals =
    visit.can(['owner']) &&
    html`<a class="button quiet slim" href="${visit.url('/settings/approvals')}">${APPROVALS[language].title}</a>`
  const actions = [
    startLink(visit, pending),
    fileLink(visit, '/balance/withdrawals.csv', given, texts.csv),
    approvals,
  ]
  const ofState = filter.status ? sums.filter(({ status }) => status === filter.status) : sums
  const body = html`${toList(visit)}${toBalance(visit)}
${heading(texts.title, actions)}
${pending && pendingNotice(visit, pending)}
${headOf(visit, given, sums)}
${listCard(
  html`${sumsOf(visit, ofState)}${table(texts.title, columnsOf(visit), shown, empty)}${pager(visit, next)}`,
)}`
  return visit.send({ title: texts.title, body, here: 'balance', ...FINANCE })
}

function headOf(visit: Visit, given: Record<string, string>, counts: StateSum[]): Html {
  const { columns, allStates: all, states: words, from, to } = WITHDRAWALS[visit.language]
  const fields = [dayFilter(visit, 'from', from), dayFilter(visit, 'to', to)]
  const path = '/balance/withdrawals'
  return filterHead(visit, fields, {
    kept: { status: given.status, period: given.period },
    tabs: statusTabs(visit, path, given, { label: columns.status, all, words, counts }),
    periods: periodChips(visit, path, given, periodIn(given)),
  })
}

/** What was sent, what is under way, and apart from both what was not sent. */
function sumsOf(visit: Visit, sums: StateSum[]): Html {
  const { totals: names } = WITHDRAWALS[visit.language]
  const of = (...states: Status[]) => {
    const some = sums.filter(({ status }) => states.includes(status))
    const add = (field: 'count' | 'sum') => some.reduce((all, one) => all + one[field], 0)
    return { count: add('count'), sum: add('sum') }
  }
  const [sent, open, failed] = [
    of('COMPLETED'),
    of('PENDING_OTP', 'PROCESSING'),
    of('FAILED', 'EXPIRED', 'CANCELED'),
  ]
  return totals([
    [names.sent(sent.count), html`<strong>${money(sent.sum)}</strong>`],
    open.count > 0 && [names.open(open.count), money(open.sum)],
    failed.count > 0 && [names.failed(failed.count), money(failed.sum)],
  ])
}

/** All withdrawals that match, the newest first. */
function sendList(visit: Visit): Promise<FastifyReply> {
  const { app, company } = visit
  const [filter, now] = [filterOf(visit), app.clock.now()]
  const read = (after: Uuid | null) =>
    list(app.db, company.id, { ...filter, limit: SLICE, after }, now)
  async function* pieces() {
    yield WITHDRAWAL_WRITER.heading
    for await (const part of slices(SLICE, read, ({ id }: Withdrawal) => id)) {
      yield part.map((one) => WITHDRAWAL_WRITER.line(asOf(one, now))).join('')
    }
  }
  return sendCsv(visit, `saques-${localDateOf(now)}.csv`, pieces())
}

/**
 * The button to the form, for whoever may use it. While a withdrawal is open, no other one can be
 * started, so the button leads to that.
 */
export const startLink = (visit: Visit, pending: ShownWithdrawal | null): Html | false => {
  const texts = WITHDRAWALS[visit.language]
  if (!visit.can('balance:write')) return false
  return pending
    ? html`<a class="button slim" href="${visit.url(`/balance/withdrawals/${pending.id}`)}">${texts.openOne}</a>`
    : html`<a class="button slim" href="${visit.url('/balance/withdraw')}">${texts.start}</a>`
}

const toBalance = (visit: Visit): Html =>
  backLink(visit, '/balance', DASHBOARD[visit.language].sections.balance)

function columnsOf(visit: Visit): Column<ShownWithdrawal>[] {
  const { columns } = WITHDRAWALS[visit.language]
  return [
    {
      title: columns.value,
      kind: 'main',
      of: ({ id, value }) => rowLink(visit.url(`/balance/withdrawals/${id}`), money(value)),
    },
    { title: columns.status, kind: 'state', of: (withdrawal) => statePill(visit, withdrawal) },
    { title: columns.at, kind: 'moment', of: ({ createdAt }) => moment(createdAt) },
    { title: columns.finishedAt, of: ({ finishedAt }) => (finishedAt ? moment(finishedAt) : '–') },
    {
      title: columns.destination,
      of: ({ destination, recipientId }) =>
        html`<span class="small" title="${destination}">${destination}</span>${recipientId !== undefined && html`<span class="soft small below">${WITHDRAWALS[visit.language].payout}</span>`}`,
    },
  ]
}

/** The withdrawal that has not ended. A company has one at a time, so it is the newest. */
export async function findPending(visit: Visit): Promise<ShownWithdrawal | null> {
  const { data } = await visit.operate<ShownWithdrawal[]>('listWithdrawals', {
    query: { limit: '1' },
  })
  return data[0]?.finishedAt === undefined ? (data[0] ?? null) : null
}

/** Says that a withdrawal is not ended, with a link to it. */
export function pendingNotice(visit: Visit, pending: ShownWithdrawal): Html {
  const texts = WITHDRAWALS[visit.language]
  const link = html`<a href="${visit.url(`/balance/withdrawals/${pending.id}`)}">${texts.pendingLink}</a>`
  return notice(html`${texts.pending} ${link}`, 'warn')
}

type Typed = { fault: FormFault | null; isNoAmount: boolean; amount: string }

async function showForm(visit: Visit, typed: Typed | null = null): Promise<FastifyReply> {
  const texts = WITHDRAWALS[visit.language]
  const [{ data: balance }, pending, limit] = await Promise.all([
    visit.operate<Static<typeof BalanceView>>('getBalance'),
    findPending(visit),
    findLimit(visit.app.db, visit.company.id),
  ])
  const steps = limit
    ? [...texts.steps, APPROVALS[visit.language].needed(formatReais(limit.above))]
    : texts.steps
  const body = html`${toBalance(visit)}${heading(texts.start, pending && startLink(visit, pending))}
${typed?.fault?.notice(visit.language)}
${pending && pendingNotice(visit, pending)}
<div class="columns">${!pending && formCard(visit, balance.available, typed)}
${card(
  texts.stepsTitle,
  html`<ol class="steps">${steps.map((step) => html`<li><span>${step}</span></li>`)}</ol>`,
)}</div>`
  const status = typed ? (typed.fault?.problem.status ?? 400) : 200
  return visit.send({ title: texts.start, body, here: 'balance', status })
}

function formCard(visit: Visit, available: number, typed: Typed | null): Html {
  const { company, language } = visit
  const texts = WITHDRAWALS[language]
  const destination = maskPixKey(company.payoutKey ?? company.pixKey)
  const known = facts([
    [texts.available, money(available)],
    [texts.columns.destination, destination],
  ])
  if (available <= 0) return card(null, html`${known}<p>${texts.nothingLeft}</p>`)
  const fields = fieldsOf([
    {
      name: 'amount',
      label: texts.amount,
      value: typed?.amount ?? '',
      fault: faultOf(visit, available, typed),
      wrong: texts.wrongAmount,
      hint: texts.amountHint,
      maxlength: 20,
    },
  ])
  // The button for all names the amount that the person has seen.
  const content = html`${fields}<button class="button">${texts.start}</button>
<button class="button quiet" name="all" value="${available}" formnovalidate>${texts.all(formatReais(available))}</button>`
  return card(
    null,
    html`${known}<p class="hint">${texts.destinationHint}</p>
${visit.formOf(visit.url('/balance/withdraw'), content, { kind: 'card-form' })}`,
  )
}

function faultOf({ language }: Visit, available: number, typed: Typed | null): string | null {
  const texts = WITHDRAWALS[language]
  if (typed?.fault?.problem.code === 'insufficient_balance') {
    return texts.tooMuch(formatReais(available))
  }
  return typed?.isNoAmount || typed?.fault?.isWrong('value') ? texts.wrongAmount : null
}

async function start(visit: Visit): Promise<FastifyReply> {
  const { once, amount = '', all } = visit.form
  const value = all && /^\d{1,15}$/.test(all) ? Number(all) : readReais(amount)
  if (!value) return showForm(visit, { fault: null, isNoAmount: true, amount })
  const { fault, done } = await tryForm(() =>
    visit.operate<Static<typeof StartedWithdrawal>>('startWithdrawal', { body: { value }, once }),
  )
  if (fault) return showForm(visit, { fault, isNoAmount: false, amount })
  return visit.redirect(`/balance/withdrawals/${done.data.withdrawId}`, 'started')
}

export const withdrawalsRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/balance/withdrawals', needs: 'balance:read', handle: showList },
  { method: 'GET', path: '/balance/withdrawals.csv', needs: 'balance:read', handle: sendList },
  {
    method: 'GET',
    path: '/balance/withdraw',
    needs: 'balance:write',
    confirmed: true,
    movesMoney: true,
    handle: (visit) => showForm(visit),
  },
  {
    method: 'POST',
    path: '/balance/withdraw',
    needs: 'balance:write',
    confirmed: true,
    movesMoney: true,
    handle: start,
  },
  ...withdrawalRoutes,
  ...withdrawnRoutes,
]
