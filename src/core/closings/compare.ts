import type { Tx } from '../../db/database.ts'
import { ACCOUNTS, type Account } from '../../ledger/recipes.ts'
import { balancesAt } from '../../ledger/statement.ts'
import type { Uuid } from '../../lib/ids.ts'
import { agrees } from './rules.ts'
import { findClosed } from './store.ts'

/** Closings that differ from the postings: their balances, or what moved one to the other. */
export async function compareClosings(tx: Tx, companyId: Uuid): Promise<string[]> {
  const closed = await findClosed(tx, companyId)
  const entries = closed.flatMap(({ record: { before, last } }) => [before, last])
  if (entries.length === 0) return []
  const balances = await balancesAt(tx, companyId, entries)
  const isRight = ({ record }: (typeof closed)[number]) => {
    const [was, is] = [balances.get(record.before)!, balances.get(record.last)!]
    const { opening, closing } = record
    const isSame = (account: Account) =>
      opening[account] === was[account] && closing[account] === is[account]
    return ACCOUNTS.every(isSame) && agrees(record)
  }
  return closed
    .filter((one) => !isRight(one))
    .map(({ month }) => `the closing of ${month} differs from its postings`)
}
