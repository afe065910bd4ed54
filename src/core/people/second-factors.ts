import { randomBytes } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import type { ControlTx, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Hashes, Vault } from '../../lib/vault.ts'
import type { App } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { type AboutChange, composeFactorChange, type FactorChange } from '../letters/people.ts'
import { queueMails } from '../mails/store.ts'
import { LINK_MS } from './links.ts'
import { FACTOR_WAIT_MS, type Person, type Session, totpContext } from './rules.ts'
import * as store from './second-factors-store.ts'
import { deleteSessions } from './store.ts'

const RECOVERY_CODES = 10
const CODE_LENGTH = 10
/** Without the letters i, l, o and u, which people read as digits or as one another. */
const CODE_LETTERS = '0123456789abcdefghjkmnpqrstvwxyz'

function newRecoveryCode(): string {
  const code = [...randomBytes(CODE_LENGTH)]
    .map((byte) => CODE_LETTERS[byte % CODE_LETTERS.length])
    .join('')
  return `${code.slice(0, CODE_LENGTH / 2)}-${code.slice(CODE_LENGTH / 2)}`
}

const newRecoveryCodes = (): string[] => Array.from({ length: RECOVERY_CODES }, newRecoveryCode)

/** The stored form of a code. It is the same however the person types the code. */
function hashRecoveryCode(by: Hashes, personId: Uuid, code: string): Buffer {
  const typed = code.toLowerCase().replace(/[\s-]/g, '')
  const read = typed.replaceAll('o', '0').replace(/[il]/g, '1')
  return by.hashCode(read, `recovery:${personId}`)
}

const ISSUER = 'Vintém'
const TOTP_SECRET_BYTES = 20
/** Codes of the period before and of the one after count too, because clocks differ. */
const TOTP_WINDOW = 1
/** A longer label makes the QR image hard to scan. */
const MAX_TOTP_LABEL = 100

/** A new secret for the app that makes codes, sealed for this person. */
const newTotpSecret = (vault: Vault, person: Pick<Person, 'id'>): Buffer =>
  vault.seal(new Secret({ size: TOTP_SECRET_BYTES }).base32, totpContext(person))

export const openTotpSecret = (vault: Vault, person: Pick<Person, 'id'>, sealed: Buffer): string =>
  vault.open(sealed, totpContext(person))

const totpOf = (secret: string, label = ''): TOTP =>
  new TOTP({ issuer: ISSUER, label, secret: Secret.fromBase32(secret) })

/** What the app scans. */
export const totpUri = (secret: string, { email }: Pick<Person, 'email'>): string =>
  totpOf(secret, email.slice(0, MAX_TOTP_LABEL)).toString()

/** The period that a code is of, or null if it is wrong. */
function periodOfCode(secret: string, code: string, now: Date): number | null {
  const token = code.replace(/\s/g, '')
  if (!/^\d{6}$/.test(token)) return null
  const totp = totpOf(secret)
  const timestamp = now.getTime()
  const delta = totp.validate({ token, timestamp, window: TOTP_WINDOW })
  return delta === null ? null : totp.counter({ timestamp }) + delta
}

/** What somebody has besides a password. */
export type Factors = {
  hasTotp: boolean
  passkeys: store.Passkey[]
  /** Recovery codes that were not used yet. */
  recoveryCodes: number
}

export type FactorApp = Pick<App, 'db' | 'vault' | 'systemClock' | 'log'>

export async function listFactors(tx: ControlTx, person: Person): Promise<Factors> {
  const [passkeys, recoveryCodes] = [
    await store.listPasskeys(tx, person.id),
    await store.countRecoveryCodes(tx, person.id),
  ]
  return { hasTotp: person.totpConfirmedAt !== null, passkeys, recoveryCodes }
}

/** Whether the person is asked for a second factor. Recovery codes alone are none. */
export const hasFactor = ({ hasTotp, passkeys }: Factors): boolean => hasTotp || passkeys.length > 0

/** Whether somebody has proved more than their password, which may be stolen. */
export const hasProvenFactor = (
  { hasSecondFactor }: Pick<Session, 'hasSecondFactor'>,
  { factorCountsAt }: Pick<Person, 'factorCountsAt'>,
  now: Date,
): boolean => hasSecondFactor && (factorCountsAt === null || factorCountsAt <= now)

/** Whether money of a company may be moved, or its access changed. Play money needs no factor. */
export const mayMoveMoney = (
  { mode }: Pick<Company, 'mode'>,
  session: Pick<Session, 'hasSecondFactor'>,
  person: Pick<Person, 'factorCountsAt'>,
  now: Date,
): boolean => mode !== 'live' || hasProvenFactor(session, person, now)

/** Whether whoever has the session has just shown that the mailbox of the person is theirs too. */
export const cameByLink = (
  { byLink, createdAt }: Pick<Session, 'byLink' | 'createdAt'>,
  now: Date,
): boolean => byLink && now.getTime() - createdAt.getTime() < LINK_MS['sign-in']

/** Whether a code of the person's app is right. Each code works once. */
export async function useTotpCode(
  { db, vault, systemClock }: FactorApp,
  person: Person,
  code: string,
): Promise<boolean> {
  if (person.totpSecret === null || person.totpConfirmedAt === null) return false
  const secret = openTotpSecret(vault, person, person.totpSecret)
  const period = periodOfCode(secret, code, systemClock.now())
  return period !== null && db.control.transaction((tx) => store.usePeriod(tx, person.id, period))
}

/** Whether a recovery code is right. Each code works once. */
export function useRecoveryCode(
  { db, vault, systemClock }: FactorApp,
  { id }: Person,
  code: string,
): Promise<boolean> {
  const hashes = vault.forms((by) => hashRecoveryCode(by, id, code))
  return db.control.transaction((tx) => store.useRecoveryCode(tx, id, hashes, systemClock.now()))
}

/** Prepares an app that makes codes. It counts once a code of it was given. */
export async function prepareTotp(
  { db, vault, systemClock }: FactorApp,
  person: Person,
): Promise<void> {
  await store.setTotpSecret(db.control, person.id, newTotpSecret(vault, person), systemClock.now())
}

/** What was added: recovery codes too, if the person had none. They are shown only now. */
export type Added = { recoveryCodes: string[] | null }

/** Adds the app that was prepared, if the code is right. */
export async function addTotp(
  tx: ControlTx,
  app: FactorApp,
  { id }: Person,
  session: Session,
  code: string,
): Promise<Added | null> {
  const now = app.systemClock.now()
  const person = await store.lockPerson(tx, id)
  if (person.totpSecret === null || person.totpConfirmedAt !== null) return null
  const secret = openTotpSecret(app.vault, person, person.totpSecret)
  const period = periodOfCode(secret, code, now)
  if (period === null) return null
  const before = await listFactors(tx, person)
  await store.confirmTotp(tx, id, period, now)
  const { countsAt, ...added } = await completeAdding(tx, app, person, session, before)
  await mailChange(tx, app, person, 'app-added', { countsAt })
  return added
}

/** Adds a passkey. Null if the challenge was answered before, or the passkey is known. */
export async function addPasskey(
  tx: ControlTx,
  app: FactorApp,
  session: Session,
  passkey: store.Passkey,
  { challenge, expiresAt }: { challenge: string; expiresAt: Date },
): Promise<Added | null> {
  const person = await store.lockPerson(tx, passkey.personId)
  const isNew = await store.useChallenge(tx, challenge, expiresAt)
  if (!isNew || (await store.findPasskey(tx, passkey.id))) return null
  const before = await listFactors(tx, person)
  await store.insertPasskey(tx, passkey)
  const { countsAt, ...added } = await completeAdding(tx, app, person, session, before)
  await mailChange(tx, app, person, 'passkey-added', { passkey: passkey.name, countsAt })
  return added
}

/**
 * With the first factor all other sessions end, since they began without one. So a person's sessions
 * have a second factor if and only if the person has. If it was set up by whoever may know only the
 * password, it counts later.
 */
async function completeAdding(
  tx: ControlTx,
  { vault, systemClock }: FactorApp,
  { id, factorCountsAt }: Person,
  session: Session,
  before: Factors,
): Promise<Added & { countsAt: Date | null }> {
  const now = systemClock.now()
  let countsAt = factorCountsAt
  if (!hasFactor(before)) {
    await deleteSessions(tx, id, session.id)
    countsAt = cameByLink(session, now) ? null : new Date(now.getTime() + FACTOR_WAIT_MS)
    await store.setFactorCountsAt(tx, id, countsAt)
  }
  await store.confirmSession(tx, session.id, true, now)
  const recoveryCodes = before.recoveryCodes > 0 ? null : await renewCodes(tx, vault, id)
  return { recoveryCodes, countsAt: countsAt && countsAt > now ? countsAt : null }
}

async function renewCodes(tx: ControlTx, vault: App['vault'], id: Uuid): Promise<string[]> {
  const codes = newRecoveryCodes()
  const hashes = codes.map((code) => hashRecoveryCode(vault, id, code))
  await store.replaceRecoveryCodes(tx, id, hashes)
  return codes
}

/** Makes new recovery codes. The old ones no longer work. Null if there is no factor. */
export async function renewRecoveryCodes(
  tx: ControlTx,
  app: FactorApp,
  { id }: Person,
): Promise<string[] | null> {
  const person = await store.lockPerson(tx, id)
  if (!hasFactor(await listFactors(tx, person))) return null
  await mailChange(tx, app, person, 'codes-renewed')
  return renewCodes(tx, app.vault, id)
}

/** Removes the app that makes codes. False if there is none. */
export async function removeTotp(tx: ControlTx, app: FactorApp, { id }: Person): Promise<boolean> {
  const person = await store.lockPerson(tx, id)
  if (person.totpConfirmedAt === null) return false
  await store.removeTotp(tx, id, app.systemClock.now())
  const isLast = await completeRemoving(tx, id)
  await mailChange(tx, app, person, 'app-removed', { isLast })
  return true
}

/** Removes a passkey. False if it is not the person's. */
export async function removePasskey(
  tx: ControlTx,
  app: FactorApp,
  { id }: Person,
  key: string,
): Promise<boolean> {
  const person = await store.lockPerson(tx, id)
  const passkey = await store.deletePasskey(tx, id, key)
  if (passkey === null) return false
  const isLast = await completeRemoving(tx, id)
  await mailChange(tx, app, person, 'passkey-removed', { passkey, isLast })
  return true
}

/**
 * Whether that was the last factor. Without one recovery codes have no use, and no session counts
 * as having one.
 */
async function completeRemoving(tx: ControlTx, id: Uuid): Promise<boolean> {
  const left = await listFactors(tx, await store.lockPerson(tx, id))
  if (hasFactor(left)) return false
  await store.replaceRecoveryCodes(tx, id, [])
  await store.forgetSecondFactor(tx, id)
  return true
}

/** Mails the person what was changed about how they sign in. */
export async function mailChange(
  tx: Tx,
  { vault, systemClock }: FactorApp,
  person: Person,
  change: FactorChange,
  about: AboutChange = {},
): Promise<void> {
  const now = systemClock.now()
  const letter = composeFactorChange(person, change, about, now)
  const kind = 'factor-changed'
  await queueMails(tx, vault, [
    { companyId: person.id, kind, letter, expiresAt: null, createdAt: now },
  ])
}
