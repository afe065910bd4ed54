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

type PlaceRow = { id: string | null; place: number | null; places: number | null }

/**
 * Gives each database its number among the places, once. Refuses databases in another order, of
 * another installation, or fewer of them than there were: companies would not be found. Null: one
 * that does not answer, and cannot be asked.
 */
export async function requirePlaces(databases: (Tx | null)[]): Promise<void> {
  const [first, ...others] = databases as [Tx, ...(Tx | null)[]]
  const read = 'select id, place, places from installation'
  const [known] = await first.query<PlaceRow>({ text: read })
  const { place, places } = known!
  if ((place ?? 1) !== 1) {
    throw new ConfigFault([`PLACES begins with place ${place}. Name all places in their order.`])
  }
  if ((places ?? 1) > databases.length) {
    throw new ConfigFault([
      `PLACES names ${databases.length} of ${places} places: the companies of the others would be missing. Name them all, in their order.`,
    ])
  }
  if (others.length === 0) return
  const [row] = await first.query<PlaceRow>({
    text: `update installation set id = coalesce(id, gen_random_uuid()), place = 1, places = $1
           returning id`,
    values: [databases.length],
  })
  for (const [i, other] of others.entries()) {
    if (other) await requireOther(other, row!.id!, i + 2)
  }
}

async function requireOther(tx: Tx, id: string, place: number): Promise<void> {
  const [row] = await tx.query<PlaceRow & { isUsed: boolean }>({
    text: `select id, place, places, exists (select from companies) or exists (select from people)
             as "isUsed" from installation`,
  })
  if (row!.id === id && row!.place === place) return
  const name = `PLACES: database ${place}`
  if (row!.id === id) {
    throw new ConfigFault([`${name} is place ${row!.place}. Name all places in their order.`])
  }
  if (row!.id !== null) throw new ConfigFault([`${name} is a place of another installation.`])
  if (row!.isUsed) {
    throw new ConfigFault([`${name} has companies of its own. A new place must be empty.`])
  }
  await tx.query({
    text: 'update installation set id = $1, place = $2 where id is null',
    values: [id, place],
  })
}
