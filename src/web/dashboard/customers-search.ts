import type { Static } from 'typebox'
import { searchCharges } from '../../core/charges/search.ts'
import { nameWords } from '../../core/customers/rules.ts'
import {
  findByEmailOrIds,
  findByName,
  findByParts,
  findByPhone,
  findByWords,
} from '../../core/customers/store.ts'
import { type CustomerView, showCustomer } from '../../core/customers/view.ts'
import { isTaxIdShape, plainTaxId } from '../../pix/tax-id.ts'
import { plainPhone } from '../../pix/written.ts'
import type { Visit } from './visit.ts'

export type ShownCustomer = Static<typeof CustomerView>

/** So many of an address's newest charges are looked through for customers. */
const CHARGES_READ = 100

export type FoundCustomers = {
  data: ShownCustomer[]
  next: string | null
  /** Whether more have the name than are shown. */
  isCut?: boolean
}

/**
 * A page of the customers whom a text names: by tax id, phone, e-mail address, or a part of the
 * name. An empty text names all.
 */
export async function searchCustomers(
  visit: Visit,
  text: string,
  page: { limit: number; after?: string | undefined },
): Promise<FoundCustomers> {
  const { limit, after } = page
  const query = { limit: String(limit), ...(after ? { after } : {}) }
  if (text === '') return visit.operate<ShownCustomer[]>('listCustomers', { query })
  if (text.includes('@')) return { data: await findByEmail(visit, text, limit), next: null }
  const [taxId, phone] = [plainTaxId(text), plainPhone(text)]
  if (!isTaxIdShape(taxId) && phone === null) return findByAnyName(visit, text, limit)
  // Eleven digits may be either of them.
  const withPhone = phone === null || after ? [] : await findWithPhone(visit, phone, limit)
  if (!isTaxIdShape(taxId)) return { data: withPhone, next: null }
  const filter = { ...query, taxId }
  const found = await visit.operate<ShownCustomer[]>('listCustomers', { query: filter })
  const others = withPhone.filter(({ id }) => found.data.every((one) => one.id !== id))
  return { data: [...found.data, ...others], next: found.next }
}

async function findWithPhone({ app, company }: Visit, phone: string, limit: number) {
  return (await findByPhone(app.db, app.vault, company.id, phone, limit)).map(showCustomer)
}

/**
 * First those whose name begins with the text, then those with words that begin with its words. If
 * there is nobody, those who have its words anywhere in the name.
 */
async function findByAnyName(
  { app: { db, vault }, company }: Visit,
  text: string,
  limit: number,
): Promise<FoundCustomers> {
  const first = await findByName(db, vault, company.id, text, limit + 1)
  const words = nameWords(text)
  // The first are found again, so one more than could be shown tells whether there are others.
  const others =
    first.length > limit || words.length === 0
      ? []
      : await findByWords(db, vault, company.id, words, first.length + limit + 1)
  const known = new Set(first.map(({ id }) => id))
  const rest = others.filter(({ id }) => !known.has(id)).sort(byName)
  const found = [...first, ...rest]
  if (found.length === 0 && words.length > 0) {
    found.push(...(await findByParts(db, vault, company.id, words, limit + 1)))
  }
  const data = found.slice(0, limit).map(showCustomer)
  return { data, next: null, isCut: found.length > limit }
}

const byName = (a: { name: string }, b: { name: string }): number =>
  a.name.localeCompare(b.name, 'pt-BR')

async function findByEmail(
  { app, company }: Visit,
  email: string,
  limit: number,
): Promise<ShownCustomer[]> {
  const { db, vault, clock } = app
  const where = { db, vault, companyId: company.id, now: clock.now() }
  const charges = await searchCharges(where, { email }, { limit: CHARGES_READ, after: null })
  const ids = charges.flatMap(({ customerId }) => customerId ?? [])
  const wanted = { email, ids: [...new Set(ids)], limit }
  const found = await findByEmailOrIds(db, vault, company.id, wanted)
  return found.map(showCustomer)
}
