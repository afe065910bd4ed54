import type { Balance } from '../../ledger/books.ts'
import { ACCOUNTS, type Account, KINDS } from '../../ledger/recipes.ts'
import { addDays, isLocalDate, localDateOf, startOfDay } from '../../pix/local-time.ts'
import type { Movement, Period } from '../figures/rules.ts'

/** A month of the calendar in São Paulo: 2026-10. Months compare with < as text. */
export type Month = string

/** A month is closed so long after its end, because clocks of machines differ. */
const CLOSED_AFTER_MS = 3_600_000

/** A Pix that paid no charge, and what of it waited for a decision at the end of the month. */
export type ListedPayment = {
  endToEndId: string
  receivedAt: string
  reason: string
  amount: number
}

/** A dispute that was open at the end of the month, and what was held for it. */
export type ListedDispute = {
  id: string
  openedAt: string
  /** What the payer asks for. */
  amount: number
  held: number
}

/** How many there were, their sum, and the first of them. */
export type Listed<T> = { count: number; sum: number; first: T[] }

/** A month as its books were at its end. */
export type Closing = {
  opening: Balance
  closing: Balance
  /** What moved the balances from one to the other. */
  movements: Movement[]
  /** The last entry of the ledger before the month, and the last one in it. */
  before: number
  last: number
  unmatched: Listed<ListedPayment>
  disputes: Listed<ListedDispute>
}

export const isMonth = (text: string): boolean => isLocalDate(`${text}-01`)

export const monthOf = (at: Date): Month => localDateOf(at).slice(0, 7)

const after = (month: Month): Month => addDays(`${month}-01`, 31).slice(0, 7)

export const periodOf = (month: Month): Period => ({
  from: startOfDay(`${month}-01`),
  to: startOfDay(`${after(month)}-01`),
})

/** Whether the books of a month can no longer change. */
export const isOver = (month: Month, now: Date): boolean =>
  now.getTime() >= periodOf(month).to.getTime() + CLOSED_AFTER_MS

/** All months from the first to the last one, oldest first. */
export function monthsFrom(first: Month, last: Month): Month[] {
  const months: Month[] = []
  for (let month = first; month <= last; month = after(month)) months.push(month)
  return months
}

/** What the movements of a month have added to an account. */
export const movedOf = ({ movements }: Pick<Closing, 'movements'>, account: Account): number =>
  movements.reduce(
    (all, { debit, credit, sum }) =>
      all + (credit === account ? sum : 0) - (debit === account ? sum : 0),
    0,
  )

/** Whether the movements lead from the balances at its start to those at its end. */
export const agrees = (closing: Pick<Closing, 'movements' | 'opening' | 'closing'>): boolean =>
  ACCOUNTS.every(
    (account) => closing.opening[account] + movedOf(closing, account) === closing.closing[account],
  )

export const totalOf = (balance: Balance): number =>
  ACCOUNTS.reduce((sum, account) => sum + balance[account], 0)

/** In the order in which money goes through the ledger. */
export const sorted = (movements: Movement[]): Movement[] =>
  movements.toSorted(
    (one, other) =>
      KINDS.indexOf(one.kind) - KINDS.indexOf(other.kind) ||
      `${one.source} ${one.debit} ${one.credit}`.localeCompare(
        `${other.source} ${other.debit} ${other.credit}`,
      ),
  )
