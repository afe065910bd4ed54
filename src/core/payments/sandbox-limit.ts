import { readBalance } from '../../ledger/post.ts'
import type { Cents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import type { App } from '../app.ts'
import type { Company } from '../companies/rules.ts'

/** R$ 100 billion: ten times the largest charge, and far below what a balance can hold. */
export const MOST_IN_SANDBOX = 10_000_000_000_000

/** If a sandbox company would have more play money than that, the simulated bank refuses. */
export async function requireSandboxRoom(
  { db }: App,
  company: Company,
  amount: Cents,
): Promise<void> {
  if (company.mode !== 'sandbox') return
  const { available, pending, held, unmatched } = await readBalance(db, company.id)
  if (available + pending + held + unmatched + amount <= MOST_IN_SANDBOX) return
  throw problem('sandbox_limit_exceeded')
}
