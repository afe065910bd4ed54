import { randomBytes } from 'node:crypto'

/** A participant that the scheme does not have. */
export const ISPB = '99999990'

const ALPHANUMERIC = /[^A-Za-z0-9]/g

export const unique = (length: number): string =>
  randomBytes(length * 2)
    .toString('base64')
    .replace(ALPHANUMERIC, '')
    .slice(0, length)

const digits = (at: Date, count: number) => at.toISOString().replace(/\D/g, '').slice(0, count)

/** The scheme's id of a payment (E) or of a return (D), 32 characters. */
export const endToEndId = (letter: 'E' | 'D', at: Date): string =>
  `${letter}${ISPB}${digits(at, 12)}${unique(11)}`

/** The scheme's id of a recurrence, 29 characters. */
export const recurrenceId = (retries: boolean, at: Date): string =>
  `R${retries ? 'R' : 'N'}${ISPB}${digits(at, 8)}${unique(11)}`

export const newLocation = (kind: 'cob' | 'cobv' | 'rec'): string =>
  `pix.banco.example/qr/v2/${kind}/${randomBytes(16).toString('hex')}`

/** Integer cents as the document writes them: `12.34`. */
export function toText(cents: number): string {
  const digits = String(cents).padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}

export const toCents = (text: string): number => Number(text.replace('.', ''))
