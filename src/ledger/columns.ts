import { type ColumnGroup, tableOf } from '../db/columns.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Balance, Books, Entry } from './books.ts'
import { ACCOUNTS } from './recipes.ts'

/**
 * One column for each account. In a posting of the version before, the column of an account that
 * it did not know is null: it has not changed that account.
 */
const BALANCE: ColumnGroup<Balance> = {
  columns: ACCOUNTS.map((account) => [account, 'int8', (balance: Balance) => balance[account]]),
  read: (row) =>
    Object.fromEntries(ACCOUNTS.map((account) => [account, row[account] ?? 0])) as Balance,
}

/** The columns of `balances`. */
export const BOOKS = tableOf<Books & { companyId: Uuid }>({
  companyId: ['company_id', 'uuid'],
  entries: ['entries', 'int8'],
  balance: BALANCE,
})

/** An entry as a statement shows it. */
export type StatementEntry = Entry & { createdAt: Date }

/** The columns of `postings` beside `company_id`. */
export const ENTRY = tableOf<StatementEntry>({
  entry: ['entry', 'int8'],
  kind: ['kind', 'text'],
  ref: ['ref', 'text'],
  debit: ['debit', 'text'],
  credit: ['credit', 'text'],
  amount: ['amount', 'cents'],
  chargeId: ['charge_id', 'uuid'],
  balance: BALANCE,
  createdAt: ['created_at', 'timestamptz'],
})
