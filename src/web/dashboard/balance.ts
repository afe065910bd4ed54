import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import { accountsOf, type BalanceView } from '../../core/balance/view.ts'
import type { Account } from '../../ledger/recipes.ts'
import { type Html, html } from '../html.ts'
import { BALANCE } from './balance-texts.ts'
import { entriesRoutes } from './entries.ts'
import { FINANCE } from './finance-parts.ts'
import { backLink } from './form-parts.ts'
import { card, heading, money, notice } from './parts.ts'
import { isToPrint } from './printed.ts'
import { statementCard, statementRoutes } from './statement.ts'
import type { DashboardRoute, Visit } from './visit.ts'
import { findPending, pendingNotice, startLink } from './withdrawals.ts'

async function showBalance(visit: Visit): Promise<FastifyReply> {
  const texts = BALANCE[visit.language]
  if (isToPrint(visit)) return showPaper(visit)
  const [{ data: balance }, statement, pending] = await Promise.all([
    visit.operate<Static<typeof BalanceView>>('getBalance'),
    statementCard(visit),
    findPending(visit),
  ])
  const link = (path: string, label: string) =>
    html`<a class="button quiet slim" href="${visit.url(path)}">${label}</a>`
  const actions = [
    startLink(visit, pending),
    link('/closing', texts.closing),
    link('/balance/withdrawals', texts.withdrawals),
    visit.can('payments:read') && link('/refunds', texts.refunds),
    link('/recipients', texts.recipients),
  ]
  const body = html`<div class="no-print">${heading(texts.title, actions)}</div>
${pending && pendingNotice(visit, pending)}
${balance.available < 0 && notice(texts.negative, 'warn')}
<div class="figures balances no-print">${accountsOf(balance).map((account) => figure(visit, account, balance[account]!))}</div>
${statement}`
  return visit.send({
    title: texts.title,
    body,
    here: 'balance',
    ...FINANCE,
  })
}

/** The statement alone, with all its lines. */
async function showPaper(visit: Visit): Promise<FastifyReply> {
  const { title } = BALANCE[visit.language]
  const body = html`${backLink(visit, '/balance', title)}<div class="no-print">${heading(title)}</div>${await statementCard(visit)}`
  return visit.send({ title, body, here: 'balance', ...FINANCE })
}

function figure(visit: Visit, account: Account, cents: number): Html {
  const texts = BALANCE[visit.language]
  const name =
    account === 'unmatched' && visit.can('payments:read')
      ? html`<a href="${visit.url('/unmatched')}">${texts.accounts.unmatched}</a>`
      : texts.accounts[account]
  const content = html`<h2 class="soft small">${name}</h2><strong>${money(cents)}</strong><p class="soft small">${texts.meanings[account]}</p>`
  return card(null, content, 'figure')
}

export const balanceRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/balance', needs: 'balance:read', handle: showBalance },
  ...statementRoutes,
  ...entriesRoutes,
]
