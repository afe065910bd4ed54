import type { ControlTx, Tx } from '../../db/database.ts'
import { suffixOf, toPublic } from '../../lib/ids.ts'
import type { Uses } from '../app.ts'
import { toRealTime } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { composeApproval } from '../letters/members.ts'
import { queueMails } from '../mails/store.ts'
import { listAllowed } from '../people/role-store.ts'
import { isHeldFor, type Withdrawal } from './rules.ts'

/** So many people at most are asked for an approval. */
const MAX_ASKED = 20

/** Asks everybody who can approve a withdrawal, except who has started it. */
export async function mailApprovers(
  tx: Tx,
  control: ControlTx,
  app: Uses<'clock' | 'config' | 'publicUrl' | 'systemClock' | 'vault'>,
  company: Company,
  withdrawal: Withdrawal,
): Promise<void> {
  const allowed = await listAllowed(control, company.id, 'balance:write', MAX_ASKED)
  const hours = app.config.destinationWaitHours
  const requester = allowed.find(({ id }) => id === withdrawal.requestedBy)
  const asked = allowed.filter(
    (person) => person !== requester && !isHeldFor(withdrawal, person, hours),
  )
  const times = {
    expiresAt: toRealTime(app, withdrawal.otpExpiresAt),
    createdAt: app.systemClock.now(),
  }
  const { id, value, destination, requestedBy, otpExpiresAt, heldUntil } = withdrawal
  const about = {
    value,
    destination,
    requestedBy: requestedBy === null ? null : requester?.name,
    until: otpExpiresAt,
    isHeld: heldUntil !== null,
    url: `${app.publicUrl}/dashboard/${suffixOf(company.id)}/balance/withdrawals/${toPublic('wd', id)}`,
  }
  const mails = asked.map((person) => ({
    companyId: company.id,
    kind: 'withdrawal-approval' as const,
    letter: composeApproval(company, person, about),
    ...times,
  }))
  await queueMails(tx, app.vault, mails)
}
