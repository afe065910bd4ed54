import Type, { type Static } from 'typebox'
import type { Balance } from '../../ledger/books.ts'
import type { StatementEntry } from '../../ledger/columns.ts'
import { ACCOUNTS, type Account, KINDS } from '../../ledger/recipes.ts'
import { toPublic } from '../../lib/ids.ts'
import { PAGE, Timestamp } from '../fields.ts'

/**
 * Accounts that most companies never need: their balance is shown only if it is not zero. The
 * answer that lists the accounts that a statement can be filtered by is frozen, so they are not
 * among them.
 */
const RARE: readonly Account[] = ['disputed', 'recipients']

export const SHOWN_ACCOUNTS = ACCOUNTS.filter((account) => !RARE.includes(account))

/** The accounts of a balance that somebody is shown. */
export const accountsOf = (balance: { [account in Account]?: number }): Account[] =>
  ACCOUNTS.filter((account) => !RARE.includes(account) || (balance[account] ?? 0) !== 0)

const Side = Type.Enum(['bank', ...ACCOUNTS])

export const BalanceView = Type.Object({
  available: Type.Integer({
    description: 'Cents that can be withdrawn; below zero if the bank returned more than there was',
  }),
  pending: Type.Integer({ description: 'Cents of paid charges that are not settled yet' }),
  held: Type.Integer({ description: 'Cents of refunds and withdrawals that are under way' }),
  unmatched: Type.Integer({ description: 'Cents that paid no charge and wait for a decision' }),
  recipients: Type.Optional(
    Type.Integer({ description: 'Cents that you owe recipients; left out if there are none' }),
  ),
  disputed: Type.Optional(
    Type.Integer({ description: 'Cents that payers dispute; left out if that is nothing' }),
  ),
})

/** A balance as it was published, with accounts that came later if they hold something. */
export const showBalance = (balance: Balance): Static<typeof BalanceView> =>
  Object.fromEntries(accountsOf(balance).map((account) => [account, balance[account]])) as Static<
    typeof BalanceView
  >

/**
 * The types that a statement can be filtered by. The answer to any other value lists them, and that
 * answer is frozen, so a newer type is not among them.
 */
const FILTERED_KINDS = KINDS.filter(
  (kind) => !/^(BANK_RETURN|FINE_PAID|INTEREST_PAID|DISPUTE_\w+|SPLIT_\w+)$/.test(kind),
)

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
  type: Type.Optional(Type.Enum(FILTERED_KINDS)),
  account: Type.Optional(Type.Enum([...SHOWN_ACCOUNTS])),
  format: Type.Optional(Type.Enum(['json', 'csv'])),
  dialect: Type.Optional(
    Type.Enum(['plain', 'br'], {
      description: 'With format=csv: for programs, or for spreadsheets in Brazil',
    }),
  ),
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

export type ShownEntry = Static<typeof EntryView>

export const showEntry = (entry: StatementEntry): ShownEntry => ({
  entry: entry.entry,
  createdAt: entry.createdAt.toISOString(),
  type: entry.kind,
  amount: entry.amount,
  debit: entry.debit,
  credit: entry.credit,
  reference: entry.ref,
  ...(entry.chargeId === null ? {} : { chargeId: toPublic('charge', entry.chargeId) }),
  balance: showBalance(entry.balance),
})
