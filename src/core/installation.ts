import { randomUUID } from 'node:crypto'
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

/**
 * Until when pages got addresses without a tag: a day after this was changed, because servers of
 * the version before may run on for a while. Null if none ever did.
 */
export async function findPlainPagesEnd(tx: Tx): Promise<Date | null> {
  const [row] = await tx.query<{ end: Date | null }>({
    text: 'select plain_pages_end as "end" from installation',
  })
  return row?.end ?? null
}

/** What is kept of a secret is sealed for this. */
export const hashingContext = (keyId: string): string => `hashing:${keyId}`

/** A former secret as it is stored. `gone_at` is null while something may be sealed with it. */
export type FormerSecret = { id: string; hashing: Buffer; replaced_at: Date; gone_at: Date | null }

/** Former secrets, the oldest first. */
export const findFormerSecrets = (tx: Tx): Promise<FormerSecret[]> =>
  tx.query<FormerSecret>({
    text: 'select id, hashing, replaced_at, gone_at from secret_keys order by replaced_at, id',
  })

/** What is wrong with the secrets that are known, for a database. Null: nothing. */
export async function secretFault(tx: Tx, { keyId, each }: Vault): Promise<string | null> {
  const isKnown = (id: string) => each.some((one) => one.keyId === id)
  const formers = await findFormerSecrets(tx)
  const present = await findSecretKeyId(tx)
  if (present !== null && !isKnown(present)) {
    // A server that was forgotten when the other secret was handed out.
    return formers.some(({ id }) => id === keyId) ? REPLACED : OTHER
  }
  const lost = formers.find(({ id, gone_at }) => gone_at === null && !isKnown(id))
  return lost ? missing(lost.id) : null
}

const OTHER =
  'SECRET_KEY is not the one this database was set up with. Payers’ data and API keys could not be read: put the former key back.'
const REPLACED =
  'SECRET_KEY was replaced by another secret since. Set SECRET_KEY to that one, or SECRET_KEY_NEXT as on the other servers.'

const missing = (id: string): string =>
  `Something in this database may still be sealed with the former secret ${id}, which is missing. Keep it in SECRET_KEY, with the new one in SECRET_KEY_NEXT, until "vintem secret rotate" says that it can go.`

/**
 * Refuses a database in which something is, or may be, sealed with a secret that is not known: it
 * could not be opened. A new database is set up with the present secret.
 */
export async function requireSameSecret(tx: Tx, vault: Vault): Promise<void> {
  await tx.query({
    text: 'insert into installation (secret_key_id) values ($1) on conflict do nothing',
    values: [vault.keyId],
  })
  const fault = await secretFault(tx, vault)
  if (fault) throw new ConfigFault([fault])
}

/** Learns which secret is present, and what is kept of former ones, from the control database. */
export async function learnSecrets(tx: Tx, vault: Vault): Promise<void> {
  await requireSameSecret(tx, vault)
  const formers = await findFormerSecrets(tx)
  vault.learn(
    (await findSecretKeyId(tx))!,
    formers.map(({ id, hashing, replaced_at: replacedAt }) => ({
      keyId: id,
      hashing: vault.open(hashing, hashingContext(id)),
      replacedAt,
    })),
  )
}

export type Backups = { backedUpAt: Date | null; savedSecretKeyId: string | null }

/** When the last backup was made, and of which secret the operator has shown a copy. */
export async function findBackups(tx: Tx): Promise<Backups> {
  const [row] = await tx.query<Backups>({
    text: `select backed_up_at as "backedUpAt", saved_secret_key_id as "savedSecretKeyId"
           from installation`,
  })
  return row ?? { backedUpAt: null, savedSecretKeyId: null }
}

/** The present secret, if it has replaced the one of which a copy was shown. Null: all is well. */
export async function findUnsavedSecret(tx: Tx): Promise<string | null> {
  const [{ savedSecretKeyId }, present] = await Promise.all([findBackups(tx), findSecretKeyId(tx)])
  return savedSecretKeyId === null || savedSecretKeyId === present ? null : present
}

/** What is to be said about such a secret. */
export const notSaved = (keyId: string): string =>
  `No copy of the secret key ${keyId} was shown since it is in use, so backups are refused. Show it once: vintem backup FILE … --secret-copy COPY.`

export async function noteBackup(tx: Tx, at: Date): Promise<void> {
  await tx.query({
    text: 'update installation set backed_up_at = greatest(backed_up_at, $1)',
    values: [at],
  })
}

export async function noteSavedSecret(tx: Tx, keyId: string): Promise<void> {
  await tx.query({ text: 'update installation set saved_secret_key_id = $1', values: [keyId] })
}

/** Marks the database as being restored, so that no server starts. */
export async function beginRestore(tx: Tx): Promise<void> {
  await tx.query({
    text: 'update installation set restoring_since = coalesce(restoring_since, now())',
  })
}

/** Servers may start. The database has what was there at the moment `to`, and nothing later. */
export async function endRestore(tx: Tx, to: Date): Promise<void> {
  await tx.query({
    text: `update installation set restoring_since = null, restored_to = $1, restored_at = now()`,
    values: [to],
  })
}

/** The moment that the database was restored to; null if it never was. */
export async function findRestoredTo(tx: Tx): Promise<Date | null> {
  const [row] = await tx.query<{ to: Date | null }>({
    text: 'select restored_to as "to" from installation',
  })
  return row?.to ?? null
}

/** Refuses a database of which a restore has not ended: it would send what was sent already. */
export async function requireRestored(tx: Tx): Promise<void> {
  const [row] = await tx.query<{ since: Date | null }>({
    text: 'select restoring_since as since from installation',
  })
  if (!row?.since) return
  throw new ConfigFault([
    `The database is being restored since ${row.since.toISOString()}. Wait for "vintem restore" to end. If it was interrupted, drop the database and restore again.`,
  ])
}

type FirstPlace = { id: string | null; place: number | null; places: number | null }
type OtherPlace = { id: string | null; place: number | null; isUsed: boolean }

/**
 * Gives each database its number among the places, once. Refuses databases in another order, of
 * another installation, or fewer of them than there were: companies would not be found. Null: one
 * that does not answer, and cannot be asked.
 */
export async function requirePlaces(databases: (Tx | null)[]): Promise<void> {
  const [first, ...others] = databases as [Tx, ...(Tx | null)[]]
  // The first is read last, because a server that starts at the same moment numbers it first.
  const found = await Promise.all(others.map((other) => other && readOther(other)))
  const [known] = await first.query<FirstPlace>({
    text: 'select id, place, places from installation',
  })
  requireFirst(known!, databases.length)
  if (others.length === 0) return

  // If one is refused, none is given a number, because the setting can still be corrected.
  for (const [i, other] of found.entries()) if (other) requireOther(other, known!.id, i + 2)
  const [row] = await first.query<{ id: string }>({
    text: `update installation set id = coalesce(id, $2::uuid), place = 1, places = $1
           returning id`,
    values: [databases.length, randomUUID()],
  })
  for (const [i, other] of others.entries()) {
    if (other && found[i]!.id === null) await numberPlace(other, row!.id, i + 2)
  }
}

function requireFirst({ place, places }: FirstPlace, named: number): void {
  if ((place ?? 1) !== 1) {
    throw new ConfigFault([`PLACES begins with place ${place}. Name all places in their order.`])
  }
  if ((places ?? 1) > named) {
    throw new ConfigFault([
      `PLACES names ${named} of ${places} places: the companies of the others would be missing. Name them all, in their order.`,
    ])
  }
}

async function readOther(tx: Tx): Promise<OtherPlace> {
  const [row] = await tx.query<OtherPlace>({
    text: `select id, place, exists (select from companies) or exists (select from people)
             as "isUsed" from installation`,
  })
  return row!
}

function requireOther(other: OtherPlace, id: string | null, place: number): void {
  const name = `PLACES: database ${place}`
  if (other.id === null && other.isUsed) {
    throw new ConfigFault([`${name} has companies of its own. A new place must be empty.`])
  }
  if (other.id === null) return
  if (other.id !== id) throw new ConfigFault([`${name} is a place of another installation.`])
  if (other.place === place) return
  throw new ConfigFault([`${name} is place ${other.place}. Name all places in their order.`])
}

async function numberPlace(tx: Tx, id: string, place: number): Promise<void> {
  const numbered = await tx.query({
    text: `update installation set id = $1, place = $2
           where id is null or (id = $1 and place = $2) returning place`,
    values: [id, place],
  })
  if (numbered.length === 0) {
    throw new ConfigFault([
      `PLACES: database ${place} became another place meanwhile. Start again.`,
    ])
  }
}
