import { bytes } from '../../db/arrays.ts'
import { tableOf } from '../../db/columns.ts'
import type { ControlTx, Row } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Person } from './rules.ts'
import { findPerson } from './store.ts'

/** A key on a person's device, with which they sign in. */
export type Passkey = {
  /** As the browser names it. */
  id: string
  personId: Uuid
  publicKey: Buffer
  /** How often it was used, as far as the device counts. */
  counter: number
  transports: string[]
  name: string
  createdAt: Date
  lastUsedAt: Date | null
}

const PASSKEY = tableOf<Passkey>({
  id: ['id', 'text'],
  personId: ['person_id', 'uuid'],
  publicKey: ['public_key', 'bytea'],
  counter: ['counter', 'int8'],
  transports: ['transports', 'texts'],
  name: ['name', 'text'],
  createdAt: ['created_at', 'timestamptz'],
  lastUsedAt: ['last_used_at', 'timestamptz'],
})

/** A person whom nobody else changes until the transaction ends. */
export async function lockPerson(tx: ControlTx, id: Uuid): Promise<Person> {
  await tx.query({ text: 'select 1 from people where id = $1 for update', values: [id] })
  return (await findPerson(tx, id))!
}

/** Sets a new secret for the app that makes codes, unless one is confirmed already. */
export async function setTotpSecret(
  tx: ControlTx,
  id: Uuid,
  sealed: Buffer,
  now: Date,
): Promise<void> {
  await tx.query({
    text: `update people set totp_secret = $2, totp_last_period = null, updated_at = $3
           where id = $1 and totp_confirmed_at is null`,
    values: [id, sealed, now],
  })
}

export async function confirmTotp(
  tx: ControlTx,
  id: Uuid,
  period: number,
  now: Date,
): Promise<void> {
  await tx.query({
    text: `update people set totp_confirmed_at = $3, totp_last_period = $2, updated_at = $3
           where id = $1`,
    values: [id, period, now],
  })
}

/** Says from when on the factors of a person count. Null: now. */
export async function setFactorCountsAt(tx: ControlTx, id: Uuid, at: Date | null): Promise<void> {
  await tx.query({
    text: 'update people set factor_counts_at = $2 where id = $1',
    values: [id, at],
  })
}

/** Writes that the code of a period was given. False if it, or a later one, was given before. */
export async function usePeriod(tx: ControlTx, id: Uuid, period: number): Promise<boolean> {
  const rows = await tx.query({
    text: `update people set totp_last_period = $2
           where id = $1 and totp_confirmed_at is not null
             and (totp_last_period is null or totp_last_period < $2) returning id`,
    values: [id, period],
  })
  return rows.length > 0
}

export async function removeTotp(tx: ControlTx, id: Uuid, now: Date): Promise<void> {
  await tx.query({
    text: `update people set totp_secret = null, totp_confirmed_at = null, totp_last_period = null,
             updated_at = $2
           where id = $1`,
    values: [id, now],
  })
}

export async function insertPasskey(tx: ControlTx, passkey: Passkey): Promise<void> {
  await tx.query({ text: PASSKEY.insertInto('passkeys'), values: PASSKEY.values([passkey]) })
}

export async function findPasskey(tx: ControlTx, id: string): Promise<Passkey | null> {
  const rows = await tx.query({
    text: `select ${PASSKEY.select('p')} from passkeys p where id = $1`,
    values: [id],
  })
  return rows[0] ? PASSKEY.read(rows[0]) : null
}

/** A person's passkeys, the oldest first. */
export async function listPasskeys(tx: ControlTx, personId: Uuid): Promise<Passkey[]> {
  const rows = await tx.query({
    text: `select ${PASSKEY.select('p')} from passkeys p where person_id = $1
           order by created_at, id`,
    values: [personId],
  })
  return rows.map((row) => PASSKEY.read(row))
}

export async function noteUse(
  tx: ControlTx,
  id: string,
  counter: number,
  now: Date,
): Promise<void> {
  await tx.query({
    text: 'update passkeys set counter = greatest(counter, $2), last_used_at = $3 where id = $1',
    values: [id, counter, now],
  })
}

/** The name of the passkey that was removed, or null if the person has none with this id. */
export async function deletePasskey(
  tx: ControlTx,
  personId: Uuid,
  id: string,
): Promise<string | null> {
  const rows = await tx.query<Row & { name: string }>({
    text: 'delete from passkeys where person_id = $1 and id = $2 returning name',
    values: [personId, id],
  })
  return rows[0]?.name ?? null
}

/** Removes all passkeys of a person. */
export async function deletePasskeys(tx: ControlTx, personId: Uuid): Promise<void> {
  await tx.query({ text: 'delete from passkeys where person_id = $1', values: [personId] })
}

/** Writes that a challenge was answered. False if it was answered before. */
export async function useChallenge(
  tx: ControlTx,
  challenge: string,
  expiresAt: Date,
): Promise<boolean> {
  const rows = await tx.query({
    text: `insert into used_challenges (challenge, expires_at) values ($1, $2)
           on conflict do nothing returning challenge`,
    values: [challenge, expiresAt],
  })
  return rows.length > 0
}

/** A challenge that has expired is refused anyway. */
export async function purgeChallenges(tx: ControlTx, now: Date): Promise<void> {
  await tx.query({
    text: 'delete from used_challenges where expires_at <= $1',
    values: [now],
  })
}

export async function replaceRecoveryCodes(
  tx: ControlTx,
  personId: Uuid,
  hashes: Buffer[],
): Promise<void> {
  await tx.query({
    text: 'delete from recovery_codes where person_id = $1',
    values: [personId],
  })
  await tx.query({
    text: `insert into recovery_codes (person_id, hash) select $1, unnest($2::bytea[])`,
    values: [personId, hashes],
  })
}

/** Writes that a code was used. False if there is no such code, or if it was used before. */
export async function useRecoveryCode(
  tx: ControlTx,
  personId: Uuid,
  hashes: Buffer[],
  now: Date,
): Promise<boolean> {
  const rows = await tx.query({
    text: `update recovery_codes set used_at = $3
           where person_id = $1 and hash = any ($2::bytea[]) and used_at is null returning person_id`,
    values: [personId, bytes(hashes), now],
  })
  return rows.length > 0
}

/** How many recovery codes were not used yet. */
export async function countRecoveryCodes(tx: ControlTx, personId: Uuid): Promise<number> {
  const rows = await tx.query<Row & { count: number }>({
    text: 'select count(*) from recovery_codes where person_id = $1 and used_at is null',
    values: [personId],
  })
  return rows[0]!.count
}

/** Writes that the person of a session has just proved who they are. */
export async function confirmSession(
  tx: ControlTx,
  sessionId: Uuid,
  hasSecondFactor: boolean,
  now: Date,
): Promise<void> {
  await tx.query({
    text: `update sessions set confirmed_at = $2, has_second_factor = has_second_factor or $3
           where id = $1`,
    values: [sessionId, now, hasSecondFactor],
  })
}

/** No session of the person has a second factor any more. */
export async function forgetSecondFactor(tx: ControlTx, personId: Uuid): Promise<void> {
  await tx.query({
    text: 'update sessions set has_second_factor = false where person_id = $1',
    values: [personId],
  })
}
