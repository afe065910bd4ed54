import { isUuid } from '../lib/ids.ts'
import { maskTaxId } from './tax-id.ts'

// What does not look like an address or a number may be anything a person typed into the wrong
// field, so these masks show none of it and never throw.
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

const MASKED_BY_BANK = /^[\d*]{3}\.[\d*]{3}\.[\d*]{3}-[\d*]{2}$/

/** A tax id as a bank writes it: with punctuation or without, or masked in the bank's own way. */
export function maskBankTaxId(text: string): string {
  const isMasked = MASKED_BY_BANK.test(text) && text.split('*').length > 5
  return isMasked ? text : maskTaxId(text.replace(/[.\-/\s]/g, '').toUpperCase())
}

/**
 * A Pix key is a random id, which says nothing of anybody, or one of three things about a person.
 */
export function maskPixKey(key: string): string {
  if (isUuid(key)) return key
  if (key.includes('@')) return maskEmail(key)
  return key.startsWith('+') ? maskPhone(key.replace(/^\+55/, '')) : maskTaxId(key)
}
