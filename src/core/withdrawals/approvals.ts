import type { ControlTx, Tx } from '../../db/database.ts'
import { assert } from '../../lib/assert.ts'
import type { Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import type { Uses } from '../app.ts'
import { findCompany } from '../companies/store.ts'
import { isAllowed } from '../people/rules.ts'
import { findMember } from '../people/store.ts'
import { endWithdrawal, findWithdrawal, proceed } from './commands.ts'
import type { Approver, Withdrawal } from './rules.ts'
import * as rules from './rules.ts'

/**
 * A second person approves a withdrawal. If its code was right before, it is paid out now, or ends
 * because its money goes elsewhere by now. Null if they have approved it already.
 */
export async function approveWithdrawal(
  tx: Tx,
  control: ControlTx,
  app: Uses<'clock' | 'config' | 'providers'>,
  companyId: Uuid,
  id: Uuid,
  personId: Uuid,
): Promise<Withdrawal | null> {
  const approver = await requireApprover(control, companyId, personId)
  const withdrawal = await findWithdrawal(tx, companyId, id, 'for update')
  const company = await findCompany(tx, companyId)
  assert(company, 'a withdrawal has its company')
  rules.requireOtherThanChanger(withdrawal, approver, app.config.destinationWaitHours)
  const manual = app.providers.payoutsOf(company) === null
  const now = app.clock.now()
  const approved = rules.approve(withdrawal, personId, now, manual)
  return approved === 'already-approved' ? null : proceed(tx, approved, company, now)
}

/** A person refuses a withdrawal that waits for an approval. Its money is available again. */
export async function rejectWithdrawal(
  tx: Tx,
  control: ControlTx,
  app: Uses<'clock'>,
  companyId: Uuid,
  id: Uuid,
  personId: Uuid,
): Promise<Withdrawal> {
  await requireApprover(control, companyId, personId)
  const now = app.clock.now()
  const withdrawal = await findWithdrawal(tx, companyId, id, 'for update')
  const rejected = rules.reject(withdrawal, now)
  await endWithdrawal(tx, rejected, now)
  return rejected
}

/** Their role may have changed since they opened the page. */
async function requireApprover(
  control: ControlTx,
  companyId: Uuid,
  personId: Uuid,
): Promise<Approver> {
  const member = await findMember(control, companyId, personId)
  if (!member || !isAllowed(member.role, 'balance:write')) throw problem('insufficient_scope')
  return member
}
