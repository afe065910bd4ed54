import { assert } from '../lib/assert.ts'
import { ACCOUNTS, type Account, BELOW_ZERO, type Posting } from './recipes.ts'

export type Balance = Record<Account, number>

/** A company's books: the number of its last entry, and what each account holds. */
export type Books = { entries: number; balance: Balance }

/** A posting with its number, and with the balance after it. */
export type Entry = Posting & { entry: number; balance: Balance }

export const EMPTY: Books = {
  entries: 0,
  balance: Object.fromEntries(ACCOUNTS.map((account) => [account, 0])) as Balance,
}

/** What a posting adds to an account. */
export function effectOn(account: Account, { debit, credit, amount }: Posting): number {
  return (credit === account ? amount : 0) - (debit === account ? amount : 0)
}

/**
 * Enters postings in their order. It is pure: the same books and postings give the same entries.
 */
export function enter(books: Books, postings: Posting[]): { entries: Entry[]; books: Books } {
  let { entries: entry, balance } = books
  const entries = postings.map((posting) => {
    assert(posting.debit !== posting.credit, 'a posting moves money between two accounts')
    assert(Number.isSafeInteger(posting.amount) && posting.amount > 0, 'a posting moves money')
    entry += 1
    balance = after(balance, posting)
    return { ...posting, entry, balance }
  })
  return { entries, books: { entries: entry, balance } }
}

function after(balance: Balance, posting: Posting): Balance {
  const next = { ...balance }
  for (const account of ACCOUNTS) {
    next[account] += effectOn(account, posting)
    const isLowered = posting.debit === account
    const mayBeNegative =
      account === 'available' && (!isLowered || BELOW_ZERO.includes(posting.kind))
    assert(next[account] >= 0 || mayBeNegative, `the ${account} account never goes below zero`)
  }
  return next
}
