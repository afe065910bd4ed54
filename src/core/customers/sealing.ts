import type { Uuid } from '../../lib/ids.ts'
import { createMemo, type Memo } from '../../lib/memo.ts'
import type { Hashes, Keys, Vault } from '../../lib/vault.ts'
import { partsOf } from './parts.ts'
import { type Person, type Private, pickPrivate } from './rules.ts'

/**
 * One that was just sealed has the index of its phone too, which is empty without a phone, and the
 * tokens of the parts by which people are found, as PostgreSQL reads an array.
 */
export type SealedPerson = {
  index: Buffer
  sealed: Buffer
  phoneIndex?: Buffer
  tokens?: string
  /** While a secret is replaced: by which the person may be known already. */
  otherIndexes?: Buffer[]
}

// Names the person by the blind index: a sealed person that is copied to the row of another person
// or company cannot be opened.
export const personContext = (companyId: Uuid, index: Buffer) =>
  `${companyId}:${index.toString('hex')}`

export const sealPerson = (vault: Vault, companyId: Uuid, person: Person): SealedPerson =>
  sealText(vault, companyId, person, JSON.stringify(pickPrivate(person)))

function sealText(vault: Vault, companyId: Uuid, person: Person, text: string): SealedPerson {
  const index = vault.index(companyId, person.taxId)
  const sealed = vault.seal(text, personContext(companyId, index))
  const phoneIndex = indexPhone(vault, companyId, person.phone)
  const tokens = tokensOf(vault, companyId, partsOf(person))
  const [, ...others] = vault.each
  if (others.length === 0) return { index, sealed, phoneIndex, tokens }
  const otherIndexes = others.map((keys) => keys.index(companyId, person.taxId))
  return { index, sealed, phoneIndex, tokens, otherIndexes }
}

/** Lets people be found by parts of what is known of them, without storing these. */
export const tokensOf = (keys: Keys, companyId: Uuid, parts: string[]): string =>
  `{${keys.tokens(companyId, parts)}}`

/** A person with all indexes. Without an e-mail address its index is null. */
type SealedPayer = { person: SealedPerson; emailIndex: Buffer | null }

const MAX_LATELY = 4096
/** By the present secret: what another one has sealed is not used again. */
const lately = new WeakMap<Keys, Memo<SealedPayer>>()

/**
 * Seals the payer of a charge. If the same company has lately named the same payer with the same
 * data, what was sealed then is used again, because it takes as long as all else that is done with
 * a payer. That two charges have one payer, and one address, is shown by the indexes anyway.
 */
export function sealPayer(vault: Vault, companyId: Uuid, person: Person): SealedPayer {
  const text = JSON.stringify(pickPrivate(person))
  const [present] = vault.each
  const memo = lately.get(present!) ?? createMemo<SealedPayer>(MAX_LATELY)
  lately.set(present!, memo)
  return memo.of(companyId + text + person.name, () => ({
    person: sealText(vault, companyId, person, text),
    emailIndex: person.email === undefined ? null : indexEmail(vault, companyId, person.email),
  }))
}

const NO_PHONE = Buffer.alloc(0)

/** Lets a phone be found without storing it. */
export const indexPhone = (keys: Hashes, companyId: Uuid, phone: string | undefined): Buffer =>
  phone === undefined ? NO_PHONE : keys.index(companyId, `phone:${phone}`)

/** Lets an e-mail address be found without storing it. Upper and lower case are the same. */
export const indexEmail = (keys: Hashes, companyId: Uuid, email: string): Buffer =>
  keys.index(companyId, `email:${email.toLowerCase()}`)

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
  return JSON.parse(vault.open(sealed, personContext(companyId, index)))
}
