import type { Tx } from '../../db/database.ts'
import { type Dispute, notDefended } from './rules.ts'
import * as store from './store.ts'

/** Records that the bank has the defense, or that it takes none this way. */
export async function defenseTaken(
  tx: Tx,
  { companyId, id, attempts }: Dispute,
  taken: 'sent' | 'not taken',
  now: Date,
): Promise<void> {
  const current = await store.find(tx, companyId, id, 'for update')
  if (current?.attempts !== attempts || current.nextAttemptAt === null) return
  const sentAt = taken === 'sent' ? now : null
  await store.update(tx, { ...current, sentAt, nextAttemptAt: null })
}

/** Records that the bank has refused the defense: the dispute is open again. */
export async function defenseNotTaken(
  tx: Tx,
  { companyId, id, attempts }: Dispute,
  reason: string,
  now: Date,
): Promise<void> {
  const current = await store.find(tx, companyId, id, 'for update')
  if (current?.attempts !== attempts || current.nextAttemptAt === null) return
  await store.update(tx, notDefended(current, reason, now))
}
