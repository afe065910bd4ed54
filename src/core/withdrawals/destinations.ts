import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import type { Uses } from '../app.ts'
import { findMany } from '../recipients/store.ts'
import type { Withdrawal } from './rules.ts'

// Names the withdrawal: a key that is copied to another one cannot be opened.
export const destinationContext = (companyId: Uuid, id: Uuid) => `${companyId}:withdrawal:${id}`

export const sealKey = (vault: Vault, companyId: Uuid, id: Uuid, key: string): Buffer =>
  vault.seal(key, destinationContext(companyId, id))

type Sent = Pick<Withdrawal, 'companyId' | 'id' | 'destination' | 'recipientId' | 'keySealed'>

/** The Pix key that a withdrawal goes to, which may be sealed. */
export const keyOf = (
  vault: Vault,
  { companyId, id, destination, keySealed }: Pick<Sent, Exclude<keyof Sent, 'recipientId'>>,
): string =>
  keySealed === null ? destination : vault.open(keySealed, destinationContext(companyId, id))

/** Where a withdrawal goes, for a letter. A payout names its recipient. */
export async function destinationOf(
  tx: Tx,
  { vault }: Uses<'vault'>,
  withdrawal: Sent,
): Promise<{ destination: string; recipient?: string }> {
  const { companyId, recipientId } = withdrawal
  const destination = keyOf(vault, withdrawal)
  if (recipientId === null) return { destination }
  const recipient = (await findMany(tx, companyId, [recipientId])).get(recipientId)
  return { destination, ...(recipient && { recipient: recipient.name }) }
}
