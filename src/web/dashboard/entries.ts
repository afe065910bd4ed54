import type { FastifyReply } from 'fastify'
import { type DatedEntry, STATEMENT_WRITERS, withDates } from '../../core/balance/table.ts'
import { type ShownEntry, showEntry } from '../../core/balance/view.ts'
import { ACCOUNTS, type Account, KINDS, type Kind } from '../../ledger/recipes.ts'
import { readStatement, type StatementFilter } from '../../ledger/statement.ts'
import { formatReais } from '../../lib/money.ts'
import { endOfPeriod, isLocalDate, startOfPeriod } from '../../pix/local-time.ts'
import { type Html, html } from '../html.ts'
import { BALANCE } from './balance-texts.ts'
import { sendCsv } from './csv.ts'
import { findRefunded, linkOf, type Refunded } from './entry-links.ts'
import { dayFilter, filterHead, selectFilter } from './filters.ts'
import { fileLink, givenOf } from './finance-parts.ts'
import { backLink } from './form-parts.ts'
import { listCard, toList } from './list-parts.ts'
import { type Column, heading, moment, notFound, nothing, pager, table } from './parts.ts'
import { DASHBOARD } from './texts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const PAGE_SIZE = 50
/** So many entries of a file are written before other requests are served. */
const SLICE = 100

type Chosen = Pick<StatementFilter, 'kind' | 'from' | 'to'>

/** The filters of the URL. A day that is none is not used, and the form marks it. */
function chosenOf({ query }: Visit): Chosen {
  const { type, from, to } = query
  return {
    kind: KINDS.includes(type as Kind) ? (type as Kind) : null,
    from: from && isLocalDate(from) ? startOfPeriod(from) : null,
    to: to && isLocalDate(to) ? endOfPeriod(to) : null,
  }
}

const read = (
  { app, company }: Visit,
  chosen: Chosen,
  limit: number,
  after: number | null,
): ReturnType<typeof readStatement> =>
  readStatement(app.db, company.id, {
    ...chosen,
    order: 'newest first',
    account: null,
    limit,
    after,
  })

/** All postings of the ledger, two-sided, with the balances that were stored with each of them. */
async function show(visit: Visit): Promise<FastifyReply> {
  const { language, query } = visit
  const texts = BALANCE[language]
  const chosen = chosenOf(visit)
  const after = /^\d{1,15}$/.test(query.after ?? '') ? Number(query.after) : null
  // One more than the page holds shows whether there is a next page.
  const found = await read(visit, chosen, PAGE_SIZE + 1, after)
  const entries = found.slice(0, PAGE_SIZE)
  const next = found.length > PAGE_SIZE ? String(entries.at(-1)!.entry) : null
  const isFiltered = Object.values(chosen).some((value) => value !== null)
  const given = givenOf(visit, ['type', 'from', 'to'])
  const file = fileLink(visit, '/balance/statement.csv', given, texts.csv)
  const shown = entries.map(showEntry)
  const refunded = await findRefunded(visit, shown)
  const list = table(
    texts.entries,
    columnsOf(visit, refunded),
    shown,
    isFiltered ? notFound(texts.emptyFiltered) : nothing(language, texts.empty),
  )
  const body = html`${toList(visit)}${backLink(visit, '/balance', DASHBOARD[visit.language].sections.balance)}
${heading(texts.entries, file)}
<p class="soft">${texts.entriesHint}</p>
${filters(visit)}
${listCard(html`${list}${pager(visit, next)}`)}`
  return visit.send({ title: texts.entries, body, here: 'balance' })
}

function filters(visit: Visit): Html {
  const texts = BALANCE[visit.language]
  const kinds = KINDS.map((kind) => ({ value: kind, label: texts.kinds[kind] }))
  return filterHead(visit, [
    selectFilter(visit, 'type', texts.type, texts.allTypes, kinds),
    dayFilter(visit, 'from', texts.from),
    dayFilter(visit, 'to', texts.to),
  ])
}

function columnsOf(visit: Visit, refunded: Refunded): Column<ShownEntry>[] {
  const texts = BALANCE[visit.language]
  const { columns, kinds, number } = texts
  return [
    {
      title: columns.entry,
      kind: 'main',
      of: (entry) =>
        html`${kinds[entry.type]}<span class="soft small below">${number(entry.entry)}${aboutOf(visit, entry, refunded)}</span>`,
    },
    { title: columns.at, of: ({ createdAt }) => moment(createdAt) },
    { title: columns.amount, kind: 'number', of: signedAmount },
    { title: columns.after, kind: 'number', of: (entry) => balanceAfter(entry, texts.accounts) },
  ]
}

/** The link to what an entry is about. */
function aboutOf(visit: Visit, entry: ShownEntry, refunded: Refunded): Html | null {
  const texts = BALANCE[visit.language]
  const path = linkOf(visit, entry, refunded)
  if (path === null) return null
  const words = path.startsWith('/charges')
    ? texts.charge
    : path.startsWith('/unmatched')
      ? texts.payment
      : texts.withdrawal
  return html` · <a href="${visit.url(path)}">${words}</a>`
}

/** Money from outside has a plus, money that leaves a minus, and money that stays has neither. */
function signedAmount({ debit, credit, amount }: ShownEntry): Html {
  const sign = debit === 'bank' ? '+ ' : credit === 'bank' ? '− ' : ''
  return html`<span class="money${debit === 'bank' && ' in'}">${sign}${formatReais(amount)}</span>`
}

/** The balances that the entry has changed, as they were stored with it. */
function balanceAfter({ debit, credit, balance }: ShownEntry, names: Record<Account, string>) {
  const changed = ACCOUNTS.filter((account) => account === debit || account === credit)
  return html`<span class="amounts">${changed.map(
    (account) =>
      html`<span><span class="soft small">${names[account]}</span> <span class="money">${formatReais(balance[account] ?? 0)}</span></span>`,
  )}</span>`
}

/** All entries that match, as a file for spreadsheets in Brazil. */
async function* statementFile(visit: Visit): AsyncGenerator<string> {
  const { heading, line } = STATEMENT_WRITERS.br
  const chosen = chosenOf(visit)
  yield heading
  for (let after: number | null = null; ; ) {
    const entries = await read(visit, chosen, SLICE, after)
    const shown: DatedEntry[] = await withDates(
      visit.app.db,
      visit.company.id,
      entries.map(showEntry),
    )
    yield shown.map(line).join('')
    if (entries.length < SLICE) return
    after = entries.at(-1)!.entry
  }
}

export const entriesRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/balance/entries', needs: 'balance:read', handle: show },
  {
    method: 'GET',
    path: '/balance/statement.csv',
    needs: 'balance:read',
    handle: (visit) => sendCsv(visit, 'extrato.csv', statementFile(visit)),
  },
]
