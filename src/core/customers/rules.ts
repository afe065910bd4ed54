import type { Uuid } from '../../lib/ids.ts'
import { isTaxIdShape, plainTaxId } from '../../pix/tax-id.ts'
import { type Company, checksTaxIds, taxIdFault } from '../companies/rules.ts'

type CustomerStatus = 'ACTIVE' | 'INACTIVE'

/** What identifies a person. It is sealed in the database and masked in charges. */
export type Private = {
  taxId: string
  email?: string
  phone?: string
  postalCode?: string
  address?: string
  district?: string
  number?: string
  line1?: string
}

export type Person = Private & { name: string }

/** What stands in place of a name, or of another text that cannot be empty, that was erased. */
export const ERASED = 'Apagado (LGPD)'

/** The words of a text as they are searched for: in small letters and without accents. */
export const foldedWords = (text: string): string[] =>
  withoutAccents(text)
    .toLowerCase()
    .match(/[a-z0-9]+/g) ?? []

const withoutAccents = (text: string): string =>
  /^[\x20-\x7e]*$/.test(text) ? text : text.normalize('NFD').replace(/\p{M}/gu, '')

/** The words of a name by which somebody is found. */
export const nameWords = (name: string): string[] => foldedWords(name).slice(0, 10)

export type Customer = Person & {
  companyId: Uuid
  id: Uuid
  status: CustomerStatus
  createdAt: Date
  updatedAt: Date
}

const PRIVATE_FIELDS = [
  'taxId',
  'email',
  'phone',
  'postalCode',
  'address',
  'district',
  'number',
  'line1',
] as const

/** Only the known fields: what else a client sends is never stored. */
export function pickPrivate(fields: Private): Private {
  const picked: Private = { taxId: fields.taxId }
  for (const name of PRIVATE_FIELDS) {
    const value = fields[name]
    if (value !== undefined && value !== null) picked[name] = value
  }
  return picked
}

/** What is wrong with the check digits of a tax id. The schema has checked its form. */
export function checkDigitsFault(company: Company, taxId: unknown, path: string): string | null {
  if (typeof taxId !== 'string' || !isTaxIdShape(taxId)) return null
  const fault = taxIdFault(checksTaxIds(company), taxId)
  return fault && `${path}: ${fault}`
}

/**
 * Who has paid, as a bank names them, if that is enough for a customer: a name and a whole tax id.
 * Some banks mask it, which is never that of a customer.
 */
export function payerNamed(
  company: Pick<Company, 'mode' | 'strictTaxIds'>,
  payer: { name?: string; taxId?: string } | null | undefined,
): Person | null {
  // No text of PostgreSQL may have a NUL. Of a bank's text only that is taken out.
  const name = payer?.name?.replaceAll('\0', '').trim() ?? ''
  const taxId = plainTaxId(payer?.taxId ?? '')
  const isKnown = name !== '' && name.length <= 255
  return isKnown && taxIdFault(checksTaxIds(company), taxId) === null ? { name, taxId } : null
}

/** Changes only the fields that were sent. Null removes an optional one. */
export function change(
  customer: Customer,
  fields: { [Field in keyof Person]?: Person[Field] | null } & { status?: CustomerStatus },
  now: Date,
): Customer {
  const changed: Record<string, unknown> = { ...customer, updatedAt: now }
  for (const name of [...PRIVATE_FIELDS, 'name', 'status'] as const) {
    if (fields[name] === null) delete changed[name]
    else if (fields[name] !== undefined) changed[name] = fields[name]
  }
  return changed as Customer
}
