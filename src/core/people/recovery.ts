import { randomBytes } from 'node:crypto'
import type { Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'

const RECOVERY_CODES = 10
const LENGTH = 10
/** Without the letters i, l, o and u, which people read as digits or as one another. */
const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz'

function newRecoveryCode(): string {
  const code = [...randomBytes(LENGTH)].map((byte) => LETTERS[byte % LETTERS.length]).join('')
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`
}

export const newRecoveryCodes = (): string[] =>
  Array.from({ length: RECOVERY_CODES }, newRecoveryCode)

/** The stored form of a code. It is the same however the person types the code. */
export function hashRecoveryCode(vault: Vault, personId: Uuid, code: string): Buffer {
  const typed = code.toLowerCase().replace(/[\s-]/g, '')
  const read = typed.replaceAll('o', '0').replace(/[il]/g, '1')
  return vault.hashCode(read, `recovery:${personId}`)
}
