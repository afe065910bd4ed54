import Type, { type Static } from 'typebox'
import { ACCOUNTS, type Account, KINDS } from '../../ledger/recipes.ts'
import type { StatementEntry } from '../../ledger/statement.ts'
import { type Column, csvWriter, PLAIN } from '../../lib/csv.ts'
import { toPublic } from '../../lib/ids.ts'
import { PAGE, Timestamp } from '../fields.ts'

const Side = Type.Enum(['bank', ...ACCOUNTS])

export const BalanceView = Type.Object({
  available: Type.Integer({ description: 'Cents that can be withdrawn' }),
  pending: Type.Integer({ description: 'Cents of paid charges that are not settled yet' }),
  held: Type.Integer({ description: 'Cents of refunds and withdrawals that are under way' }),
  unmatched: Type.Integer({ description: 'Cents that paid no charge and wait for a decision' }),
})

export const StatementQuery = Type.Object({
  limit: PAGE.limit,
  after: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'The entry after which the page starts, from the Link header',
    }),
  ),
  from: Type.Optional(Timestamp),
  to: Type.Optional(Timestamp),
  type: Type.Optional(Type.Enum([...KINDS])),
  account: Type.Optional(Type.Enum([...ACCOUNTS])),
  format: Type.Optional(Type.Enum(['json', 'csv'])),
})

export const EntryView = Type.Object({
  entry: Type.Integer({ description: 'Counts the entries of the company, without a gap' }),
  createdAt: Timestamp,
  type: Type.Enum([...KINDS]),
  amount: Type.Integer({ description: 'Cents' }),
  debit: Side,
  credit: Side,
  reference: Type.String({ description: 'The endToEndId of a payment, or the id of an order' }),
  chargeId: Type.Optional(Type.String()),
  balance: BalanceView,
})

type Shown = Static<typeof EntryView>

export const showEntry = (entry: StatementEntry): Shown => ({
  entry: entry.entry,
  createdAt: entry.createdAt.toISOString(),
  type: entry.kind,
  amount: entry.amount,
  debit: entry.debit,
  credit: entry.credit,
  reference: entry.ref,
  ...(entry.chargeId === null ? {} : { chargeId: toPublic('charge', entry.chargeId) }),
  balance: entry.balance,
})

/** A statement as a table. */
export const ENTRY_COLUMNS: Column<Shown>[] = [
  { name: 'entry', title: 'Lançamento', of: ({ entry }) => entry },
  { name: 'created_at', title: 'Data', of: ({ createdAt }) => new Date(createdAt) },
  { name: 'type', title: 'Tipo', of: ({ type }) => type },
  { name: 'amount_cents', title: 'Valor', of: ({ amount }) => ({ cents: amount }) },
  { name: 'debit', title: 'Débito', of: ({ debit }) => debit },
  { name: 'credit', title: 'Crédito', of: ({ credit }) => credit },
  { name: 'reference', title: 'Referência', of: ({ reference }) => reference },
  { name: 'charge_id', title: 'Cobrança', of: ({ chargeId }) => chargeId ?? null },
  balanceColumn('available', 'Saldo disponível'),
  balanceColumn('pending', 'Saldo a liberar'),
  balanceColumn('held', 'Saldo reservado'),
  balanceColumn('unmatched', 'Saldo não identificado'),
]

function balanceColumn(account: Account, title: string): Column<Shown> {
  return { name: `${account}_cents`, title, of: ({ balance }) => ({ cents: balance[account] }) }
}

const statement = csvWriter(ENTRY_COLUMNS, PLAIN)

export const statementCsv = (entries: Shown[]): string =>
  statement.heading + entries.map(statement.line).join('')
