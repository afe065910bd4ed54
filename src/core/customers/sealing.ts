import type { Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import { type Private, pickPrivate } from './rules.ts'

export type SealedPerson = { index: Buffer; sealed: Buffer }

// The blind index stands for the person: an envelope moved to another person's row or company stays
// shut.
const contextOf = (companyId: Uuid, index: Buffer) => `${companyId}:${index.toString('hex')}`

export function sealPerson(vault: Vault, companyId: Uuid, person: Private): SealedPerson {
  const index = vault.index(companyId, person.taxId)
  const sealed = vault.seal(JSON.stringify(pickPrivate(person)), contextOf(companyId, index))
  return { index, sealed }
}

/** Finds an e-mail address again whatever the case it is written in, without revealing it. */
export const indexEmail = (vault: Vault, companyId: Uuid, email: string): Buffer =>
  vault.index(companyId, `email:${email.toLowerCase()}`)

/** The index of the address in an envelope; null when it has none. */
export function emailIndexOf(vault: Vault, companyId: Uuid, person: SealedPerson): Buffer | null {
  const { email } = openPerson(vault, companyId, person)
  return email === undefined ? null : indexEmail(vault, companyId, email)
}

export function openPerson(
  vault: Vault,
  companyId: Uuid,
  { index, sealed }: SealedPerson,
): Private {
  return JSON.parse(vault.open(sealed, contextOf(companyId, index)))
}
