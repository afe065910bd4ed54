import { randomInt } from 'node:crypto'
import type { LocalDate } from '../../pix/local-time.ts'

/**
 * A number that no participant of the scheme has, so that simulated payments differ from real ones.
 */
export const ISPB = '99999999'
const ALPHANUMERIC = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const unique = (): string =>
  Array.from({ length: 11 }, () => ALPHANUMERIC[randomInt(ALPHANUMERIC.length)]).join('')

/** The scheme's id of a payment (E) or of a return (D), 32 characters. */
export function schemeId(letter: 'E' | 'D', at: Date): string {
  const minute = at.toISOString().replace(/\D/g, '').slice(0, 12)
  return `${letter}${ISPB}${minute}${unique()}`
}

/** Whether the simulated bank gave a payment this id. */
export const isOwnId = (endToEndId: string): boolean => endToEndId.startsWith(`E${ISPB}`)

/** The scheme's id of an agreement, 29 characters. It contains whether retries are allowed. */
export const agreementId = (retries: boolean, on: LocalDate): string =>
  `R${retries ? 'R' : 'N'}${ISPB}${on.replaceAll('-', '')}${unique()}`
