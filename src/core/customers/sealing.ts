import type { Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import { type Private, pickPrivate } from './rules.ts'

/** One that was just sealed has the index of its phone too, which is empty without a phone. */
export type SealedPerson = { index: Buffer; sealed: Buffer; phoneIndex?: Buffer }

// Names the person by the blind index: a sealed person that is copied to the row of another person
// or company cannot be opened.
const contextOf = (companyId: Uuid, index: Buffer) => `${companyId}:${index.toString('hex')}`

export function sealPerson(vault: Vault, companyId: Uuid, person: Private): SealedPerson {
  const index = vault.index(companyId, person.taxId)
  const sealed = vault.seal(JSON.stringify(pickPrivate(person)), contextOf(companyId, index))
  return { index, sealed, phoneIndex: indexPhone(vault, companyId, person.phone) }
}

const NO_PHONE = Buffer.alloc(0)

/** Lets a phone be found without storing it. */
export const indexPhone = (vault: Vault, companyId: Uuid, phone: string | undefined): Buffer =>
  phone === undefined ? NO_PHONE : vault.index(companyId, `phone:${phone}`)

/** Lets an e-mail address be found without storing it. Upper and lower case are the same. */
export const indexEmail = (vault: Vault, companyId: Uuid, email: string): Buffer =>
  vault.index(companyId, `email:${email.toLowerCase()}`)

/** The index of a sealed person's e-mail address. Null if there is none. */
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
