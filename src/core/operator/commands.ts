import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { recordActivity } from '../activity/record.ts'
import type { Author } from '../activity/rules.ts'
import { stopMoving } from '../clocks/store.ts'
import { announceChange } from '../companies/announce.ts'
import { updateSuspension } from '../companies/store.ts'
import { endSandboxesOf } from '../sandbox-companies.ts'

/**
 * Suspends a company, or resumes it. Returns false if it is so already. Decision 17 says what that
 * means for its keys, its payers and its money. A test clock that is advancing stops, because it
 * would wait for work that waits for the company. Sandboxes that its keys have made end.
 */
export async function changeSuspension(
  tx: Tx,
  companyId: Uuid,
  isSuspended: boolean,
  author: Author,
  now: Date,
): Promise<boolean> {
  if (!(await updateSuspension(tx, companyId, isSuspended ? now : null))) return false
  if (isSuspended) {
    await stopMoving(tx, companyId)
    await endSandboxesOf(tx, companyId, now)
  }
  await announceChange(tx, companyId)
  const record = { type: 'company', id: companyId } as const
  await recordActivity(tx, companyId, author, {
    action: isSuspended ? 'company.suspend' : 'company.resume',
    record,
  })
  return true
}
