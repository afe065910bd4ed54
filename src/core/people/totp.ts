import { Secret, TOTP } from 'otpauth'
import type { Vault } from '../../lib/vault.ts'
import type { Person } from './rules.ts'

const ISSUER = 'Vintém'
const SECRET_BYTES = 20
/** Codes of the period before and of the one after count too, because clocks differ. */
const WINDOW = 1
/** A longer label makes the QR image hard to scan. */
const MAX_LABEL = 100

const contextOf = ({ id }: Pick<Person, 'id'>): string => `totp:${id}`

/** A new secret for the app that makes codes, sealed for this person. */
export const newTotpSecret = (vault: Vault, person: Pick<Person, 'id'>): Buffer =>
  vault.seal(new Secret({ size: SECRET_BYTES }).base32, contextOf(person))

export const openTotpSecret = (vault: Vault, person: Pick<Person, 'id'>, sealed: Buffer): string =>
  vault.open(sealed, contextOf(person))

const totpOf = (secret: string, label = ''): TOTP =>
  new TOTP({ issuer: ISSUER, label, secret: Secret.fromBase32(secret) })

/** What the app scans. */
export const totpUri = (secret: string, { email }: Pick<Person, 'email'>): string =>
  totpOf(secret, email.slice(0, MAX_LABEL)).toString()

/** The period that a code is of, or null if it is wrong. */
export function periodOfCode(secret: string, code: string, now: Date): number | null {
  const token = code.replace(/\s/g, '')
  if (!/^\d{6}$/.test(token)) return null
  const totp = totpOf(secret)
  const timestamp = now.getTime()
  const delta = totp.validate({ token, timestamp, window: WINDOW })
  return delta === null ? null : totp.counter({ timestamp }) + delta
}
