import { isTaxIdShape } from './tax-id.ts'

const EMAIL = /^[^\s@<>"(),:;\\[\]]{1,64}@[a-z0-9-]+(\.[a-z0-9-]+)+$/
const PHONE = /^\+55[1-9]\d[2-9]\d{7,8}$/
const RANDOM = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The scheme allows no longer key. */
export const MAX_KEY = 77

/**
 * A Pix key in the form in which banks know it: an e-mail address, a phone with +55, a CPF, a CNPJ
 * or a random key. Null if the text is none of these. A phone without +55 may be a CPF, so it is
 * none.
 */
export function plainPixKey(text: string): string | null {
  const trimmed = text.trim()
  if (trimmed.length > MAX_KEY) return null
  const small = trimmed.toLowerCase()
  if (EMAIL.test(small) || RANDOM.test(small)) return small
  if (trimmed.startsWith('+')) {
    const phone = trimmed.replaceAll(/[ ().-]/g, '')
    return PHONE.test(phone) ? phone : null
  }
  const taxId = trimmed.replaceAll(/[ ./-]/g, '').toUpperCase()
  return isTaxIdShape(taxId) ? taxId : null
}
