import Type from 'typebox'
import { withDates } from '../../core/balance/dates.ts'
import { statementCsv } from '../../core/balance/table.ts'
import { BalanceView, EntryView, StatementQuery, showEntry } from '../../core/balance/view.ts'
import { readBalance } from '../../ledger/post.ts'
import { readStatement } from '../../ledger/statement.ts'
import { numberedPage } from '../page.ts'
import { route } from '../route.ts'

const get = route({
  method: 'GET',
  path: '/account-balance',
  operationId: 'getBalance',
  tag: 'Balance',
  summary: 'Get the balance',
  scope: 'balance:read',
  data: BalanceView,
  status: 200,
  message: 'Balance found.',
  problems: [],
  handle: ({ app, company }) => readBalance(app.db, company.id),
})

const statement = route({
  method: 'GET',
  path: '/account-balance/statement',
  operationId: 'getStatement',
  tag: 'Balance',
  summary: 'List the entries of the ledger, newest first',
  description:
    'Each entry has the balances as they were after it. Times are from `from` on and before `to`; `account` finds the entries that changed it. `format=csv` gives the same page as a file, with `dialect=br` one for spreadsheets in Brazil.',
  scope: 'balance:read',
  query: StatementQuery,
  data: Type.Array(EntryView),
  csv: { filename: 'statement.csv', write: statementCsv },
  status: 200,
  message: 'Entries listed.',
  problems: [],
  async handle(call) {
    const { query, app, company } = call
    const { filter, cut } = numberedPage(call)
    const entries = await readStatement(app.db, company.id, {
      ...filter,
      order: 'newest first',
      kind: query.type ?? null,
      account: query.account ?? null,
      from: query.from ? new Date(query.from) : null,
      to: query.to ? new Date(query.to) : null,
    })
    const shown = cut(entries).map(showEntry)
    return query.dialect === 'br' ? withDates(app.db, company.id, shown) : shown
  },
})

export const balanceRoutes = [get, statement]
