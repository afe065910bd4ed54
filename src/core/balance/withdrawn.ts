import type { Tx } from '../../db/database.ts'
import { startOfDay } from '../../pix/local-time.ts'
import type { Withdrawal } from '../withdrawals/rules.ts'
import { findCompletedBefore } from '../withdrawals/store.ts'

/** When the charges that a withdrawal contains were released. `since`: see `contentsOf`. */
export type Contents = { from: Date; to: Date; since: Date | null }

/** Before all companies, and the moment after another one. */
const BEGINNING = startOfDay('2000-01-01')
const after = (at: Date): Date => new Date(at.getTime() + 1)

/** Whether it takes out the company's own money, and has done so. */
export const hasContents = ({ status, recipientId }: Withdrawal): boolean =>
  status === 'COMPLETED' && recipientId === null

/**
 * The charges that a completed withdrawal contains: those whose money was released since the
 * completed withdrawal before it, until it was asked for. A balance is one sum, so nobody can say
 * whose money has left: charges are taken in the order in which they were released, as
 * `withWithdrawals` does for each of them. Their sum may differ from the withdrawal's. `since` is when
 * the one before was asked for.
 */
export async function contentsOf(tx: Tx, withdrawal: Withdrawal): Promise<Contents> {
  const { companyId, createdAt } = withdrawal
  const since = await findCompletedBefore(tx, companyId, createdAt)
  return { from: since ? after(since) : BEGINNING, to: after(createdAt), since }
}
