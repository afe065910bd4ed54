import { assert } from '../lib/assert.ts'

const CPF = /^[0-9]{11}$/
// Since July 2026 the Receita Federal issues CNPJs with letters. The check digits stay digits.
const CNPJ = /^[A-Z0-9]{12}[0-9]{2}$/

// Weights start with 2 at the last digit and rise to the left. Those of a CNPJ restart after 9.
const CPF_WEIGHTS = 10
const CNPJ_WEIGHTS = 8

export function isTaxIdShape(text: string): boolean {
  return CPF.test(text) || CNPJ.test(text)
}

export function kindOfTaxId(text: string): 'cpf' | 'cnpj' {
  assert(isTaxIdShape(text), 'a tax id is 11 digits or a 14-character CNPJ')
  return text.length === 11 ? 'cpf' : 'cnpj'
}

export function isValidTaxId(text: string): boolean {
  if (!isTaxIdShape(text) || isOneRepeated(text)) return false
  const weights = text.length === 11 ? CPF_WEIGHTS : CNPJ_WEIGHTS
  const first = checkDigit(text.slice(0, -2), weights)
  const second = checkDigit(text.slice(0, -1), weights)
  return text.endsWith(`${first}${second}`)
}

/** Removes the punctuation of a tax id that was typed or pasted. There are many kinds of dashes. */
export function plainTaxId(text: string): string {
  return text.replace(/[\s./\\\p{Pd}\u2212\u200b\ufeff]/gu, '').toUpperCase()
}

export function punctuateTaxId(text: string): string {
  return kindOfTaxId(text) === 'cpf'
    ? text.replace(/^(...)(...)(...)(..)$/, '$1.$2.$3-$4')
    : text.replace(/^(..)(...)(...)(....)(..)$/, '$1.$2.$3/$4-$5')
}

/** If the text is no tax id, a person may have typed anything, so none of it is shown. */
export function maskTaxId(text: string): string {
  if (CPF.test(text)) return `***.***.${text.slice(6, 9)}-${text.slice(9)}`
  if (CNPJ.test(text)) return `**.***.***/${text.slice(8, 12)}-${text.slice(12)}`
  return '***'
}

/** The digits that a masked tax id shows. */
export const shownDigits = (taxId: string): string => taxId.slice(CPF.test(taxId) ? 6 : 8)

/**
 * Banks show payers the tax id of the receiver: that of a company whole, that of a person masked.
 */
export const receiverTaxId = (taxId: string): string =>
  kindOfTaxId(taxId) === 'cnpj' ? punctuateTaxId(taxId) : maskTaxId(taxId)

// The check digits of 000… or 111… are right, but such a number is never issued.
function isOneRepeated(text: string): boolean {
  return text === text.charAt(0).repeat(text.length)
}

function checkDigit(body: string, weights: number): number {
  let sum = 0
  for (let position = 0; position < body.length; position++) {
    const value = body.charCodeAt(body.length - 1 - position) - 48
    sum += value * (2 + (position % weights))
  }
  const rest = sum % 11
  return rest < 2 ? 0 : 11 - rest
}
