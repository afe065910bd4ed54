import Type from 'typebox'
import { FiguresQuery, FiguresView, listFigures } from '../../core/balance/figures.ts'
import { STATEMENT_WRITERS, withDates } from '../../core/balance/table.ts'
import {
  BalanceView,
  EntryView,
  StatementQuery,
  showBalance,
  showEntry,
} from '../../core/balance/view.ts'
import { readBalance } from '../../ledger/post.ts'
import { readStatement } from '../../ledger/statement.ts'
import { readPage } from '../lists.ts'
import { numberedPage, type Part } from '../page.ts'
import { route } from '../route.ts'
import { figuresOfToday, itself, listed } from '../samples.ts'

const get = route({
  method: 'GET',
  path: '/account-balance',
  operationId: 'getBalance',
  client: ['balance', 'get'],
  sample: itself,
  tag: 'Balance',
  summary: 'Get the balance',
  scope: 'balance:read',
  data: BalanceView,
  status: 200,
  message: 'Balance found.',
  problems: [],
  handle: async ({ app, company }) => ({
    data: showBalance(await readBalance(app.db, company.id)),
  }),
})

const statement = route({
  method: 'GET',
  path: '/account-balance/statement',
  operationId: 'getStatement',
  client: ['balance', 'statement'],
  sample: listed,
  tag: 'Balance',
  summary: 'List the entries of the ledger, newest first',
  description:
    'Each entry has the balances as they were after it. Times are from `from` on and before `to`; `account` finds the entries that changed it. `format=csv` gives the same page as a file, with `dialect=br` one for spreadsheets in Brazil.',
  scope: 'balance:read',
  query: StatementQuery,
  data: Type.Array(EntryView),
  csv: { filename: 'statement.csv', writers: STATEMENT_WRITERS },
  status: 200,
  message: 'Entries listed.',
  problems: [],
  async handle(call) {
    const { query, app, company } = call
    const filter = {
      order: 'newest first',
      kind: query.type ?? null,
      account: query.account ?? null,
      from: query.from ? new Date(query.from) : null,
      to: query.to ? new Date(query.to) : null,
    } as const
    const read = (part: Part<number>) => readStatement(app.db, company.id, { ...filter, ...part })
    const { data, next } = await readPage(numberedPage(call), read, showEntry)
    const isDated = query.dialect === 'br'
    return { data: isDated ? await withDates(app.db, company.id, data) : data, next }
  },
})

const figures = route({
  method: 'GET',
  path: '/account-balance/figures',
  operationId: 'listFigures',
  client: ['balance', 'figures'],
  sample: figuresOfToday,
  tag: 'Balance',
  summary: 'Add up what was received, returned and withdrawn, by day, week or month',
  description:
    'The figures of the dashboard, from the ledger: an entry counts when it was booked, and the balances before and after each group differ by what it says. Without a period it covers the last 31 days; there may be 366 groups.',
  scope: 'balance:read',
  query: FiguresQuery,
  data: Type.Array(FiguresView),
  status: 200,
  message: 'Figures listed.',
  problems: [],
  handle: async ({ app, company, query }) => ({ data: await listFigures(app, company, query) }),
})

export const balanceRoutes = [get, statement, figures]
