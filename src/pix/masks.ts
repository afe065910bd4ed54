import { isUuid } from '../lib/ids.ts'
import { maskTaxId } from './tax-id.ts'

// If a text is no address or number, a person may have typed anything into the wrong field. So
// these masks show none of it, and never throw.
const HIDDEN = '***'

const EMAIL = /^([^\s@])[^\s@]*@([\p{L}\p{N}.-]+)$/u
const PHONE = /^[0-9]{10,11}$/

export function maskEmail(text: string): string {
  const parts = EMAIL.exec(text)
  return parts ? `${parts[1]}***@${parts[2]}` : HIDDEN
}

export function maskPhone(text: string): string {
  if (!PHONE.test(text)) return HIDDEN
  return `(**) ${'*'.repeat(text.length - 6)}-${text.slice(-4)}`
}

/** A number as people write it. What is no number stays as it is. */
export const punctuatePhone = (text: string): string =>
  text.replace(/^(\d\d)(\d{4,5})(\d{4})$/, '($1) $2-$3')

const MASKED_BY_BANK = /^[\d*]{3}\.[\d*]{3}\.[\d*]{3}-[\d*]{2}$/

/** Masks a tax id from a bank, which has punctuation or not, or is masked by the bank already. */
export function maskBankTaxId(text: string): string {
  const isMasked = MASKED_BY_BANK.test(text) && text.split('*').length > 5
  return isMasked ? text : maskTaxId(text.replace(/[.\-/\s]/g, '').toUpperCase())
}

/** A Pix key is a random id, which is not masked, or personal data: e-mail, phone or tax id. */
export function maskPixKey(key: string): string {
  if (isUuid(key)) return key
  if (key.includes('@')) return maskEmail(key)
  return key.startsWith('+') ? maskPhone(key.replace(/^\+55/, '')) : maskTaxId(key)
}
