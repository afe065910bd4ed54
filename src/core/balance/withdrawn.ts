import type { Tx } from '../../db/database.ts'
import { type MovementFilter, rangeOf } from '../../ledger/movements.ts'
import type { Withdrawal } from '../withdrawals/rules.ts'
import { findCompletedBefore } from '../withdrawals/store.ts'
import { MOVEMENTS, STATEMENT_ACCOUNT } from './lines.ts'

/** The charges that a withdrawal contains, and when the one before it was asked for. */
export type Contents = MovementFilter & { since: Date | null }

/** The first moment of all, and the moment after another one. */
const BEGINNING = new Date(0)
const after = (at: Date): Date => new Date(at.getTime() + 1)

/** Whether it takes out the company's own money, and has done so. */
export const hasContents = ({ status, recipientId }: Withdrawal): boolean =>
  status === 'COMPLETED' && recipientId === null

/**
 * The charges that a completed withdrawal contains: those whose money was released since the
 * completed withdrawal before it, until it was asked for. A balance is one sum, so nobody can say
 * whose money has left: charges are taken in the order in which they were released, as
 * `withWithdrawals` does for each of them. Their sum may differ from the withdrawal's.
 */
export async function contentsOf(tx: Tx, withdrawal: Withdrawal): Promise<Contents> {
  const { companyId, createdAt } = withdrawal
  const since = await findCompletedBefore(tx, companyId, createdAt)
  const period = { from: since ? after(since) : BEGINNING, to: after(createdAt) }
  const range = await rangeOf(tx, companyId, period)
  return { account: STATEMENT_ACCOUNT, kinds: MOVEMENTS.sales, range, since }
}
