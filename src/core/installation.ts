import { ConfigFault } from '../config.ts'
import type { Tx } from '../db/database.ts'
import type { Vault } from '../lib/vault.ts'

/** Which secret the database was set up with; null when it has not been set up yet. */
export async function findSecretKeyId(tx: Tx): Promise<string | null> {
  const [row] = await tx.query<{ secret_key_id: string }>({
    text: 'select secret_key_id from installation',
  })
  return row?.secret_key_id ?? null
}

/** More than can have been written after the last note and before the database was dumped. */
const POSITION_GAP = 1_000_000_000

/**
 * Lets positions in the feed go on growing in a database that was restored into a new cluster,
 * where the numbers of transactions began again.
 */
export async function keepPositions(tx: Tx): Promise<void> {
  await tx.query({
    text: `update installation set position_offset = last_position + $1
           where pg_current_xact_id()::text::bigint + position_offset < last_position`,
    values: [POSITION_GAP],
  })
}

/** Notes how far positions have come. */
export async function notePosition(tx: Tx): Promise<void> {
  await tx.query({
    text: 'update installation set last_position = greatest(last_position, event_position())',
  })
}

/** Refuses a database that was set up with another secret: what it sealed could not be opened. */
export async function requireSameSecret(tx: Tx, vault: Vault): Promise<void> {
  await tx.query({
    text: 'insert into installation (secret_key_id) values ($1) on conflict do nothing',
    values: [vault.keyId],
  })
  if ((await findSecretKeyId(tx)) === vault.keyId) return
  throw new ConfigFault([
    'SECRET_KEY is not the one this database was set up with. Payers’ data and API keys could not be read: put the former key back.',
  ])
}
