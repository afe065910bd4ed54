import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import type { BalanceView } from '../../core/balance/view.ts'
import type { Account } from '../../ledger/recipes.ts'
import { type Html, html } from '../html.ts'
import { BALANCE } from './balance-texts.ts'
import { sendCsv } from './csv.ts'
import { card, heading, money, notice } from './parts.ts'
import { statementCard, statementFile } from './statement.ts'
import type { DashboardRoute, Visit } from './visit.ts'
import { findPending, pendingNotice, startLink } from './withdrawals.ts'

/** What can be spent comes first, then what will be. */
const ORDER: Account[] = ['available', 'pending', 'held', 'unmatched']

async function showBalance(visit: Visit): Promise<FastifyReply> {
  const texts = BALANCE[visit.language]
  const [{ data: balance }, statement, pending] = await Promise.all([
    visit.operate<Static<typeof BalanceView>>('getBalance'),
    statementCard(visit),
    findPending(visit),
  ])
  const list = html`<a class="button quiet slim" href="${visit.url('/balance/withdrawals')}">${texts.withdrawals}</a>`
  const body = html`${heading(texts.title, [startLink(visit), list])}
${pending && pendingNotice(visit, pending)}
${balance.available < 0 && notice(texts.negative, 'warn')}
<div class="figures">${ORDER.map((account) => figure(visit, account, balance[account]))}</div>
${statement}`
  return visit.send({ title: texts.title, body, here: 'balance' })
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
  {
    method: 'GET',
    path: '/balance/statement.csv',
    needs: 'balance:read',
    handle: (visit) => sendCsv(visit, 'extrato.csv', statementFile(visit)),
  },
]
