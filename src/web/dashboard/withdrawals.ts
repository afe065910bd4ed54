import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import type { BalanceView } from '../../core/balance/view.ts'
import { findLimit } from '../../core/withdrawals/store.ts'
import type { StartedWithdrawal } from '../../core/withdrawals/view.ts'
import { formatReais, readReais } from '../../lib/money.ts'
import { maskPixKey } from '../../pix/masks.ts'
import { fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { facts } from '../parts.ts'
import { APPROVALS } from './approvals-texts.ts'
import { backLink, type FormFault, tryForm } from './form-parts.ts'
import {
  type Column,
  card,
  heading,
  moment,
  money,
  nothing,
  notice,
  pager,
  table,
} from './parts.ts'
import { DASHBOARD } from './texts.ts'
import type { DashboardRoute, Visit } from './visit.ts'
import { type ShownWithdrawal, statePill, withdrawalRoutes } from './withdrawal.ts'
import { WITHDRAWALS } from './withdrawals-texts.ts'

const PAGE_SIZE = '25'

async function showList(visit: Visit): Promise<FastifyReply> {
  const { language, query } = visit
  const texts = WITHDRAWALS[language]
  const { data, next } = await visit.operate<ShownWithdrawal[]>('listWithdrawals', {
    query: { limit: PAGE_SIZE, ...(query.after ? { after: query.after } : {}) },
  })
  const list = table(texts.title, columnsOf(visit), data, nothing(language, texts.none))
  const approvals =
    visit.can(['owner']) &&
    html`<a class="button quiet slim" href="${visit.url('/settings/approvals')}">${APPROVALS[language].title}</a>`
  const body = html`${toBalance(visit)}${heading(texts.title, [startLink(visit), approvals])}
${card(null, html`${list}${pager(visit, next)}`)}`
  return visit.send({ title: texts.title, body, here: 'balance' })
}

const toBalance = (visit: Visit): Html =>
  backLink(visit, '/balance', DASHBOARD[visit.language].sections.balance)

/** The button to the form, for whoever may use it. */
export const startLink = (visit: Visit): Html | false =>
  visit.can('balance:write') &&
  html`<a class="button slim" href="${visit.url('/balance/withdraw')}">${WITHDRAWALS[visit.language].start}</a>`

function columnsOf(visit: Visit): Column<ShownWithdrawal>[] {
  const { columns } = WITHDRAWALS[visit.language]
  return [
    {
      title: columns.value,
      kind: 'main',
      of: ({ id, value }) =>
        html`<a href="${visit.url(`/balance/withdrawals/${id}`)}">${money(value)}</a>`,
    },
    { title: columns.status, of: (withdrawal) => statePill(visit, withdrawal) },
    { title: columns.at, of: ({ createdAt }) => moment(createdAt) },
    { title: columns.finishedAt, of: ({ finishedAt }) => (finishedAt ? moment(finishedAt) : '–') },
    { title: columns.destination, of: ({ destination }) => destination },
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
  const body = html`${toBalance(visit)}${heading(texts.start)}
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
]
